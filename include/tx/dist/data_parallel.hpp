// data_parallel<Ranks>, virtual_shards<N>: options of a step that divide the batch. The loss is recorded for one shard, and so are its arguments' types;
// gradients, loss and other results are averaged over all shards.
//
//   train_step<model, loss, adamw, data_parallel<4>>                      4 ranks, each with its shard
//   train_step<model, loss, adamw, data_parallel<2>, virtual_shards<2>>   2 ranks with 2 shards each
//   train_step<model, loss, adamw, virtual_shards<4>>                     1 rank with all 4: 4 times as long arguments
//   train_step<model, loss, adamw, data_parallel<>>                       as many ranks as there are when it runs
//
//   train_step<model, loss, adamw, data_parallel<>, sends_gradients_as<bf16>>   half the bytes between ranks
//
// The first three, and data_parallel<> on 4 ranks, compute the same bits: every shard goes through the same kernels, dropout counts rows over all shards,
// and sums follow tree_sum.hpp. A rank's shards are neighbours: rank r of R has shards r V to r V + V - 1.
#pragma once

#include <tx/dist/all_reduce.hpp>
#include <tx/dist/reduce_scatter.hpp>
#include <tx/dist/shard.hpp>
#include <tx/dist/shard_add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/mul.hpp>
#include <tx/step/options.hpp>

namespace tx {

template <int Ranks = any_ranks>
struct data_parallel {
  static_assert(Ranks >= 0, "tx::data_parallel: at least one rank. FIX: data_parallel<N> with N of at least 1, or data_parallel<> for as many as there are");
};
template <int Shards>
struct virtual_shards {
  static_assert(Shards >= 1 && Shards <= 8, "tx::virtual_shards: 1 to 8 shards a rank. FIX: virtual_shards<N> with such an N, and more ranks");
};

// Gradients are rounded to Half before ranks exchange them, and their sums, of f32, once more: half the bytes, and no more the bits of one rank.
template <class Half>
struct sends_gradients_as {
  static_assert(is_half(dtype_v<Half>), "tx::sends_gradients_as takes a half. FIX: sends_gradients_as<bf16>, or no such option for f32");
};

namespace dist::detail {
constexpr void divide(batch_division& division, int ranks, int shards) {
  if (ranks != 1 && (shards & (shards - 1)) != 0)
    throw invalid("virtual_shards on several ranks must be 1, 2, 4 or 8, so that their sums are a part of the tree over all. FIX: virtual_shards<1>, <2>, <4> or <8>");
  division.ranks = ranks;
  division.shards = shards;
  division.given = true;
}
}  // namespace dist::detail

template <int Ranks>
struct step_option<data_parallel<Ranks>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(data_parallel<Ranks>) > 0);  // its own assertion, as in train/options.hpp
    dist::detail::divide(o.division, Ranks, o.division.shards);
  }
};
template <int Shards>
struct step_option<virtual_shards<Shards>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(virtual_shards<Shards>) > 0);
    dist::detail::divide(o.division, o.division.ranks, Shards);
  }
};

template <class Half>
struct step_option<sends_gradients_as<Half>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(sends_gradients_as<Half>) > 0);
    o.division.sent_as = dtype_v<Half>;
  }
};

namespace dist {

namespace detail {

template <int Shards, class T>
struct joined {
  static_assert(Shards == 1,
                "tx: a batch in shards or parts: an argument of the loss has no leading axis to cut. FIX: tensor<T, 1>");
  using type = T;
};
template <int Shards, class T, auto First, auto... Rest>
struct joined<Shards, tensor<T, First, Rest...>> {
  static_assert(std::is_integral_v<decltype(First)>,
                "tx: a batch in shards or parts: a bounded extent cannot be cut. FIX: a fixed one");
  using type = tensor<T, First * Shards, Rest...>;
};
template <class T, auto First, auto... Rest>
struct joined<1, tensor<T, First, Rest...>> {
  using type = tensor<T, First, Rest...>;
};

template <int Shards, class Tuple>
struct joined_arguments;
template <int Shards, class... A>
struct joined_arguments<Shards, std::tuple<A...>> {
  using type = std::tuple<typename joined<Shards, A>::type...>;
};

// The mean of what is a sum over the shards of all ranks. A number of them that is known while compiling is one of the program's
// constants; else its reciprocal is computed in each run, to the same bits.
constexpr var mean_of(var x, batch_division d) {
  if (d.ranks != any_ranks) return x * (1.0 / (d.ranks * d.shards));
  var const shards = cast(run_time_scalar(*x.g, scalar::shards), x.type());
  return x * (1.0 / shards);
}

// Values added up as they come: partial sums of 2^k neighbours, the longest first. This is the order of tree_sum.hpp, in which ranks are added, so that it does
// not matter which shards a rank has; tests/dist/thorough/divisions.cpp compares the bits.
class running_sum {
 public:
  constexpr void push(var x) {
    parts_.push_back(x);
    for (int n = ++count_; n % 2 == 0; n /= 2) merge();
  }
  constexpr var total() {
    while (parts_.size() > 1) merge();
    return parts_.back();
  }

