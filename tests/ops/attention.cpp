// Attention as an op, run by its own rule and written out as products, against plain loops and central differences: every option, and what
// becomes of queries that see no key.
#include "../interpreter/passes.hpp"
#include "attended.hpp"
#include "check_op.hpp"

#include <tx/graph/verify.hpp>
#include <tx/ops/attention.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/passes/narrow.hpp>

namespace {

using tx::attention_facts;
using tx::var;
using vars = std::vector<var>;
using arrays = std::vector<array>;

constexpr int texts = 2, queries = 3, keys = 5, heads = 4, key_heads = 2, head = 3;

struct option {
  char const* name;
  attention_facts f;
  tx::shape bias{};
  int of_queries = queries, of_keys = keys;
  bool some_see_none = false;
};

void check(option const& o) {
  number_source numbers(11);
  attention_facts f = o.f;
  f.bias = o.bias.rank != 0;
  arrays in{numbers.spread(make_dims({texts, o.of_queries, f.heads * head}), -1, 1), numbers.spread(make_dims({texts, o.of_keys, f.key_heads * head}), -1, 1),
            numbers.spread(make_dims({texts, o.of_keys, f.key_heads * head}), -1, 1)};
  if (f.mask) {
    array mask = filled(make_dims({texts, o.of_keys}), 1);
    mask.type = tx::dtype::boolean;
    mask.v[1] = mask.v[3] = 0;
    for (int j = 0; j < o.of_keys && o.some_see_none; ++j) mask.v[static_cast<std::size_t>(o.of_keys + j)] = 0;
    in.push_back(mask);
  }
  if (f.bias) in.push_back(numbers.spread(o.bias, -2, 2));
  double const rate = 0.5;  // its scale is exact in f32 too
  if (f.dropout) in.push_back(noise_beside(rate, numbers, make_dims({texts, f.heads, o.of_queries, o.of_keys})));
  check_op(
      o.name, in,
      [&](vars const& v) {
        tx::vec<var> operands{};
        for (var const& x : v) operands.push_back(x);
        if (f.dropout) operands.push_back(tx::constant(*v[0].g, tx::dtype::f32, rate));
        return tx::attention(operands, f);
      },
      [&](arrays const& v) { return attended(v, f, rate); });
}

}  // namespace

TEST_CASE("attention: values and gradients, by its rule and as products") {
  check({"plain", {.heads = 2, .key_heads = 2}});
  check({"one head", {}});
  check({"scaled", {.heads = 2, .key_heads = 1, .scale = 0.3}});
  check({"grouped", {.heads = heads, .key_heads = key_heads}});
  check({"one key head", {.heads = heads, .key_heads = 1}});
  check({"causal", {.heads = 2, .key_heads = 1, .causal = true}, {}, keys, keys});
  check({"causal, the last queries", {.heads = 2, .key_heads = 2, .causal = true, .first = keys - queries}});
  check({"window", {.heads = 2, .key_heads = 2, .window = 2, .first = 1}});
  check({"causal within a window", {.heads = 2, .key_heads = 2, .causal = true, .window = 2}, {}, keys, keys});
  check({"mask", {.heads = 2, .key_heads = 2, .mask = true}});
  check({"mask and causal", {.heads = 2, .key_heads = 1, .causal = true, .mask = true}, {}, keys, keys});
  check({"dropout", {.heads = heads, .key_heads = key_heads, .dropout = true}});
  check({"all at once", {.heads = heads, .key_heads = key_heads, .causal = true, .window = 3, .first = keys - queries, .mask = true, .dropout = true, .scale = 1.7},
         make_dims({1, heads, queries, keys})});
}

TEST_CASE("attention: a bias of every shape that broadcasts, with its gradient") {
  for (auto const& dims : std::vector<std::vector<int>>{{texts, 2, queries, keys}, {1, 2, queries, keys}, {texts, 1, 1, keys}, {1, 1, queries, 1}, {1, 1, 1, 1}})
    check({"bias", {.heads = 2, .key_heads = 2}, make_dims(dims)});
  check({"bias, mask and dropout", {.heads = heads, .key_heads = 1, .mask = true, .dropout = true}, make_dims({texts, heads, 1, keys})});
}

TEST_CASE("attention: a query that sees no key has equal probabilities for all, in its gradient too") {
  check({"no key takes part", {.heads = 2, .key_heads = 2, .mask = true}, {}, queries, keys, true});
  check({"none before it", {.heads = 2, .key_heads = 2, .causal = true, .mask = true}, {}, keys, keys, true});  // key 0 is seen, 1 and 3 are not
  check({"with dropout", {.heads = heads, .key_heads = 2, .mask = true, .dropout = true}, make_dims({1, 1, queries, keys}), queries, keys, true});
}

