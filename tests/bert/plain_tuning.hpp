// What of a model a program trains, as tx_add_bert writes it where nothing is said of that: what the models of tests begin with.
#pragma once

#include <tx/expr/by_name.hpp>

namespace bert::model {

struct plain_tuning {
  static constexpr int rank = 0;
  static constexpr double alpha = 1;
  static constexpr double dropout = 0;
  using adapted = tx::names<>;
  using trained = tx::names<>;
  using frozen = tx::names<>;
  static constexpr bool bf16 = false, bf16_on_devices = false;
  using optimizer = void;
  static constexpr char const* optimizer_name = "";
  static constexpr int accumulate = 1;
  static constexpr int ranks = 0, zero = 0, tensor = 1;
  static constexpr double average = 0;
  static constexpr bool layer_decay = false;
  static constexpr tx::fixed_string below = "bert.embeddings*";
};

}  // namespace bert::model