 private:
  constexpr void merge() {
    var const last = parts_.back();
    parts_.pop_back();
    parts_.back() = shard_add(parts_.back(), last);
  }
  vec<var> parts_{};
  int count_ = 0;
};

}  // namespace detail

// The arguments of a step, from those of one shard.
template <int Shards, class Tuple>
using arguments_of_shards = typename detail::joined_arguments<Shards, Tuple>::type;

namespace detail {

// What an output is over all ranks, of which `x` is the sum over the shards of one: their sum, of which average() makes the mean, or what says itself what it is.
template <class Facts>
constexpr var over_ranks(graph& g, var x, output const& o, batch_division d, Facts const& facts) {
  if (o.kind != output_kind::gradient) return d.several() ? all_reduce(x, across::batches) : x;
  if (d.combine != nullptr) return d.combine(d.shards > 1 ? x * (1.0 / d.shards) : x, facts.tensors(g[o.target]));
  if (!d.several()) return x;
  auto const portion = d.zero > 1 ? facts.of_state(g[o.target], across::batches) : tensor_portion{};
  auto const sum = [&](var y) { return portion ? reduce_scatter(y, portion.axis, portion.ranks) : all_reduce(y, across::batches); };
  return is_half(d.sent_as) ? cast(sum(cast(mean_of(x, d), d.sent_as)), x.type()) : sum(x);  // means, which halves have the range for
}
constexpr var average(var x, output const& o, batch_division d) {
  bool const done = o.kind == output_kind::gradient && (d.combine != nullptr || (d.several() && is_half(d.sent_as)));
  return done ? x : mean_of(x, d);
}

constexpr void check_results(graph const& g) {
  for (output const& o : g.outputs) {
    value_info const& info = g.info(o.value);
    if (o.kind == output_kind::result && (info.count() != 1 || !is_float(info.type)))
      throw invalid("data_parallel, virtual_shards: a step hands back means over the shards, so its results must be floating-point scalars. FIX: reduce each, e.g. with mean(x)");
  }
}

}  // namespace detail

// The graph of a rank with one shard: its outputs become means over all ranks. Each gradient is added up where it is made: one that a repeated block stacks, in
// that block (passes/sink.hpp). gather(g, outputs) may then join them.
template <class Gather, class Facts>
constexpr void average_over_ranks(graph& g, batch_division d, Gather const& gather, Facts const& facts) {
  detail::check_results(g);
  g.when = step_phase::update;
  auto const each = [&](auto const& become) {
    for (int k = 0; k < g.outputs.size(); ++k) {
      int const next = become(var{&g, g.outputs[k].value}, g.outputs[k]).id;
      g.outputs[k].value = next;
    }
  };
  vec<dtype> results{};  // what has no leaf, in its order; halves are wider on the way
  for (output const& o : g.outputs)
    if (o.target < 0) results.push_back(g.info(o.value).type);
  each([&](var x, output const& o) { return detail::over_ranks(g, is_storage_only(x.type()) ? cast(x, dtype::f32) : x, o, d, facts); });
  g.outputs = gather(g, vec<output>(g.outputs));
  g.when = step_phase::update;
  int result = 0;
  each([&](var x, output const& o) {
    var const mean = detail::average(x, o, d);
    dtype const wanted = o.target >= 0 ? g.info(o.target).type : results[result++];
    return mean.type() == wanted ? mean : cast(mean, wanted);
  });
}

// The graph of a rank with all of its shards, each recorded as `one`: its outputs are means over the shards of all ranks, of results, of what states
// become and of gradients. gather(g, outputs) may join gradients of a shard before they are added up, unless the division combines them otherwise. facts: of what gradients are by,
// see dist/gradient_facts.hpp.
template <class Gather, class Facts>
constexpr graph averaged_over_shards(graph const& one, batch_division d, Gather const& gather, Facts const& facts) {
  graph g{};
  vec<int> values{};
  detail::check_results(one);
  for (output const& o : one.outputs) values.push_back(o.value);
  vec<output> outputs{};
  vec<detail::running_sum> sums(values.size());
  for (int s = 0; s < d.shards; ++s) {
    vec<int> const ids = append_shard(g, one, values, s, d.shards);
    outputs.clear();
    for (int k = 0; k < ids.size(); ++k) {
      output o = one.outputs[k];
      o.value = ids[k];
      if (o.target >= 0) o.target = emit_leaf(g, *one[o.target].op, one.info(o.target), one[o.target].at).id;
      outputs.push_back(o);
    }
    if (d.combine == nullptr) outputs = gather(g, outputs);
    for (int k = 0; k < outputs.size(); ++k) {
      var const x{&g, outputs[k].value};
      sums[k].push(is_storage_only(x.type()) ? cast(x, dtype::f32) : x);
    }
  }
  for (int k = 0; k < outputs.size(); ++k) {
    var const x = detail::average(detail::over_ranks(g, sums[k].total(), outputs[k], d, facts), outputs[k], d);
    outputs[k].value = (x.type() == g.info(outputs[k].value).type ? x : cast(x, g.info(outputs[k].value).type)).id;
    g.outputs.push_back(outputs[k]);
  }
  return g;
}

}  // namespace dist
}  // namespace tx
