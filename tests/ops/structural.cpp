// Ops that join, part and fold along axes: values against plain loops, gradients against central differences.
#include "check_op.hpp"
#include "../interpreter/evaluator.hpp"

#include <tx/ops/concat.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/einsum.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/split.hpp>
#include <tx/ops/stack.hpp>

namespace {

using vars = std::vector<tx::var>;
using arrays = std::vector<array>;

knows_whole<&tx::concat_info> const concat_rule;
knows_whole<&tx::flip_info> const flip_rule;
knows_whole<&tx::cumsum_info> const cumsum_rule;
knows_whole<&tx::products_of_others_info> const others_rule;

// Arrays one after the other along an axis.
array joined_along(int axis, arrays const& parts) {
  tx::shape dims = parts[0].dims;
  dims.dim[axis] = 0;
  for (array const& p : parts) dims.dim[axis] += p.dims.dim[axis];
  return built(dims, [&](std::vector<int> at) {
    int& place = at[static_cast<std::size_t>(axis)];
    std::size_t k = 0;
    while (place >= parts[k].dims.dim[axis]) place -= parts[k++].dims.dim[axis];
    std::size_t e = 0;  // not element_at: an axis of extent 1 does not repeat here
    for (int i = 0; i < dims.rank; ++i)
      e = e * static_cast<std::size_t>(parts[k].dims.dim[i]) +
          static_cast<std::size_t>(at[static_cast<std::size_t>(i)]);
    return parts[k].v[e];
  });
}
array with_extents(array a, std::vector<int> const& dims) {
  a.dims = make_dims(dims);
  return a;
}
array flipped(array const& a, int axis) {
  return built(a.dims, [&](std::vector<int> const& at) {
    return element(a, moved_to(at, axis, a.dims.dim[axis] - 1 - at[static_cast<std::size_t>(axis)]));
  });
}
array running_sum(array const& a, int axis, bool from_end) {
  return built(a.dims, [&](std::vector<int> const& at) {
    double sum = 0;
    int const here = at[static_cast<std::size_t>(axis)];
    for (int k = from_end ? here : 0; k < (from_end ? a.dims.dim[axis] : here + 1); ++k)
      sum += element(a, moved_to(at, axis, k));
    return sum;
  });
}
array multiplied(array const& a, std::vector<int> const& axes) {
  return folded(a, axes, 1, [](double x, double y) { return x * y; });
}

// numpy's einsum, letter by letter: all positions of all letters, the products added where the result has them.
array plain_einsum(std::string const& text, arrays const& in) {
  std::vector<std::string> letters(1);
  for (char c : text) {
    if (c == ',' || c == '>')
      letters.emplace_back();
    else if (c != '-')
      letters.back() += c;
  }
  std::string all;
  std::vector<int> extents;
  for (std::size_t k = 0; k + 1 < letters.size(); ++k)
    for (std::size_t i = 0; i < letters[k].size(); ++i)
      if (all.find(letters[k][i]) == std::string::npos) all += letters[k][i], extents.push_back(in[k].dims.dim[i]);
  tx::shape result{};
  for (char c : letters.back()) result.dim[result.rank++] = extents[all.find(c)];
  array out = filled(result);
  std::size_t count = 1;
  for (int e : extents) count *= static_cast<std::size_t>(e);
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<int> at(all.size());
    std::size_t rest = n;
    for (std::size_t i = all.size(); i-- > 0; rest /= static_cast<std::size_t>(extents[i]))
      at[i] = static_cast<int>(rest % static_cast<std::size_t>(extents[i]));
    auto place = [&](std::string const& axes) {
      std::vector<int> p;
      for (char c : axes) p.push_back(at[all.find(c)]);
      return p;
    };
    double term = 1;
    for (std::size_t k = 0; k < in.size(); ++k) term *= element(in[k], place(letters[k]));
    out.v[element_at(result, place(letters.back()))] += term;
  }
  return out;
}

}  // namespace

TEST_CASE("concat lays tensors one after the other") {
  number_source numbers(31);
  for (int axis : {0, 1, 2})
    for (auto const& extents :
         std::vector<std::vector<int>>{{3}, {1, 7}, {17, 1, 2}, {0, 3}, {2, 0, 1}, {1, 1, 1, 2, 5}}) {
      arrays parts;
      for (int extent : extents) {
        tx::shape dims = make_dims({2, 5, 3});
        dims.dim[axis] = extent;
        parts.push_back(numbers.spread(dims, -2, 2));
      }
      check_op(
          "concat", parts,
          [&](vars const& v) {
            int const named = extents.size() % 2 == 0 ? axis - 3 : axis;
            if (v.size() == 1) return tx::concat({v[0]}, named);
            if (v.size() == 2) return tx::concat({v[0], v[1]}, named);
            if (v.size() == 3) return tx::concat({v[0], v[1], v[2]}, named);
            return tx::concat({v[0], v[1], v[2], v[3], v[4]}, named);
          },
          [&](arrays const& v) { return joined_along(axis, v); });
    }
  array const x = numbers.spread(make_dims({3, 4}), -1, 1);
  check_op(
      "concat of views", {x}, [](vars const& v) { return tx::concat<1>(tx::transpose(v[0]), tx::transpose(v[0])); },
      [](arrays const& v) {
        array const t = built(make_dims({4, 3}), [&](std::vector<int> const& at) {
          return element(v[0], {at[1], at[0]});
        });
        return joined_along(1, {t, t});
      });
}

