// Attention of packed texts whose keys lie apart, by its rule and written out as products of padded ones: queries of each text give what they give
// alone with the keys of that text, in all gradients too.
#include "attended.hpp"
#include "check_op.hpp"

#include <tx/ops/attention.hpp>
#include <tx/ops/constant.hpp>

namespace {

using tx::attention_facts;
using tx::var;
using vars = std::vector<var>;
using arrays = std::vector<array>;

constexpr int head = 3, texts = 5;

// Tokens of one side: so many before the first text, of each, and behind the last.
struct side {
  int before;
  int lengths[texts];
  int behind;

  int length(int t) const { return lengths[t]; }
  int first(int t) const {
    int sum = before;
    for (int k = 0; k < t; ++k) sum += lengths[k];
    return sum;
  }
  int tokens() const { return first(texts) + behind; }
  int longest() const { return *std::max_element(lengths, lengths + texts); }
  array offsets() const {
    array o = filled(make_dims({texts + 1}));
    o.type = tx::dtype::i32;
    for (int t = 0; t <= texts; ++t) o.v[static_cast<std::size_t>(t)] = first(t);
    return o;
  }
  array of_text(array const& all, int t) const {
    auto const width = static_cast<int>(all.dims.dim[1]);
    array x = filled(make_dims({1, length(t), width}));
    std::copy_n(all.v.begin() + first(t) * width, length(t) * width, x.v.begin());
    return x;
  }
};
// Text 1 has no key, text 2 no query, text 4 neither; others have more of one or of the other.
constexpr side few{1, {2, 3, 0, 1, 0}, 2}, many{2, {4, 0, 2, 5, 0}, 1};

array each_alone(side const& queries, side const& keys, arrays const& in, attention_facts const& f, double rate) {
  array out = filled(in[0].dims);
  attention_facts of_one = f;
  of_one.longest = of_one.key_longest = 0;
  for (int t = 0; t < texts; ++t) {
    if (queries.length(t) == 0 || keys.length(t) == 0) continue;  // 0 where there are no keys
    arrays one{queries.of_text(in[0], t), keys.of_text(in[1], t), keys.of_text(in[2], t)};
    for (std::size_t k = 5; k < in.size(); ++k) one.push_back(scores_of_text(in[k], t, queries.length(t), keys.length(t)));
    array const y = attended(one, of_one, rate);
    std::copy(y.v.begin(), y.v.end(), out.v.begin() + std::int64_t{queries.first(t)} * out.dims.dim[1]);
  }
  return out;
}

var recorded(vars const& v, attention_facts const& f, double rate) {
  tx::vec<var> operands{};
  for (var const& x : v) operands.push_back(x);
  if (f.dropout) operands.push_back(tx::constant(*v[0].g, tx::dtype::f32, rate));
  return tx::attention(operands, f);
}

void check(std::string const& name, side const& queries, side const& keys, attention_facts f, tx::shape const& bias = {}) {
  number_source numbers(19);
  f.longest = queries.longest();
  f.key_longest = keys.longest();
  f.bias = bias.rank != 0;
  arrays in{numbers.spread(make_dims({queries.tokens(), f.heads * head}), -1, 1), numbers.spread(make_dims({keys.tokens(), f.key_heads * head}), -1, 1),
            numbers.spread(make_dims({keys.tokens(), f.key_heads * head}), -1, 1), queries.offsets(), keys.offsets()};
  if (f.bias) in.push_back(numbers.spread(bias, -2, 2));
  double const rate = 0.5;
  if (f.dropout) in.push_back(noise_beside(rate, numbers, make_dims({texts, f.heads, f.longest, f.key_longest})));
  check_op(
      name, in, [&](vars const& v) { return recorded(v, f, rate); }, [&](arrays const& v) { return each_alone(queries, keys, v, f, rate); });
}

void check_all(std::string const& name, side const& queries, side const& keys) {
  int const longest = queries.longest(), longest_keys = keys.longest();
  check(name + ": plain", queries, keys, {.heads = 2, .key_heads = 2});
  check(name + ": grouped", queries, keys, {.heads = 4, .key_heads = 2});
  check(name + ": dropout", queries, keys, {.heads = 2, .key_heads = 2, .dropout = true});
  check(name + ": a bias of all scores", queries, keys, {.heads = 2, .key_heads = 2}, make_dims({texts, 2, longest, longest_keys}));
  check(name + ": a bias by place", queries, keys, {.heads = 2, .key_heads = 1}, make_dims({1, 2, longest, longest_keys}));
  check(name + ": a bias of keys", queries, keys, {.heads = 2, .key_heads = 2}, make_dims({texts, 1, 1, longest_keys}));
  check(name + ": a bias of queries", queries, keys, {.heads = 2, .key_heads = 2}, make_dims({1, 1, longest, 1}));
  check(name + ": all at once", queries, keys, {.heads = 4, .key_heads = 2, .dropout = true}, make_dims({texts, 4, longest, longest_keys}));
}

}  // namespace

TEST_CASE("packed attention to keys apart: each text gives what it gives alone") {
  check_all("more keys", few, many);
  check_all("more queries", many, few);
  check_all("as many", few, few);
}

TEST_CASE("packed attention to keys apart: what cannot be is refused") {
  number_source numbers(3);
  auto const of = [&](std::vector<int> const& dims) { return numbers.spread(make_dims(dims), -1, 1); };
  auto const refused = [&](arrays const& in, attention_facts f, char const* what) {
    if (f.longest == 0) f.longest = 3;
    f.key_longest = 5;
    CHECK_THAT(refusal(in, [&](vars const& v) { return recorded(v, f, 0); }), Catch::Matchers::Contains(what) && Catch::Matchers::Contains("FIX"));
  };
  array const begins = few.offsets(), keys_begin = many.offsets();
  array fewer = filled(make_dims({texts}));
  fewer.type = tx::dtype::i32;
  array const q = of({9, 4}), k = of({14, 4});
  refused({q, k, k, begins}, {}, "another number of operands");
  refused({q, k, k, begins, fewer}, {}, "of as many texts as those of queries");
  refused({q, k, k, begins, of({texts + 1})}, {}, "of as many texts as those of queries");
  refused({q, k, of({13, 4}), begins, keys_begin}, {}, "need one floating-point type");
  refused({q, of({2, 7, 4}), of({2, 7, 4}), begins, keys_begin}, {}, "of packed texts it takes");
  refused({q, k, k, begins, keys_begin}, {.causal = true}, "where queries stand among keys is not known");
  refused({q, k, k, begins, keys_begin}, {.window = 2}, "where queries stand among keys is not known");
  refused({q, k, k, begins, keys_begin, of({5, 5})}, {.mask = true}, "have no mask");
  refused({q, k, k, begins, keys_begin, of({5, 1, 5, 5})}, {.bias = true}, "a bias is added");
  refused({q, k, k, begins, keys_begin}, {.longest = -1}, "packed texts");
}
