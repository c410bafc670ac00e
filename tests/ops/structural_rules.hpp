// The `whole` rules of structural ops that several tests have the interpreter know.
#pragma once

#include "../interpreter/evaluator.hpp"

#include <tx/ops/argmax.hpp>
#include <tx/ops/conv2d.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/pool2d.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/scatter_add.hpp>
#include <tx/ops/top_k.hpp>
#include <tx/ops/update_at.hpp>

inline knows_whole<&tx::cumsum_info> const cumsum_rule;
inline knows_whole<&tx::products_of_others_info> const others_rule;
inline knows_whole<&tx::gather_info> const gather_rule;
inline knows_whole<&tx::scatter_along_info> const scatter_rule;
inline knows_whole<&tx::slice_at_info> const slice_at_rule;
inline knows_whole<&tx::update_at_info> const update_at_rule;
inline knows_whole<&tx::argmax_info> const argmax_rule;
inline knows_whole<&tx::argmin_info> const argmin_rule;
inline knows_whole<&tx::top_k_info> const top_k_rule;
inline knows_whole<&tx::patches_info> const patches_rule;
inline knows_whole<&tx::folded_info> const folded_rule;
inline knows_whole<&tx::pool_places_info> const places_rule;