TEST_CASE("stack lays tensors along a new axis") {
  number_source numbers(32);
  array const a = numbers.spread(make_dims({3, 5}), -1, 1);
  array const b = numbers.spread(make_dims({3, 5}), -1, 1);
  auto plain = [](int axis) {
    return [axis](arrays const& v) {
      std::vector<int> dims{3, 5};
      dims.insert(dims.begin() + axis, 1);
      return joined_along(axis, {with_extents(v[0], dims), with_extents(v[1], dims)});
    };
  };
  check_op(
      "stack<0>", {a, b}, [](vars const& v) { return tx::stack<0>(v[0], v[1]); }, plain(0));
  check_op(
      "stack<1>", {a, b}, [](vars const& v) { return tx::stack<1>(v[0], v[1]); }, plain(1));
  check_op(
      "stack<-1>", {a, b}, [](vars const& v) { return tx::stack<-1>(v[0], v[1]); }, plain(2));
  check_op(
      "stack of numbers", {array{tx::shape{}, {3}}, array{tx::shape{}, {4}}},
      [](vars const& v) { return tx::stack<0>(v[0], v[1]); },
      [](arrays const& v) {
        return array{make_dims({2}), {v[0].v[0], v[1].v[0]}};
      });
}

TEST_CASE("split parts an axis, and what it parts concat joins") {
  number_source numbers(33);
  array const x = numbers.spread(make_dims({2, 6, 5}), -1, 1);
  auto part = [](int first, int count) {
    return [first, count](arrays const& v) {
      return built(make_dims({2, count, 5}), [&](std::vector<int> const& at) {
        return element(v[0], {at[0], first + at[1], at[2]});
      });
    };
  };
  check_op(
      "split", {x}, [](vars const& v) { return tx::split<1, 3>(v[0])[1]; }, part(2, 2));
  check_op(
      "split from the end", {x}, [](vars const& v) { return tx::split<-2, 2>(v[0])[1]; }, part(3, 3));
  check_op(
      "split_sizes", {x}, [](vars const& v) { return std::get<2>(tx::split_sizes<1, 1, 2, 3>(v[0])); }, part(3, 3));
  check_op(
      "split and concat", {x},
      [](vars const& v) {
        auto const [a, b, c] = tx::split<1, 3>(v[0]);
        return tx::concat<1>(a, b, c);
      },
      [](arrays const& v) { return v[0]; });
}

TEST_CASE("flip reverses axes") {
  number_source numbers(34);
  for (int axis : {0, 1, 2}) {
    array const x = numbers.spread(make_dims({7, 1, 17}), -1, 1);
    check_op(
        "flip", {x}, [&](vars const& v) { return tx::flip(v[0], axis - 3 * (axis % 2)); },
        [&](arrays const& v) { return flipped(v[0], axis); });
  }
  array const x = numbers.spread(make_dims({3, 4}), -1, 1);
  check_op(
      "flip of two axes of a view", {x}, [](vars const& v) { return tx::flip<0, 1>(tx::transpose(v[0])); },
      [](arrays const& v) {
        return built(make_dims({4, 3}), [&](std::vector<int> const& at) {
          return element(v[0], {2 - at[1], 3 - at[0]});
        });
      });
  check_op(
      "flip back", {x}, [](vars const& v) { return tx::flip<1>(tx::flip<1>(v[0])); },
      [](arrays const& v) { return v[0]; });
}

TEST_CASE("running sums from either end") {
  number_source numbers(35);
  for (auto const& dims : std::vector<std::vector<int>>{{1}, {17}, {7, 5}, {2, 3, 4}, {1, 7, 1}})
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis)
      for (bool from_end : {false, true})
        check_op(
            "cumsum", {numbers.spread(make_dims(dims), -2, 2)},
            [&](vars const& v) { return tx::cumsum(v[0], axis, from_end); },
            [&](arrays const& v) { return running_sum(v[0], axis, from_end); });
  check_op(
      "cumsum of integers", {numbers.integers(make_dims({3, 5}), -4, 5)},
      [](vars const& v) { return tx::cumsum<-1>(v[0]); }, [](arrays const& v) { return running_sum(v[0], 1, false); },
      false);
}

