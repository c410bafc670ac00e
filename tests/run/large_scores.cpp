// Attention whose scores are huge, or masks that are added: probabilities are what they are without what all scores have in common, and nobody sees what
// causality hides. In products and in kernels, forward and backward.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/attend.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <limits>

namespace {

// All queries and keys 0, all values 1: a row of equal scores has equal probabilities.
constexpr int head = 16;
template <int Places>
using numbers = tx::tensor<float, 1, 1, Places, head>;
template <int Places>
struct values {
  tx::param<numbers<Places>, tx::init::zeros> q, k;
  tx::param<numbers<Places>, tx::init::ones> v;
};
template <int Places>
using biases = tx::tensor<float, 1, 1, Places, Places>;
template <int Places>
constexpr auto total = [](values<Places> const& m, biases<Places> b) { return tx::sum(tx::nn::attend(m.q, m.k, m.v, b, tx::nn::drop(0))); };
template <int Places>
constexpr auto causal = [](numbers<Places> x, biases<Places> b) { return tx::nn::attend(x, x, x, b, tx::nn::causal, tx::nn::drop(0)); };

constexpr float lowest = std::numeric_limits<float>::lowest(), none = -std::numeric_limits<float>::infinity();

template <int Places, class Backend>
void check_equal_shares() {
  tx::executor<tx::value_and_grad<total<Places>, values<Places>>, Backend> run{tx::seed(1)};
  for (float const all : {0.f, 1e4f, -1e4f, -1e7f, 1e9f, -1e9f, -1e30f, -2.3e38f, lowest, none}) {
    CAPTURE(Places, all);
    std::vector<float> const b(static_cast<std::size_t>(Places) * Places, all);
    auto const r = run(b);
    CHECK(r.value == Approx(Places * head).epsilon(1e-5));
    for (auto const& t : r.gradient.tensors())
      for (float const x : t.data) REQUIRE(x == Approx(t.name == "v" ? 1.f : 0.f).margin(1e-5));
  }
}

// The last value is seen by the last query alone, also by those all of whose keys a mask leaves out.
template <int Places, class Backend>
void check_causal() {
  tx::executor<tx::function<causal<Places>>, Backend> run{tx::seed(1)};
  std::vector<float> x(static_cast<std::size_t>(Places) * head);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 101 - 0.5f;
  auto other = x;
  for (std::size_t d = x.size() - head; d < x.size(); ++d) other[d] = 9;
  for (float const hidden : {-1e9f, -2e30f, lowest, none}) {
    CAPTURE(Places, hidden);
    std::vector<float> b(static_cast<std::size_t>(Places) * Places);
    for (std::size_t i = 0; i < b.size(); ++i)
      if (i % Places < Places * 3 / 4) b[i] = hidden;
    auto const one = run(x, b).value;
    std::vector<float> const first(one.begin(), one.end());
    auto const two = run(other, b).value;
    for (std::size_t i = 0; i + head < x.size(); ++i) REQUIRE(first[i] == two[i]);
    for (std::size_t d = x.size() - head; d < x.size(); ++d) REQUIRE(first[d] != two[d]);
  }
}

}  // namespace

TEST_CASE("scores that are all the same have equal probabilities, however large", "[attention]") {
  check_equal_shares<8, tx::reference>();
  check_equal_shares<64, tx::cpu>();    // in products
  check_equal_shares<600, tx::cpu>();   // by the kernel
}

TEST_CASE("no mask that is added makes a query see what comes behind it", "[attention]") {
  check_causal<8, tx::reference>();
  check_causal<64, tx::cpu>();
  check_causal<600, tx::cpu>();
}
