// What a kernel makes again rather than reads, on targets whose kernels do.
#include <tx/backends/cpu/target.hpp>
#include <tx/inspect/tables.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

namespace {

using matrix = tx::tensor<float, 32, 32>;
using column = tx::tensor<float, 32, 1>;

// Nothing is part of a product's kernel, so that one lies between two kernels over rows.
template <bool Remakes>
constexpr tx::target apart = [] {
  tx::target to = tx::cpu_target;
  to.kernel.epilogues = false;
  to.remakes = Remakes;
  return to;
}();

// Of each kernel its ops, and how many matrices it reads and stores: "mul + exp 1 2".
template <auto F, bool Remakes = true>
std::vector<std::string> kernels() {
  auto const tables = tx::exec::tables_of<typename tx::function<F>::template program<apart<Remakes>>>();
  std::vector<std::string> all;
  for (tx::exec::call const& c : tables.calls) {
    auto const& k = tables.kernels[c.kernel];
    int reads = 0, stores = 0;
    for (int i = 0; i < k.ins; ++i) reads += tables.ins[k.first_in + i].how == tx::exec::access::contiguous;
    for (int o = 0; o < k.outs; ++o) stores += !tables.outs[k.first_out + o].per_row;
    all.push_back(tx::exec::name_of({tables, c}) + ' ' + std::to_string(reads) + ' ' + std::to_string(stores));
  }
  return all;
}
using names = std::vector<std::string>;

}  // namespace

TEST_CASE("A value is made again by who reads all that it is made of") {
  constexpr auto f = [](matrix x, column r, matrix w) {
    auto const s = x * 0.5f, n = s * r;
    auto const p = tx::matmul(tx::exp(n), w);
    return p * n + (p + s) * r;
  };
  CHECK(kernels<f, false>() == names{"mul + mul + exp 1 3", "matmul 0 1", "mul + add + mul + add 3 1"});
  CHECK(kernels<f>() == names{"mul + mul + exp 1 2", "matmul 0 1", "mul + mul + add + mul + add 2 1"});
  constexpr auto twice = [](matrix x, column r, matrix w) {
    auto const s = x * 0.5f, n = s * r;
    auto const p = tx::matmul(tx::exp(n), w);
    return (p * n + (p + s) * r) * (p + n);
  };
  CHECK(kernels<twice>() == names{"mul + mul + exp 1 2", "matmul 0 1", "mul + mul + add + mul + add + add + mul 2 1"});
}

TEST_CASE("A value is made again by who sees it in another shape, but not what it is made of") {
  constexpr auto seen_so = [](matrix x, column r, matrix w) {
    auto const s = x * 0.5f, n = s * r;
    auto const p = tx::matmul(tx::exp(n), w);
    auto const q = tx::reshape<4, 8, 32>(p) * tx::reshape<4, 8, 32>(n);
    return tx::reshape<32, 32>(q) + (p + s) * r;
  };
  CHECK(kernels<seen_so, false>() == names{"mul + mul + exp 1 3", "matmul 0 1", "mul + add + mul + add 3 1"});
  CHECK(kernels<seen_so>() == names{"mul + mul + exp 1 2", "matmul 0 1", "mul + mul + add + mul + add 2 1"});
  constexpr auto all_so = [](matrix x, column r, matrix w) {
    auto const s = x * 0.5f, n = s * r;
    auto const p = tx::reshape<4, 8, 32>(tx::matmul(tx::exp(n), w));
    return p * tx::reshape<4, 8, 32>(n) + p * tx::reshape<4, 8, 32>(s) * tx::reshape<4, 8, 1>(r);
  };
  CHECK(kernels<all_so>() == kernels<all_so, false>());
}

TEST_CASE("What a value that is made again is made of is made again, too") {
  constexpr auto chain = [](matrix x, column r, matrix w) {
    auto const s = x * 0.5f, n = s * r, m = n * 3.0f;
    auto const p = tx::matmul(tx::exp(m), w);
    return p * n + p * m + (p + s) * r;
  };
  CHECK(kernels<chain, false>() == names{"mul + mul + mul + exp 1 4", "matmul 0 1", "mul + mul + add + add + mul + add 4 1"});
  CHECK(kernels<chain>() == names{"mul + mul + mul + exp 1 2", "matmul 0 1", "mul + mul + mul + mul + add + add + mul + add 2 1"});
}

TEST_CASE("A value that its own kernel does not need is read: that would make nothing any more") {
  constexpr auto summed = [](matrix x, matrix w) {
    auto const e = tx::cumsum<0>(x), n = e * 0.5f;
    auto const p = tx::matmul(e, w);
    return p * n + p * e;
  };
  CHECK(kernels<summed>() == kernels<summed, false>());
}

TEST_CASE("A value is read where something that it is made of is not, or making it costs more") {
  constexpr auto without_s = [](matrix x, column r, matrix w) {
    auto const s = x * 0.5f, n = s * r;
    auto const p = tx::matmul(tx::exp(n), w);
    return p * n + p * r;
  };
  CHECK(kernels<without_s>() == kernels<without_s, false>());
  constexpr auto costs = [](matrix x, matrix w) {
    auto const s = x * 0.5f, n = tx::exp(s);
    auto const p = tx::matmul(n + 1.0, w);
    return p * n + p * s;
  };
  CHECK(kernels<costs>() == kernels<costs, false>());
}

TEST_CASE("A value is read where its reader sees its elements in another order") {
  constexpr auto turned = [](matrix x, column r, matrix w) {
    auto const s = x * 0.5f, n = s * r;
    auto const p = tx::matmul(tx::exp(n), w);
    return p * tx::transpose<1, 0>(n) + (p + s) * r;
  };
  CHECK(kernels<turned>() == kernels<turned, false>());
}
