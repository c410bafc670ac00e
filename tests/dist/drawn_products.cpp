// Ranks divide the products of networks that nobody wrote: losses and gradients are those of one rank, in f64.
#include "../interpreter/evaluator.hpp"
#include "../interpreter/passes.hpp"
#include "within.hpp"

#include <tx/dist/local.hpp>
#include <tx/dist/tensor_parallel.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/tanh.hpp>

#include <catch2/catch.hpp>

#include <set>

namespace {

using namespace tx;

knows_whole<&concat_info> const concat_rule;
knows_whole<&embedding_info> const embedding_rule;
knows_whole<&scatter_rows_info> const scatter_rule;

// This thread's rank, whose collectives the interpreter runs.
thread_local dist::local* here = nullptr;
struct knows_ranks {
  knows_ranks() {
    for (op_info const* op : {&sum_over_ranks_info, &all_reduce_info}) teach<rules::all_reduce>(*op);
    teach<rules::own_rows>(own_rows_info);
    teach<rules::all_gather>(all_gather_info);
  }

 private:
  template <class Rule>
  static void teach(op_info const& op) {
    whole_rules()[&op] = [](node const& n, whole_results const& out, std::vector<whole_operand<double const>> const& in) { Rule::run(*here, n.at, out[0], in[0]); };
  }
};
knows_ranks const ranks_are_known;

// A network of drawn layers. Widths have many divisors or none, so that some parts can be divided evenly by a number of ranks and others not.
class network {
 public:
  graph g{};
  std::set<std::string> has{};

  explicit network(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {
    batch_ = pick({1, 2, 3});
    places_ = pick({1, 2, 4});
    width_ = pick({4, 6, 8, 12});
    words_ = pick({48, 60, 49, 29, 101, 9});
    var x = emit_leaf(g, input_info, {dtype::f64, extents(batch_, places_, width_)}, of_input(0));
    if (draw(2) == 0) x = x + looked_up();
    for (int k = 0, layers = 1 + draw(4); k < layers; ++k) x = layer(x);
    if (draw(3) == 0) x = linear(x, pick({2, 3, 4}));  // a head
    var loss = mean_of(x * x + x);
    if (draw(2) == 0) loss = loss + classified(x);
    g.outputs.push_back(output{loss.id, output_kind::result, -1});
  }

  static values leaf(node const& n) {
    values v(static_cast<std::size_t>(n.info.count()));
    std::uint64_t state = 77 + static_cast<std::uint64_t>(n.op == &parameter_info ? 1000 + parameter_entry(n.at) : 0);
    for (double& x : v) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x = (static_cast<double>(state >> 40) * 0x1p-24 - 0.5) * 1.5;
    }
    return v;
  }

 private:
  int draw(int below) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((random_ >> 33) % static_cast<std::uint64_t>(below));
  }
  int pick(std::initializer_list<int> of) { return of.begin()[draw(static_cast<int>(of.size()))]; }

  var parameter(shape dims) {
    var const p = emit_leaf(g, parameter_info, {dtype::f64, dims}, of_parameter(1000 * parameters_.size(), parameters_.size()));
    parameters_.push_back(p.id);
    return p;
  }
  static var mean_of(var x) { return sum_all(x) * (1.0 / static_cast<double>(x.info().count())); }