TEST_CASE("products over any axes, and their gradient beside zeros") {
  number_source numbers(36);
  for (int rank : {1, 2, 3})
    for (int bits = 1; bits < 1 << rank; ++bits) {
      std::vector<int> axes;
      for (int i = 0; i < rank; ++i)
        if ((bits >> i & 1) != 0) axes.push_back(i);
      tx::shape const dims = numbers.dims(rank, 40);
      for (int zeros : {0, 1, 2}) {
        array x = numbers.spread(dims, 0.4, 1.7);
        for (int k = 0; k < zeros; ++k) x.v[static_cast<std::size_t>(numbers.below(static_cast<int>(x.v.size())))] = 0;
        check_op(
            "prod", {x},
            [&](vars const& v) {
              return tx::detail::reduce_axes(v[0], axes.data(), static_cast<int>(axes.size()), tx::row_prod_info,
                                             nullptr);
            },
            [&](arrays const& v) { return multiplied(v[0], axes); });
      }
    }
  array const x = numbers.spread(make_dims({2, 3, 2}), -1.5, 1.5);
  check_op(
      "prod<0, -1>", {x}, [](vars const& v) { return tx::prod<0, -1>(v[0]); },
      [](arrays const& v) {
        return multiplied(v[0], {0, 2});
      });
  check_op(
      "prod of all", {x}, [](vars const& v) { return tx::prod(v[0]); },
      [](arrays const& v) {
        return as_scalar(multiplied(v[0], {0, 1, 2}));
      });
  // An infinity beside a zero: the gradient of each is the product of the others.
  array const odd{make_dims({3}), {0, INFINITY, 2}};
  built_op op({odd}, [](vars const& v) { return tx::prod<0>(v[0]); });
  op.g.outputs.push_back({op.differentiate(filled(make_dims({1}), 1))[0]});
  auto const gradient = run_graph(op.g, {odd, filled(make_dims({1}), 1)}, true)[0];
  CHECK((gradient[0] == INFINITY && gradient[1] == 0 && std::isnan(gradient[2])));
}

TEST_CASE("einsum against all positions of all letters") {
  number_source numbers(37);
  std::map<char, int> const extents{{'a', 2}, {'b', 3}, {'c', 1}, {'i', 5}, {'j', 4}, {'k', 7}, {'l', 2}, {'m', 3}};
  for (std::string const text :
       {"i->i",          "ij->ji",       "ij->",     "ijk->ik",     "ij,jk->ik",    "ij,kj->ik",        "ji,jk->ki",
        "i,j->ij",       "i,i->",        "i,i->i",   "ij,ij->i",    "bij,bjk->bik", "aibj,akbj->abik",  "bij,jk->kbi",
        "bijk,bjl->bil", "ij,jk,kl->il", "i,ij,j->", "cij,cjk->ik", "ij,k->ki",     "abij,bjm,am->iab", "ij,->ji"}) {
    arrays in(1);
    std::string operands = text.substr(0, text.find('-'));
    std::vector<std::vector<int>> dims(1);
    for (char c : operands) {
      if (c == ',')
        dims.emplace_back();
      else
        dims.back().push_back(extents.at(c));
    }
    in.clear();
    for (auto const& d : dims) in.push_back(numbers.spread(make_dims(d), -1, 1));
    check_op(
        "einsum " + text, in,
        [&](vars const& v) {
          return v.size() == 1   ? tx::einsum(text, {v[0]})
                 : v.size() == 2 ? tx::einsum(text, {v[0], v[1]})
                                 : tx::einsum(text, {v[0], v[1], v[2]});
        },
        [&](arrays const& v) { return plain_einsum(text, v); });
  }
  array const x = numbers.spread(make_dims({3, 3}), -1, 1);
  check_op(
      "einsum of one tensor twice", {x}, [](vars const& v) { return tx::einsum<"ij, jk -> ik">(v[0], v[0]); },
      [](arrays const& v) {
        return plain_einsum("ij,jk->ik", {v[0], v[0]});
      });
}

TEST_CASE("axes without elements") {
  array const none{make_dims({2, 0, 3}), {}};
  auto same = [](arrays const& v) { return v[0]; };
  check_op(
      "flip", {none}, [](vars const& v) { return tx::flip<1>(v[0]); }, same, false);
  check_op(
      "cumsum", {none}, [](vars const& v) { return tx::cumsum<1>(v[0]); }, same, false);
  check_op(
      "concat", {none, none}, [](vars const& v) { return tx::concat<1>(v[0], v[1]); }, same, false);
  check_op(
      "split", {none}, [](vars const& v) { return tx::split<1, 2>(v[0])[1]; }, same, false);
  check_op(
      "stack", {none}, [](vars const& v) { return tx::stack<0>(v[0]); },
      [](arrays const&) {
        return filled(make_dims({1, 2, 0, 3}));
      },
      false);
}

