// shard_add(a, b): what two shards of a batch hand out, added. An addition that no pass merges with its neighbours: a
// rank's own shards are added by the same instructions as those of different ranks.
#pragma once

#include <tx/ops/partitioned.hpp>

namespace tx {

namespace detail {
constexpr value_info shard_add_infer(value_info const* in, int, attributes const&) {
  if (!(in[0] == in[1])) throw invalid("shard_add: two values of one type and shape are added. FIX: cast and reshape them");
  if (!is_float(in[0].type))
    throw invalid("shards: a result of the loss, or what a state of the model becomes, is averaged over the shards, and this one is no floating-point number. FIX: cast<float>(x) for a result, a tx::state<tensor<float, ...>>");
  return in[0];
}
}  // namespace detail

inline constexpr op_info shard_add_info{
    .name = "shard_add", .kind = op_kind::whole, .arity = 2, .infer = detail::shard_add_infer, .differentiable = false};

namespace rules {
struct shard_add {
  template <class T>
  static TX_HD void run(int share, int shares, attributes const&, whole_operand<T> out, whole_operand<T const> a,
                        whole_operand<T const> b) {
    std::int64_t const count = out.dims.count();
    for (std::int64_t i = count * share / shares; i < count * (share + 1) / shares; ++i)
      out.data[i] = a.data[i] + b.data[i];
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&shard_add_info> {
  using type = rules::shard_add;
};

constexpr var shard_add(var a, var b) { return emit(shard_add_info, {a, b}); }

}  // namespace tx