TEST_CASE("attention: no texts, no queries") {
  for (int nothing : {0, 1}) {
    arrays const in{filled(make_dims({nothing == 0 ? 0 : texts, nothing == 1 ? 0 : queries, 4})), filled(make_dims({nothing == 0 ? 0 : texts, keys, 4})),
                    filled(make_dims({nothing == 0 ? 0 : texts, keys, 4}))};
    built_op op(in, [](vars const& v) { return tx::attention({v[0], v[1], v[2]}, {.heads = 2, .key_heads = 2}); });
    op.g.outputs.push_back({op.result.id});
    for (bool simplified : {false, true}) CHECK(run_graph(op.g, in, simplified)[0].empty());
  }
}

TEST_CASE("attention: what cannot be is refused") {
  number_source numbers(3);
  auto const of = [&](std::vector<int> const& dims) { return numbers.spread(make_dims(dims), -1, 1); };
  auto const refused = [&](arrays const& in, attention_facts const& f, char const* what) {
    std::string const said = refusal(in, [&](vars const& v) {
      tx::vec<var> operands{};
      for (var const& x : v) operands.push_back(x);
      return tx::attention(operands, f);
    });
    CHECK_THAT(said, Catch::Matchers::Contains(what) && Catch::Matchers::Contains("FIX"));
  };
  refused({of({2, 3, 4}), of({2, 5, 4})}, {}, "another number of operands");
  refused({of({2, 3, 4}), of({2, 5, 4}), of({2, 4, 4})}, {}, "one floating-point type");
  refused({of({2, 3, 4}), of({3, 5, 4}), of({3, 5, 4})}, {}, "it takes q");
  refused({of({2, 3, 4}), of({2, 5, 4}), of({2, 5, 4})}, {.heads = 3, .key_heads = 3}, "heads of one width");
  refused({of({2, 3, 4}), of({2, 5, 4}), of({2, 5, 4}), of({2, 5})}, {.mask = true}, "a mask is bool");
  refused({of({2, 3, 4}), of({2, 5, 4}), of({2, 5, 4}), of({2, 2, 3, 5})}, {.bias = true}, "a bias is added");
}

TEST_CASE("attention: of a part of the queries only that is computed, with the same bounds") {
  number_source numbers(5);
  for (bool causal : {false, true}) {
    arrays const in{numbers.spread(make_dims({texts, keys, 4}), -1, 1), numbers.spread(make_dims({texts, keys, 4}), -1, 1),
                    numbers.spread(make_dims({texts, keys, 4}), -1, 1), numbers.spread(make_dims({1, 2, keys, keys}), -1, 1)};
    built_op op(in, [&](vars const& v) {
      var const all = tx::attention({v[0], v[1], v[2], v[3]}, {.heads = 2, .key_heads = 2, .causal = causal, .window = 3, .bias = true});
      return tx::slice(all, 1, 2, 2, 1);
    });
    op.g.outputs.push_back({op.result.id});
    tx::graph const narrow = tx::passes::narrow(op.g);
    at_run_time::verified(narrow);
    for (int i = 0; i < narrow.size(); ++i)
      if (narrow[i].op == &tx::attention_info) CHECK(narrow.info(i).dims.dim[1] == 2);
    for (bool simplified : {false, true})
      CHECK(distance(run_graph(narrow, in, simplified)[0], run_graph(op.g, in, simplified)[0]) < 1e-12);
  }
}

TEST_CASE("attention: the gradient of its gradient is refused") {
  arrays const in{filled(make_dims({1, 2, 2}), 0.5)};
  built_op op(in, [](vars const& v) { return tx::sum_all(tx::attention({v[0], v[0], v[0]}, {})); });
  tx::vec<int> const once = at_run_time::gradients(op.g, op.result.id, {op.leaves[0].id});
  REQUIRE(once[0] >= 0);
  CHECK(op.g.no_gradient.op == nullptr);
  at_run_time::gradients(op.g, tx::sum_all(var{&op.g, once[0]}).id, {op.leaves[0].id});
  REQUIRE(op.g.no_gradient.op != nullptr);
  CHECK(op.g.no_gradient.op->name == std::string("attention_gradient"));  // program<> then says so, see op_with_gradient
}
