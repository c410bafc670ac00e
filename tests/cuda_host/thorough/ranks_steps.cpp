// Steps that hold collectives, on interpreted devices: whatever these divide, they train the bits of one with all shards.
#include "../devices.hpp"

using namespace divided;

namespace {

struct small {
  param<tensor<float, width, 3>, init::normal<1, 2>> w;
  repeat<2, block<float>> body;
};
constexpr auto small_loss = [](small const& m, tensor<float, rows, width> x) {
  auto const y = matmul(m.body(x), m.w);
  return mean(y * y);
};
template <class... Options>
using small_step = train_step<small, small_loss, adamw, Options...>;

}  // namespace

TEST_CASE("three devices train the bits of one with all shards, whatever they divide") {
  using one_step = small_step<virtual_shards<3>, clip_gradient, gradient_norm>;
  auto const one = trained_on_devices<one_step>(1)[0];
  CHECK(one.told.front() != one.told[2]);
  auto const check = [&](auto const& ranks, char const* what) { check_same<small>(ranks, one, what); };
  check(trained_on_devices<small_step<data_parallel<3>, clip_gradient, gradient_norm>>(3), "data_parallel");
  check(trained_on_devices<small_step<data_parallel<3>, zero<1>, clip_gradient, gradient_norm>>(3), "zero<1>");
  check(trained_on_devices<small_step<data_parallel<3>, zero<2>, clip_gradient, gradient_norm>>(3), "zero<2>");
  check(trained_on_devices<small_step<data_parallel<3>, zero<3>, clip_gradient, gradient_norm>>(3), "zero<3>");
}

TEST_CASE("eight devices, with parameters in portions") {
  auto const one = trained_on_devices<small_step<virtual_shards<8>>>(1)[0];
  check_same<small>(trained_on_devices<small_step<data_parallel<8>, zero<3>>>(8), one, "zero<3>");
}

TEST_CASE("what devices have in portions is written whole") {
  using step = small_step<data_parallel<3>, zero<3>>;
  auto const told = on_devices(3, little, [](auto& all) {
    executor<step, distributed<interpreted, std::remove_cvref_t<decltype(all)>>> run{seed(3), all};
    auto whole = run.read();
    for (auto& x : whole) x *= -2;  // what lies between tensors stays zero
    run.write(whole);
    return run.read() == whole && run.from_first(all.rank() + 5.0) == 5;
  });
  CHECK(told == std::vector<int>(3, true));
}

TEST_CASE("ranks whose programs differ are told so before they begin") {
  std::string said;
  try {
    on_devices(2, {}, [](auto& all) {
      using on_devices = distributed<interpreted, std::remove_cvref_t<decltype(all)>>;
      if (all.rank() == 0) {
        executor<small_step<data_parallel<2>>, on_devices> run{seed(3), all};
        run(divided::batch<float>(0, 0, divided::rows));
      } else {
        executor<small_step<data_parallel<2>, clip_gradient>, on_devices> run{seed(3), all};
        run(divided::batch<float>(0, 0, divided::rows));
      }
      return 0;
    });
  } catch (error const& e) {
    said = e.what();
  }
  CHECK(said.find("begins with another program than other ranks") != std::string::npos);
}
