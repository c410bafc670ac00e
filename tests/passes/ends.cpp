// Products that a target's library computes: nothing joins them but rounding to halves, or addition to a value, and what is made of them is one kernel with its readers.
#include <tx/backends/cpu/target.hpp>
#include <tx/inspect/tables.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

namespace {

using x = tx::tensor<tx::bf16, 32, 64>;
using w = tx::tensor<tx::bf16, 64, 32>;
using y = tx::tensor<tx::f32, 32, 32>;

constexpr tx::target ends_all = [] {
  tx::target to = tx::cpu_target;
  to.kernel.ends_product = [](tx::passes::product_shape const& p) { return p.type == tx::dtype::bf16 && p.rows == 32 && p.cols == 32 && p.depth == 64 && p.matrices == 1; };
  return to;
}();

template <auto F>
std::vector<std::string> kernels() {
  auto const tables = tx::exec::tables_of<typename tx::function<F>::template program<ends_all>>();
  std::vector<std::string> names;
  for (tx::exec::call const& c : tables.calls) names.push_back(tx::exec::name_of({tables, c}));
  return names;
}
using names = std::vector<std::string>;

constexpr auto product = [](auto const& a, auto const& b) { return tx::matmul(a, b); };
struct pair_of {
  tx::tensor<tx::f32> a, b;
};

}  // namespace

TEST_CASE("what is made of a product is a kernel of its own") {
  constexpr auto f = [](x a, w b, y c) { return tx::sum(tx::tanh(product(a, b) * 2.0 + c) * c); };
  CHECK(kernels<f>().front() == "matmul");
  CHECK(kernels<f>()[1].starts_with("mul + add + tanh + mul + "));
}

TEST_CASE("a rounded product is rounded where it is made, unless something else reads it") {
  constexpr auto once = [](x a, w b, y c) { return tx::cast<float>(tx::cast<tx::bf16>(product(a, b))) + c; };
  CHECK(kernels<once>() == names{"matmul + cast", "cast + add"});
  constexpr auto twice = [](x a, w b, y c) {
    auto const p = product(a, b);
    return tx::cast<float>(tx::cast<tx::bf16>(p)) * c + p;
  };
  CHECK(kernels<twice>() == names{"matmul", "cast + cast + mul + add"});
}

TEST_CASE("a product is added to a value where it is made") {
  constexpr auto behind = [](x a, w b, y c) { return tx::tanh(product(a, b) + c); };
  CHECK(kernels<behind>() == names{"matmul + add", "tanh"});
  constexpr auto both = [](x a, w b, w c) { return product(a, b) + product(a, c); };
  CHECK(kernels<both>() == names{"matmul", "matmul + add"});
  constexpr auto row = [](x a, w b, tx::tensor<tx::f32, 32> c) { return product(a, b) + c; };  // [32, 32] + [32]: no value of its shape
  CHECK(kernels<row>() == names{"matmul", "add"});
  constexpr auto itself = [](x a, w b) {
    auto const p = product(a, b);
    return p + p;
  };
  CHECK(kernels<itself>() == names{"matmul", "add"});
}

TEST_CASE("a row of halves is added to a product that is rounded, where it is made") {
  using row = tx::tensor<tx::bf16, 32>;
  constexpr auto f = [](x a, w b, row c, y d) { return tx::cast<float>(tx::cast<tx::bf16>(product(a, b) + tx::cast<float>(tx::broadcast_to<32, 32>(c)))) * d; };
  CHECK(kernels<f>() == names{"matmul + cast + add + cast", "cast + mul"});
  constexpr auto unrounded = [](x a, w b, row c, y d) { return tx::tanh(product(a, b) + tx::cast<float>(c)) * d; };
  CHECK(kernels<unrounded>().front() == "matmul");
  constexpr auto twice = [](x a, w b, row c, y d) {
    auto const sum = product(a, b) + tx::cast<float>(c);
    return tx::cast<float>(tx::cast<tx::bf16>(sum)) * d + sum;
  };
  CHECK(kernels<twice>().front() == "matmul");
  constexpr auto of_floats = [](x a, w b, tx::tensor<tx::f32, 32> c) { return tx::cast<tx::bf16>(product(a, b) + c); };
  CHECK(kernels<of_floats>().front() == "matmul");
}

TEST_CASE("what waits for a reader behind such products joins the first one") {
  constexpr auto f = [](x a, w b, w c) {
    auto const p = product(a, b) * 2.0, q = product(a, c) * 3.0;
    return pair_of{tx::sum(p * q), tx::sum(q)};
  };
  auto const k = kernels<f>();
  CHECK(k[0] == "matmul");
  CHECK(k[1] == "matmul");
  CHECK(k.size() <= 4);
  for (std::size_t i = 2; i < k.size(); ++i) CHECK(k[i].find("matmul") == std::string::npos);
}