  // Of the words, which each place has one of, some twice; or of bags of two.
  var looked_up() {
    has.insert("a table of words");
    table_ = parameter(extents(words_, width_));
    bool const bags = draw(3) == 0;
    var const ids = (iota(g, extents(batch_, places_, bags ? 2 : 1), 1) * 5 + iota(g, extents(batch_, places_, bags ? 2 : 1), 0) * 11 + (bags ? iota(g, extents(batch_, places_, 2), 2) * 13 : iota(g, extents(batch_, places_, 1), 2))) - 1;  // -1 names nothing
    var const rows = detail::embedding_fn{}(table_, ids);
    return draw(3) == 0 ? rows * 0.5 + detail::embedding_fn{}(table_, ids + 1) : rows;
  }
  // The loss of a head of many classes, whose weights are the words' perhaps.
  var classified(var x) {
    int const from = x.dims().last();
    has.insert("many classes");
    bool const tied = table_.valid() && from == width_ && draw(2) == 0;
    if (tied) has.insert("words and classes of one table");
    var const w = tied ? transpose(table_) : parameter(extents(from, words_));
    var logits = reshape(matmul(reshape(x, extents(batch_ * places_, from)), w), extents(batch_, places_, words_));
    if (draw(2) == 0) logits = logits + parameter(extents(words_));
    if (draw(4) == 0) {  // by zero where there is no word, and without a slope there
      has.insert("divided by each word's");
      var const p = parameter(extents(words_));
      logits = logits / (sqrt(p * p) + 0.1 * p);
    }
    if (draw(4) == 0) {  // beyond the last word there would be larger ones
      has.insert("rising with the words");
      logits = (logits * 0.001 + cast(iota(g, logits.dims(), -1), dtype::f64)) * 1000.0;
    }
    if (draw(4) == 0) {
      has.insert("words as rows");
      var const rows = matmul(transpose(reshape(tanh(logits), extents(batch_ * places_, words_))), reshape(x, extents(batch_ * places_, from)));
      int const last = 1;
      return mean_of(sum(reshape(sum(rows * rows, &last, 1), extents(1, words_)), &last, 1));
    }
    if (draw(4) == 0) {
      has.insert("a mixture of words");
      var const mixed = matmul(reshape(detail::softmax_fn<-1>{}(logits), extents(batch_ * places_, words_)), transpose(w));
      if (draw(2) == 0) return mean_of(mixed * mixed);
      return mean_of(mixed * mixed) + detail::cross_entropy_fn{}(logits, reshape(iota(g, extents(batch_, places_), 1) * 7, extents(batch_, places_)));
    }
    var const labels = reshape(iota(g, extents(batch_, places_), 1) * 7 + iota(g, extents(batch_, places_), 0) * 3, extents(batch_, places_));
    if (draw(3) > 0) return detail::cross_entropy_fn{}(logits, labels);
    has.insert("smoothed labels");
    return detail::cross_entropy_fn{}(labels, logits, constant(g, dtype::f64, 0.1), constant(g, dtype::f64, 0));
  }
  // [batch, places, from] -> [batch, places, to], with either side of the weights first, and a bias perhaps
  var linear(var x, int to) {
    int const from = x.dims().last();
    var const w = draw(2) == 0 ? transpose(parameter(extents(to, from))) : parameter(extents(from, to));
    var y = reshape(matmul(reshape(x, extents(batch_ * places_, from)), w), extents(batch_, places_, to));
    if (draw(3) > 0) y = y + parameter(extents(to));
    return y;
  }
  var activated(var x) {
    switch (draw(5)) {
      case 0: return tanh(x);
      case 1: return has.insert("a parameter for all"), x * parameter(shape{});
      case 2: return has.insert("a scale of each column"), x * parameter(extents(x.dims().last()));
      case 3: return has.insert("dropout"), detail::dropped(x, uniform(g, x.dims(), g.random_streams++), constant(g, dtype::f32, 0.25), constant(g, dtype::f32, 1 / 0.75));
      default: return x * x * 0.5 + x;
    }
  }
  var layer(var x) {
    int const inner = pick({4, 6, 8, 12, 5, 13, 27});
    switch (draw(8)) {
      case 0: return linear(activated(linear(x, inner)), width_);
      case 7: return linear(split_or_merged(linear(x, 27)), width_);
      case 1: return has.insert("gated"), x + linear(activated(linear(x, inner)) * linear(x, inner), width_);
      case 2: return x + attention_of(x);
      case 3: return has.insert("attention by hand"), attention_by_hand(x);
      case 4: return has.insert("a norm"), normed(linear(x, width_));
      case 5: return has.insert("heads mixed up"), linear(rearranged(linear(x, 8)), width_);
      default: {  // two that meet, of which one goes elsewhere too
        var const a = linear(x, inner), b = activated(linear(x, inner));
        var const y = linear(a + b, width_);
        return draw(2) == 0 ? y : (has.insert("handed on"), y + linear(normed(b), width_));
      }
    }
  }
  static var normed(var x) {
    int const last = x.dims().rank - 1;
    var const centred = x - broadcast_to(sum(x, &last, 1) * (1.0 / x.dims().last()), x.dims());
    return centred * 0.5;
  }
  var attention_of(var x) {
    attention_facts f{.heads = pick({2, 4}), .causal = draw(2) == 0};
    f.key_heads = draw(3) == 0 ? f.heads / 2 : f.heads;
    int const head = 2;
    vec<var> in{linear(x, f.heads * head), linear(x, f.key_heads * head), linear(x, f.key_heads * head)};
    if (draw(2) == 0) {
      has.insert("attention with dropout");
      f.dropout = true;
      in.push_back(uniform(g, extents(batch_, f.heads, places_, places_), g.random_streams++));
      in.push_back(constant(g, dtype::f32, 0.25));
    }
    has.insert(f.key_heads < f.heads ? "shared keys" : "attention");
    return linear(attention(in, f), width_);
  }
  var heads_of(var x, int heads) {
    int const head = x.dims().last() / heads;
    attributes const order{{0, 2, 1, 3}};
    return transpose(reshape(x, extents(batch_, places_, heads, head)), order);
  }
  var attention_by_hand(var x) {
    int const heads = pick({2, 4}), head = 3;
    var const q = heads_of(linear(x, heads * head), heads), k = heads_of(linear(x, heads * head), heads), v = heads_of(linear(x, heads * head), heads);
    var scores = matmul(q, transpose(k)) * 0.3;
    scores = tanh(scores);
    var const mixed = matmul(scores, v);
    return linear(reshape(transpose(mixed, attributes{{0, 2, 1, 3}}), extents(batch_, places_, heads * head)), width_);
  }
  // [batch, places, 27] by way of shapes in which its columns are no axis of their own
  var split_or_merged(var x) {
    if (draw(2) == 0) return has.insert("columns split"), reshape(tanh(reshape(x, extents(batch_, places_, 3, 9))), x.dims());
    has.insert("columns merged");
    var const first = transpose(reshape(x, extents(batch_ * places_, 27)));
    return reshape(transpose(reshape(tanh(reshape(first, extents(27 * batch_ * places_))), first.dims())), x.dims());
  }
  // [batch, places, 8] by way of other shapes
  var rearranged(var x) {
    switch (draw(3)) {
      case 0: return reshape(tanh(reshape(x, extents(batch_ * places_, 2, 4))), x.dims());
      case 1: return reshape(transpose(reshape(x, extents(batch_, places_, 2, 4)), attributes{{0, 1, 3, 2}}), x.dims());  // what was together is apart
      default: return slice(x, 2, 0, 8, 1) * 2.0;
    }
  }