// A bounded leading extent stays one, whatever happens to the other axes.
namespace {
using batch = tx::tensor<float, tx::dyn<5>, 4, 6>;
template <auto F>
using made = decltype(F(batch{}, tx::tensor<float, 6, 3>{}));
template <auto... Dims>
using sized = tx::tensor<float, Dims...>;
static_assert(
    std::is_same_v<made<[](auto x, auto) { return tx::concat<1>(x, tx::flip<1>(x)); }>, sized<tx::dyn<5>, 8, 6>>);
static_assert(
    std::is_same_v<made<[](auto x, auto) { return tx::stack<-1>(x, tx::cumsum<0>(x)); }>, sized<tx::dyn<5>, 4, 6, 2>>);
static_assert(
    std::is_same_v<made<[](auto x, auto) { return tx::split<2, 3>(tx::prod<1>(x))[0]; }>, sized<tx::dyn<5>, 1, 2>>);
static_assert(
    std::is_same_v<made<[](auto x, auto y) { return tx::einsum<"bij,jk->bki">(x, y); }>, sized<tx::dyn<5>, 3, 4>>);
static_assert(
    std::is_same_v<made<[](auto x, auto) { return tx::einsum<"bij,bkj->bik">(x, x); }>, sized<tx::dyn<5>, 4, 4>>);
}  // namespace

TEST_CASE("structural ops refuse what does not fit, with what to do about it") {
  using Catch::Contains;
  auto f = [](std::vector<int> const& dims) { return filled(make_dims(dims)); };
  auto i = [](std::vector<int> const& dims) { return array{make_dims(dims), {}, tx::dtype::i32}; };
  auto b = [](std::vector<int> const& dims) { return array{make_dims(dims), {}, tx::dtype::boolean}; };
  CHECK_THAT(refusal({f({2, 3}), f({3, 3})}, [](vars const& v) { return tx::concat<1>(v[0], v[1]); }),
             Contains("concat: extents") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3}), f({2})}, [](vars const& v) { return tx::concat<0>(v[0], v[1]); }),
             Contains("concat: extents"));
  CHECK_THAT(refusal({f({2, 3}), i({2, 3})}, [](vars const& v) { return tx::concat<1>(v[0], v[1]); }),
             Contains("element types") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::concat<2>(v[0]); }),
             Contains("no such axis") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::stack<3>(v[0]); }),
             Contains("stack") && Contains("FIX"));
  CHECK_THAT(refusal({f({1, 1, 1, 1, 1, 1})}, [](vars const& v) { return tx::stack<0>(v[0]); }),
             Contains("stack") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::split<1, 2>(v[0])[0]; }),
             Contains("split") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return std::get<0>(tx::split_sizes<1, 1, 1>(v[0])); }),
             Contains("do not add up") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::flip<-3>(v[0]); }),
             Contains("flip") && Contains("FIX"));
  CHECK_THAT(refusal({b({2})}, [](vars const& v) { return tx::cumsum<0>(v[0]); }),
             Contains("cumsum") && Contains("FIX"));
  CHECK_THAT(refusal({b({2})}, [](vars const& v) { return tx::prod<0>(v[0]); }), Contains("prod") && Contains("FIX"));
  auto einsum_of = [&](std::string const& text, arrays const& in) {
    return refusal(in, [&](vars const& v) {
      return v.size() == 1 ? tx::einsum(text, {v[0]}) : tx::einsum(text, {v[0], v[1]});
    });
  };
  CHECK_THAT(einsum_of("ij", {f({2, 3})}), Contains("neither commas nor") && Contains("FIX"));
  CHECK_THAT(einsum_of("ij,jk", {f({2, 3}), f({3, 4})}), Contains("does not name the result") && Contains("FIX"));
  CHECK_THAT(einsum_of("ij->ik", {f({2, 3})}), Contains("no operand has") && Contains("FIX"));
  CHECK_THAT(einsum_of("ii->i", {f({2, 2})}), Contains("twice") && Contains("FIX"));
  CHECK_THAT(einsum_of("ij->i...", {f({2, 3})}), Contains("something else") && Contains("FIX"));
  CHECK_THAT(einsum_of("i->i", {f({2, 3})}), Contains("number of axes") && Contains("FIX"));
  CHECK_THAT(einsum_of("ij->i", {f({2, 3}), f({2, 3})}), Contains("number of operands") && Contains("FIX"));
  CHECK_THAT(einsum_of("ij,jk->ik", {f({2, 3}), f({2, 3})}), Contains("two extents") && Contains("FIX"));
  CHECK_THAT(einsum_of("abcd,efgh->abcdefgh", {f({1, 1, 1, 1}), f({1, 1, 1, 1})}),
             Contains("more axes") && Contains("FIX"));
}
