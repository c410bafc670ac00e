#include "runner/analysis.hpp"

#include "run_kernel.hpp"
#include "runner/parse.hpp"

#include <catch2/catch.hpp>

TEST_CASE("what can be told of a kernel by reading it", "[ptx]") {
  auto const facts = [](std::string const& body) {
    return ptx::facts_of(ptx::parse(kernel_text(body)).kernels.at("k"));
  };
  auto const loop = facts(
      " div.s32 %r2, %r0, 3;\n$again:\n div.u32 %r3, %r0, %r2;\n rem.s64 %rd4, %rd5, %rd6;\n div.rn.f32 %f1, %f2, "
      "%f3;\n"
      " setp.ne.u32 %p1, %r3, 0;\n @%p1 bra $again;\n rem.u32 %r4, %r0, 5;\n bar.sync 0;\n cp.async.wait_all;");
  CHECK(loop.divisions_in_loops == 2);
  CHECK(loop.barriers == 2);
  CHECK(loop.instructions == 6 + 9 + 2);  // with what loads the parameters, and two ways to end
  auto const wide = facts(
      " ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd0];\n st.global.v2.u32 [%rd1], {%r2, %r3};\n @%p1 st.global.u8 "
      "[%rd1], %r2;\n"
      " ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r8];");
  CHECK(wide.widest_load == 16);
  CHECK(wide.widest_store == 8);
  CHECK(wide.divisions_in_loops == 0);
}