  std::uint64_t random_;
  int batch_ = 1, places_ = 1, width_ = 4, words_ = 48;
  var table_{};
  vec<int> parameters_{};
};

// The loss, and then its gradients by all parameters in their order.
std::vector<values> told_by(graph g, int portion) {
  vec<int> parameters{};
  for (int entry = 0, found = 0; found >= 0; ++entry) {
    found = -1;
    for (int id = 0; id < g.size(); ++id)
      if (g[id].op == &parameter_info && parameter_entry(g[id].at) == entry) found = id;
    if (found >= 0) parameters.push_back(found);
  }
  vec<int> const by = at_run_time::gradients(g, g.outputs[0].value, parameters);
  for (int id : by)
    if (id >= 0) g.outputs.push_back(output{id, output_kind::result, -1});
  g = at_run_time::simplified(g);
  at_run_time::verified(g);
  evaluator const run(g, network::leaf, {.random = true, .key = philox_key::from(5), .step = 2, .portion = portion});
  std::vector<values> told;
  for (output const& o : g.outputs) told.push_back(run[o.value]);
  return told;
}

// How far two of them are apart, of the largest number.
double apart(std::vector<values> const& a, std::vector<values> const& b) {
  if (a.size() != b.size()) return 1;
  double most = 0, largest = 1e-300;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].size() != b[k].size()) return 1;
    for (std::size_t i = 0; i < a[k].size(); ++i) {
      most = std::max(most, std::abs(a[k][i] - b[k][i]));
      largest = std::max(largest, std::abs(b[k][i]));
      if (!(std::abs(a[k][i]) < 1e300)) return 1;
    }
  }
  return most / largest;
}

}  // namespace

TEST_CASE("networks that nobody wrote give the same losses and gradients where ranks divide their products") {
  int divided = 0, tables = 0, classes = 0, rests = 0;
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    network const drawn(seed);
    std::vector<values> const one = told_by(drawn.g, 0);
    for (int ranks : {2, 3, 4, 5}) {
      graph parts = drawn.g;
      try {
        dist::divide_products(parts, ranks);
      } catch (invalid const& e) {
        CAPTURE(seed, ranks);
        CHECK_THAT(e.what(), Catch::Contains("no products were found"));
        continue;
      }
      at_run_time::verified(parts);
      ++divided;
      for (int id = 0; id < parts.size(); ++id) {
        rests += parts[id].op == &own_gradient_info;
        tables += parts[id].op == &embedding_info && parts[parts.input(id, 0)].op == &own_rows_info;
        classes += parts[id].op == &all_gather_info;  // of the largest
      }
      seen.insert(drawn.has.begin(), drawn.has.end());
      std::vector<double> far(static_cast<std::size_t>(ranks), 1);
      std::string failed;
      within(std::chrono::seconds(60), [&] {
        dist::local_group group(ranks);
        try {
          group.run([&](dist::local& rank) {
            here = &rank;
            far[static_cast<std::size_t>(rank.rank())] = apart(told_by(parts, rank.rank()), one);
          });
        } catch (std::exception const& e) {
          failed = e.what();
        }
      });
      CAPTURE(seed, ranks);
      CHECK(failed == "");
      for (double const f : far) CHECK(f < 1e-10);  // squares of squares make rounding larger
    }
  }
  CHECK(divided > 400);
  CHECK(tables > 100);
  CHECK(classes > 100);
  CHECK(rests > 200);
  for (char const* const feature : {"a parameter for all", "a scale of each column", "dropout", "gated", "attention", "shared keys", "attention with dropout", "attention by hand", "a norm", "heads mixed up", "handed on", "a table of words", "many classes", "words and classes of one table", "smoothed labels", "divided by each word's", "a mixture of words", "words as rows", "rising with the words", "columns split", "columns merged"}) {
    CAPTURE(feature);
    CHECK(seen.contains(feature));
  }
}
