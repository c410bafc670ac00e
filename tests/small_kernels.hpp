// A made-up target: kernels of a few ops, products without epilogues, no bands, more scratch than any kernel asks for.
#pragma once

#include <tx/plan/target.hpp>

inline constexpr tx::target small_kernels{
    .name = "small kernels",
    .band_bytes = 0,
    .kernel = {.nodes = 4, .values = 12, .epilogues = false},
    .whole_columns = 16,
    .row_scratch = [](tx::exec::row_buffers const& kept, tx::exec::call const& c) { return (kept.stashes + kept.column_sums + 1) * c.cols * kept.element + 64; },
    .product_scratch = [](tx::exec::row_buffers const&, tx::exec::call const& c, tx::exec::operand_ref const&, tx::exec::operand_ref const&) { return c.cols * 8; },
};
