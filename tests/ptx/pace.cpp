#include "runner/pace.hpp"

#include "run_kernel.hpp"

#include <catch2/catch.hpp>

namespace {

ptx::pace::use paced(std::string const& body, unsigned threads = 32, unsigned blocks = 1) {
  ptx::device d;
  std::byte* const from = on_device(d, std::vector<float>(4096, 1.0f));
  std::byte* const to = d.memory.allocate(4096 * 4);
  auto const& m = d.load(kernel_text(" mul.wide.u32 %rd4, %r0, 4;\n add.s64 %rd5, %rd0, %rd4;\n add.s64 %rd6, %rd1, %rd4;\n" + body, ".shared .align 4 .b8 room[512];"));
  ptx::kernel const& k = m.code.kernels.at("k");
  ptx::pace p(k);
  std::vector<std::byte*> addresses{from, to, nullptr, nullptr};
  std::vector<void const*> arguments;
  for (auto const& a : addresses) arguments.push_back(&a);
  d.launch(m, k, {blocks, 1, 1}, {threads, 1, 1}, 0, arguments.data(), -1, &p);
  return p.used;
}

std::string const store = " add.f32 %f1, %f1, %f2;\n st.global.f32 [%rd6], %f1;";

}  // namespace

TEST_CASE("what is asked of memory together is waited for once, and what is asked behind a wait a second time", "[ptx]") {
  auto const together = paced(" ld.global.f32 %f1, [%rd5];\n ld.global.f32 %f2, [%rd5+4096];\n" + store);
  auto const apart = paced(" ld.global.f32 %f1, [%rd5];\n add.f32 %f3, %f1, %f1;\n setp.lt.f32 %p1, %f3, 0f00000000;\n @%p1 bra $on;\n$on:\n ld.global.f32 %f2, [%rd5+4096];\n" + store);
  CHECK(together.cycles > 700);
  CHECK(together.cycles < 800);
  CHECK(apart.cycles > 1400);
  CHECK(apart.cycles < 1500);
  CHECK(together.lines == 3);  // of 128 bytes: two that are read, one that is written
}

TEST_CASE("memory that a launch has read before is nearer, and the block's own is nearest", "[ptx]") {
  auto const again = paced(" ld.global.f32 %f1, [%rd5];\n add.f32 %f3, %f1, %f1;\n setp.lt.f32 %p1, %f3, 0f00000000;\n @%p1 bra $on;\n$on:\n ld.global.f32 %f2, [%rd5];\n" + store);
  CHECK(again.cycles > 950);
  CHECK(again.cycles < 1100);
  CHECK(again.lines == 2);
  auto const shared = paced(" mov.u32 %r3, room;\n shl.b32 %r4, %r0, 2;\n add.u32 %r4, %r3, %r4;\n mov.f32 %f1, 0f3f800000;\n st.shared.f32 [%r4], %f1;\n ld.shared.f32 %f2, [%r4];\n" + store);
  CHECK(shared.cycles > 30);
  CHECK(shared.cycles < 80);
}

TEST_CASE("at a barrier the last warp is waited for, and blocks are added up", "[ptx]") {
  std::string const first_reads = " setp.ge.u32 %p1, %r0, 32;\n @%p1 bra $met;\n ld.global.f32 %f1, [%rd5];\n add.f32 %f3, %f1, %f1;\n setp.lt.f32 %p2, %f3, 0f00000000;\n @%p2 bra $met;\n$met:\n bar.sync 0;\n";
  auto const one = paced(first_reads, 64), two = paced(first_reads, 64, 2);
  CHECK(one.cycles > 700);
  CHECK(one.cycles < 800);
  CHECK(two.cycles > one.cycles + 200);  // the second block's line is near
  CHECK(two.instructions == 2 * one.instructions);
}

TEST_CASE("divisions and products of 64 bits take more than one issue", "[ptx]") {
  std::uint64_t const plain = paced("").instructions;
  CHECK(paced(" add.u32 %r3, %r0, %r1;").instructions == plain + 1);
  CHECK(paced(" mul.lo.u64 %rd7, %rd4, %rd4;").instructions == plain + 3);
  CHECK(paced(" div.u32 %r3, %r0, 3;").instructions > plain + 10);
  CHECK(paced(" mov.u32 %r3, %r0;").instructions == plain);
}
