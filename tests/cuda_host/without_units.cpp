// A device whose units for matrices no kernel knows, as those of HIP: products of halves run on vectors, attention is written out.
#include "../cuda/twinbert.hpp"
#include "compare.hpp"

#include <tx/train/options.hpp>

#include <catch2/catch.hpp>

namespace {

struct vectors_alone : interpreter::host_device {
  static constexpr bool matrix_units = false;
};
struct without_units : interpreted {
  static constexpr tx::target const& target = tx::hip_target;
  template <class Signature>
  using kernel = tx::backends::cuda::kernel<vectors_alone, Signature>;
};

}  // namespace

TEST_CASE("TwinBERT's training step in bf16 on a device without units for matrices") {
  using step = twinbert_step<tx::mixed<tx::bf16>>;
  auto const b = twinbert_batch();
  values const device = outcome<step, without_units>(2, b.query, b.document, b.label);
  CHECK(distance(device, outcome<typename one_by_one<step>::type, tx::reference>(2, b.query, b.document, b.label)) < 5e-3);
  interpreter::host_device::reversed = true;
  CHECK(device == outcome<step, without_units>(2, b.query, b.document, b.label));
  interpreter::host_device::reversed = false;
}
