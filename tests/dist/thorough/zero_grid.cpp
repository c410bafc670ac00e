// zero<1> to zero<3> beside tensor_parallel, with other options, optimizers and numbers of ranks.
#include "../heads_on_grid.hpp"

#include <tx/train/lion.hpp>

using namespace divided;

namespace {

// Of matrices that are large beside their vectors.
struct fed_on {
  nn::linear<64, 256> in;
  nn::linear<256, 64> out;
  constexpr auto operator()(tensor<float, 8, 64> const& x) const { return x + out(gelu(in(x))); }
};
struct fed_on_twice {
  repeat<2, fed_on> body;
};
constexpr auto loss_of_fed = [](fed_on_twice const& m, tensor<float, 8, 64> x) {
  auto const y = m.body(x);
  return mean(y * y);
};
template <class... Options>
using fed = train_step<fed_on_twice, loss_of_fed, adamw, Options...>;

}  // namespace

TEST_CASE("ranks with the same portion divide its states, its gradient and itself, to the same bits") {
  auto const wanted = trained_grid<of_grid<data_parallel<2>>>(4);
  CHECK(trained_grid<of_grid<data_parallel<2>, zero<2>>>(4) == wanted);
  CHECK(trained_grid<parameters_too>(4) == wanted);
  check_alike<of_grid<data_parallel<3>, zero<1>, clip_gradient, accumulate<2>>, of_grid<data_parallel<3>, clip_gradient, accumulate<2>>>(6);
  check_alike<heads_by<lion, tensor_parallel<2>, data_parallel<5>, zero<1>, loss_scale, mixed<f16>>, heads_by<lion, tensor_parallel<2>, data_parallel<5>, loss_scale, mixed<f16>>>(10);
}

TEST_CASE("a rank's states are a part of its portion of the parameters") {
  using whole = fed<tensor_parallel<2>, data_parallel<4>>;
  using in_parts = fed<tensor_parallel<2>, data_parallel<4>, zero<1>>;
  STATIC_REQUIRE(in_parts::memory.parameters == whole::memory.parameters);
  constexpr std::int64_t matrices = 2 * 64 * 256, vectors = 2 * (256 + 64);  // of which vectors are kept whole, in rows of 1,024
  constexpr std::int64_t of_adam = 2 * std::int64_t{sizeof(float)};
  CHECK(whole::memory.optimizer >= of_adam * (matrices / 2 * 2));
  CHECK(in_parts::memory.optimizer >= of_adam * (matrices / 2 * 2 / 4));
  CHECK(in_parts::memory.optimizer <= of_adam * (matrices / 2 * 2 / 4 + vectors + 1024));
}

TEST_CASE("a program beside a step whose parameters batches divide too gathers what it uses") {
  using scores_of = function<loss_of_heads, stacked_heads, kept_as<parameters_too>>;
  STATIC_REQUIRE(parameters_too::memory.parameters < divided_again::memory.parameters);
  auto const x = numbers(3 * 4 * 8, 7);
  auto const told = on_ranks(4, [&](dist::local& rank) {
    running<parameters_too> run{seed(3), rank, {.threads = 1}};
    trained_heads(run, grid_of<parameters_too>(4).batch_of(rank.rank()));
    executor<scores_of, distributed<cpu, dist::local>> score{run, {.threads = 1}};
    executor<function<loss_of_heads, stacked_heads>, cpu> alone{seed(3), {.threads = 1}};
    alone.write(run.read());
    return std::pair(score(x).value, alone(x).value);
  });
  for (auto const& [of_ranks, of_one] : told) CHECK(of_ranks == Approx(of_one).epsilon(1e-5));
}
