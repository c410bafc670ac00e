// Interpreted devices that divide heads and layers of a step.
#include "../devices.hpp"

#include <tx/dist/tensor_parallel.hpp>
#include <tx/nn/multi_head_attention.hpp>
#include <tx/ops/gelu.hpp>

using namespace divided;

namespace {

// Four heads of eight numbers, whose attention is a kernel where they are halves and products where they are not.
struct attending {
  nn::multi_head_attention<32, 4> attention;
  nn::linear<32, 48> in;
  nn::linear<48, 32> out;
};
constexpr auto attended = [](attending const& m, tensor<float, 2, 4, 32> x) {
  auto const y = x + m.attention(x);
  auto const z = y + m.out(gelu(m.in(y)));
  return mean(z * z);
};
template <class... Options>
using attending_step = train_step<attending, attended, adamw, Options...>;
// Losses of two steps, and then the parameters.
template <class Step>
auto attending_on(int ranks) {
  return on_devices(ranks, little, [](auto& all) {
    executor<Step, distributed<interpreted, std::remove_cvref_t<decltype(all)>>> run{seed(3), all};
    run.settings["learning_rate"] = 0.01f;
    run.settings.set("dropout", 0.3f);
    std::vector<float> x, told;
    for (int i = 0; i < 2 * 4 * 32; ++i) x.push_back(static_cast<float>((i * 7) % 13) / 13.0f - 0.4f);
    for (int s = 0; s < 2; ++s) told.push_back(run(x).loss);
    auto const parameters = run.read();
    told.insert(told.end(), parameters.begin(), parameters.end());
    return told;
  });
}
template <class... Options>
void check_attending(double epsilon, float apart) {
  auto const one = attending_on<attending_step<Options...>>(1)[0];
  auto const two = attending_on<attending_step<tensor_parallel<2>, Options...>>(2);
  CHECK(two[0] == two[1]);
  for (std::size_t k = 0; k < 2; ++k) CHECK(two[0][k] == Approx(one[k]).epsilon(epsilon));
  std::size_t far = 0;  // where a gradient is rounding alone, Adam's step is of any sign
  for (std::size_t i = 2; i < one.size(); ++i) far += !(std::abs(two[0][i] - one[i]) <= apart);
  CHECK(far * 50 <= one.size());
  CHECK(one[0] != one[1]);
}

}  // namespace

TEST_CASE("two devices that divide heads and layers train what one does, and drop the same numbers") {
  check_attending<>(1e-5, 1e-4f);
  check_attending<mixed<bf16>>(5e-3, 5e-3f);
}
