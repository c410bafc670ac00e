// Attention of packed texts, by its rule and written out as products of padded ones: each text gives what it gives alone, in its gradients too.
#include "attended.hpp"
#include "check_op.hpp"

#include <tx/ops/attention.hpp>
#include <tx/ops/constant.hpp>

namespace {

using tx::attention_facts;
using tx::var;
using vars = std::vector<var>;
using arrays = std::vector<array>;

constexpr int head = 3, longest = 5, before = 1, behind = 2;
constexpr int lengths[] = {3, 0, 5, 1};
constexpr int texts = 4, tokens = before + 3 + 0 + 5 + 1 + behind;

array each_alone(arrays const& in, attention_facts const& f, double rate) {
  array out = filled(in[0].dims);
  attention_facts of_one = f;
  of_one.longest = 0;
  int first = before;
  for (int t = 0; t < texts; ++t) {
    int const length = lengths[t];
    if (length == 0) continue;
    arrays one;
    for (std::size_t k = 0; k < 3; ++k) {
      std::int64_t const width = in[k].dims.dim[1];
      array x = filled(make_dims({1, length, static_cast<int>(width)}));
      std::copy_n(in[k].v.begin() + first * width, length * width, x.v.begin());
      one.push_back(x);
    }
    for (std::size_t k = 4; k < in.size(); ++k) one.push_back(scores_of_text(in[k], t, length, length));
    array const y = attended(one, of_one, rate);
    std::copy(y.v.begin(), y.v.end(), out.v.begin() + std::int64_t{first} * out.dims.dim[1]);
    first += length;
  }
  return out;
}

array offsets() {
  array o = filled(make_dims({texts + 1}), before);
  o.type = tx::dtype::i32;
  for (int t = 0; t < texts; ++t) o.v[static_cast<std::size_t>(t + 1)] = o.v[static_cast<std::size_t>(t)] + lengths[t];
  return o;
}

void check(char const* name, attention_facts f, tx::shape const& bias = {}) {
  number_source numbers(19);
  f.longest = longest;
  f.bias = bias.rank != 0;
  arrays in{numbers.spread(make_dims({tokens, f.heads * head}), -1, 1), numbers.spread(make_dims({tokens, f.key_heads * head}), -1, 1),
            numbers.spread(make_dims({tokens, f.key_heads * head}), -1, 1), offsets()};
  if (f.bias) in.push_back(numbers.spread(bias, -2, 2));
  double const rate = 0.5;
  if (f.dropout) in.push_back(noise_beside(rate, numbers, make_dims({texts, f.heads, longest, longest})));
  check_op(
      name, in,
      [&](vars const& v) {
        tx::vec<var> operands{};
        for (var const& x : v) operands.push_back(x);
        if (f.dropout) operands.push_back(tx::constant(*v[0].g, tx::dtype::f32, rate));
        return tx::attention(operands, f);
      },
      [&](arrays const& v) { return each_alone(v, f, rate); });
}

}  // namespace

TEST_CASE("packed attention: each text gives what it gives alone") {
  check("plain", {.heads = 2, .key_heads = 2});
  check("grouped", {.heads = 4, .key_heads = 2});
  check("scaled", {.heads = 2, .key_heads = 1, .scale = 0.4});
  check("causal", {.heads = 2, .key_heads = 1, .causal = true});
  check("window", {.heads = 2, .key_heads = 2, .window = 2});
  check("dropout", {.heads = 2, .key_heads = 2, .dropout = true});
  check("a bias of all scores", {.heads = 2, .key_heads = 2}, make_dims({texts, 2, longest, longest}));
  check("a bias by distance", {.heads = 2, .key_heads = 2}, make_dims({1, 2, longest, longest}));
  check("a bias of keys", {.heads = 2, .key_heads = 2}, make_dims({texts, 1, 1, longest}));
  check("all at once", {.heads = 4, .key_heads = 2, .causal = true, .window = 3, .dropout = true}, make_dims({1, 4, longest, longest}));
}

TEST_CASE("packed attention: what cannot be is refused") {
  number_source numbers(3);
  auto const of = [&](std::vector<int> const& dims) { return numbers.spread(make_dims(dims), -1, 1); };
  auto const refused = [&](arrays const& in, attention_facts f, char const* what) {
    f.longest = longest;
    std::string const said = refusal(in, [&](vars const& v) {
      tx::vec<var> operands{};
      for (var const& x : v) operands.push_back(x);
      return tx::attention(operands, f);
    });
    CHECK_THAT(said, Catch::Matchers::Contains(what) && Catch::Matchers::Contains("FIX"));
  };
  refused({of({9, 4}), of({9, 4}), of({9, 4})}, {}, "another number of operands");
  refused({of({9, 4}), of({8, 4}), of({8, 4}), offsets()}, {}, "of packed texts it takes");
  refused({of({2, 9, 4}), of({2, 9, 4}), of({2, 9, 4}), offsets()}, {}, "of packed texts it takes");
  refused({of({9, 4}), of({9, 4}), of({9, 4}), of({5})}, {}, "offsets of packed texts");
  refused({of({9, 4}), of({9, 4}), of({9, 4}), offsets(), of({4, 5})}, {.mask = true}, "have no mask");
  refused({of({9, 4}), of({9, 4}), of({9, 4}), offsets(), of({4, 2, 4, 5})}, {.bias = true}, "a bias is added");
}
