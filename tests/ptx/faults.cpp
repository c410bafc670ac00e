// Programs that a device would run without a word: the runner says what is wrong, with the kernel's name and the line.
#include "run_kernel.hpp"

#include "runner/fault.hpp"

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;

namespace {

// Every thread writes its number to shared memory and reads its neighbour's.
std::string neighbours(std::string const& between) {
  return kernel_text(
      " shl.b32 %r2, %r0, 2;\n mov.u32 %r3, room;\n add.s32 %r4, %r3, %r2;\n st.shared.u32 [%r4], %r0;\n " + between +
          "\n mov.u32 %r5, %ntid.x;\n add.s32 %r6, %r0, 1;\n rem.u32 %r7, %r6, %r5;\n shl.b32 %r8, %r7, 2;\n add.s32 "
          "%r9, %r3, %r8;\n ld.shared.u32 %r10, [%r9];\n"
          " mul.wide.u32 %rd4, %r0, 4;\n add.s64 %rd5, %rd0, %rd4;\n st.global.u32 [%rd5], %r10;",
      ".extern .shared .align 16 .b8 room[];");
}

std::string fault_of(std::string const& text, shape_of_launch s, std::size_t bytes = 4096,
                     ptx::order in = ptx::order::forwards) {
  ptx::device gpu(in);
  std::vector<std::uint32_t> const numbers(bytes / 4, 7);
  try {
    run_text(gpu, text, s, {on_device(gpu, numbers), gpu.memory.allocate(bytes)});
  } catch (ptx::fault const& f) {
    return f.what();
  }
  return "nothing is wrong";
}

}  // namespace

TEST_CASE("a barrier that is missing is found in both orders, and one that is there is enough", "[ptx]") {
  for (auto const in : orders) {
    CHECK_THAT(fault_of(neighbours(""), {1, 64, 256, -1}, 4096, in),
               Contains("kernel k") && Contains("ld.shared.u32") &&
                   (Contains("no barrier is between") || Contains("was never written")));
    CHECK(fault_of(neighbours("bar.sync 0;"), {1, 64, 256, -1}, 4096, in) == "nothing is wrong");
    // A warp's own meeting is enough for a warp, not for two.
    CHECK(fault_of(neighbours("bar.warp.sync 0xffffffff;"), {1, 32, 128, -1}, 4096, in) == "nothing is wrong");
    CHECK(fault_of(neighbours("bar.warp.sync 0xffffffff;"), {1, 64, 256, -1}, 4096, in) != "nothing is wrong");
  }
}

TEST_CASE("leaving out a barrier by its number is noticed", "[ptx]") {
  CHECK(fault_of(neighbours("bar.sync 0;"), {1, 64, 256, 0}) != "nothing is wrong");
  CHECK(fault_of(neighbours("bar.sync 0;"), {1, 64, 256, 1}) == "nothing is wrong");  // there is no second one
}

TEST_CASE("lanes of a warp are threads of their own: what one writes another may not read at once", "[ptx]") {
  CHECK_THAT(fault_of(neighbours(""), {1, 32, 128, -1}),
             Contains("no barrier is between") || Contains("was never written"));
}

TEST_CASE("what is read may not be written without a barrier", "[ptx]") {
  auto const text = [](std::string const& between) {
    return kernel_text(
        " shl.b32 %r2, %r0, 2;\n mov.u32 %r3, room;\n add.s32 %r4, %r3, %r2;\n st.shared.u32 [%r4], %r0;\n bar.sync "
        "0;\n ld.shared.u32 %r5, [%r3];\n " +
            between + "\n setp.eq.s32 %p1, %r0, 0;\n @%p1 st.shared.u32 [%r3], %r5;",
        ".extern .shared .align 16 .b8 room[];");
  };
  CHECK_THAT(fault_of(text(""), {1, 64, 256, -1}), Contains("another thread reads it") && Contains("st.shared.u32"));
  CHECK(fault_of(text("bar.sync 0;"), {1, 64, 256, -1}) == "nothing is wrong");
}

TEST_CASE("blocks that write the same place are found, unless they do it atomically", "[ptx]") {
  CHECK_THAT(fault_of(kernel_text(" setp.eq.s32 %p1, %r0, 0;\n @%p1 st.global.u32 [%rd0], %r1;"), {2, 32, 0, -1}),
             Contains("another thread writes it"));
  CHECK(fault_of(kernel_text(" red.global.add.u32 [%rd0], 1;"), {4, 64, 0, -1}) == "nothing is wrong");
  CHECK(fault_of(kernel_text(" setp.eq.s32 %p1, %r0, 0;\n mul.wide.u32 %rd4, %r1, 1;\n add.s64 %rd5, %rd0, %rd4;\n "
                             "@%p1 st.global.u8 [%rd5], %r1;"),
                 {4, 32, 0, -1}) == "nothing is wrong");  // bytes side by side
}

namespace {
// Each thread of four blocks writes a number; the block that comes last, by a count that begins at 7, adds up what threads of all blocks wrote.
std::string last_block(std::string const& barrier, std::string const& release, std::string const& acquire, std::string const& told) {
  return kernel_text(
      " mad.lo.u32 %r2, %r1, 64, %r0;\n mul.wide.u32 %rd4, %r2, 4;\n add.s64 %rd5, %rd1, %rd4;\n st.global.u32 [%rd5], %r1;\n mov.u32 %r3, room;\n " +
          barrier + "\n setp.ne.u32 %p0, %r0, 0;\n @%p0 bra MET;\n " + release + "\n atom.global.add.u32 %r4, [%rd0], 1;\n " + acquire +
          "\n st.shared.u32 [%r3], %r4;\nMET:\n " + told +
          "\n ld.shared.u32 %r5, [%r3];\n setp.ne.u32 %p1, %r5, 10;\n @%p1 bra DONE;\n add.u32 %r6, %r0, 1;\n and.b32 %r6, %r6, 63;\n mul.wide.u32 %rd6, %r6, 4;\n"
          " add.s64 %rd7, %rd1, %rd6;\n ld.global.u32 %r7, [%rd7];\n ld.global.u32 %r8, [%rd7+256];\n ld.global.u32 %r9, [%rd7+512];\n"
          " ld.global.u32 %r10, [%rd7+768];\n add.u32 %r7, %r7, %r8;\n add.u32 %r7, %r7, %r9;\n add.u32 %r7, %r7, %r10;\n"
          " mul.wide.u32 %rd8, %r0, 4;\n add.s64 %rd9, %rd1, %rd8;\n st.global.u32 [%rd9+1024], %r7;\nDONE:",
      ".extern .shared .align 16 .b8 room[];");
}
}  // namespace

TEST_CASE("the block that comes last reads what others wrote, if both fence, and their threads meet before and after", "[ptx]") {
  std::string const met = "bar.sync 0;", fenced = "membar.gl;";
  for (auto const in : orders) {
    shape_of_launch const four{4, 64, 4, -1};
    CHECK(fault_of(last_block(met, fenced, fenced, met), four, 4096, in) == "nothing is wrong");
    CHECK(fault_of(last_block(met, "fence.acq_rel.gpu;", fenced, met), four, 4096, in) == "nothing is wrong");
    CHECK(fault_of(last_block(met, "", fenced, met), four, 4096, in) != "nothing is wrong");
    CHECK(fault_of(last_block(met, fenced, "", met), four, 4096, in) != "nothing is wrong");
    CHECK(fault_of(last_block(met, "membar.cta;", fenced, met), four, 4096, in) != "nothing is wrong");
    CHECK(fault_of(last_block("", fenced, fenced, met), four, 4096, in) != "nothing is wrong");
    CHECK(fault_of(last_block(met, fenced, fenced, ""), four, 4096, in) != "nothing is wrong");
  }
}

TEST_CASE("memory that nobody wrote, or that is not there", "[ptx]") {
  CHECK_THAT(fault_of(kernel_text(" ld.global.u32 %r2, [%rd1+16];"), {1, 1, 0, -1}),
             Contains("it was never written") && Contains("byte 16 of an allocation of 4096"));
  CHECK_THAT(fault_of(kernel_text(" ld.global.u32 %r2, [%rd0+4096];"), {1, 1, 0, -1}),
             Contains("no memory of the device"));
  CHECK_THAT(fault_of(kernel_text(" st.global.v2.u32 [%rd0+4092], {%r0, %r1};"), {1, 1, 0, -1}),
             Contains("no memory of the device"));
  CHECK_THAT(fault_of(kernel_text(" ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd0+8];"), {1, 1, 0, -1}),
             Contains("no multiple of 16"));
  CHECK_THAT(fault_of(kernel_text(" mov.u32 %r3, room;\n ld.shared.u32 %r2, [%r3+256];",
                                  ".extern .shared .align 16 .b8 room[];"),
                      {1, 1, 256, -1}),
             Contains("shared memory has 256 bytes"));
  CHECK_THAT(
      fault_of(kernel_text(" mov.u32 %r3, room;\n ld.shared.u32 %r2, [%r3];", ".extern .shared .align 16 .b8 room[];"),
               {1, 1, 256, -1}),
      Contains("it was never written"));
}

TEST_CASE("barriers that not all threads come to", "[ptx]") {
  CHECK_THAT(
      fault_of(
          kernel_text(
              " setp.lt.u32 %p1, %r0, 32;\n @%p1 bra $one;\n bar.sync 0;\n bra.uni $end;\n$one:\n bar.sync 0;\n$end:"),
          {1, 64, 0, -1}),
      Contains("different barriers"));
  CHECK_THAT(
      fault_of(
          kernel_text(
              " setp.lt.u32 %p1, %r0, 8;\n @%p1 bra $one;\n bar.sync 0;\n bra.uni $end;\n$one:\n bar.sync 0;\n$end:"),
          {1, 32, 0, -1}),
      Contains("different barriers"));
  CHECK_THAT(fault_of(kernel_text(" setp.lt.u32 %p1, %r0, 8;\n @%p1 ret;\n bar.sync 0;"), {1, 32, 0, -1}),
             Contains("never come to"));
  CHECK_THAT(fault_of(kernel_text(" setp.lt.u32 %p1, %r0, 8;\n @%p1 bra $other;\n bar.warp.sync 0xffffffff;\n bra.uni "
                                  "$end;\n$other:\n vote.sync.ballot.b32 %r2, %p1, -1;\n$end:"),
                      {1, 32, 0, -1}),
             Contains("lanes of its warp that never come"));
}

TEST_CASE("text that the runner does not know is refused with its line", "[ptx]") {
  CHECK_THROWS_WITH(fault_of(kernel_text(" frobnicate.b32 %r2, %r3;"), {}),
                    Contains("line 24") && Contains("frobnicate"));
  CHECK_THROWS_WITH(fault_of(kernel_text(" add.s32 %r2, %r3, %nowhere;"), {}), Contains("%nowhere"));
  CHECK_THROWS_WITH(fault_of(kernel_text(" bra $nowhere;"), {}), Contains("a label that is not there"));
}

TEST_CASE("a launch of more threads or shared memory than there may be", "[ptx]") {
  CHECK_THAT(fault_of(kernel_text(""), {1, 2048, 0, -1}), Contains("blocks of up to 1024 threads"));
  CHECK_THAT(fault_of(kernel_text(""), {1, 32, 228 << 10, -1}), Contains("shared memory"));
}

TEST_CASE("atomic operations are in no order with plain ones, and read what was there", "[ptx]") {
  // Each block adds, and reads what is there then: what it reads is anybody's guess.
  CHECK_THAT(fault_of(kernel_text(" red.global.add.u32 [%rd0], 1;\n ld.global.u32 %r2, [%rd0];"), {2, 1, 0, -1}),
             Contains("no barrier is between"));
  CHECK(fault_of(kernel_text(" red.global.add.u32 [%rd0], 1;\n ld.global.u32 %r2, [%rd0];"), {1, 1, 0, -1}) ==
        "nothing is wrong");
  CHECK_THAT(fault_of(kernel_text(" red.global.add.u32 [%rd1], 1;"), {1, 1, 0, -1}), Contains("it was never written"));
}

TEST_CASE("local memory is the thread's own, and new in each block", "[ptx]") {
  auto const text = [](std::string const& body) {
    return kernel_text(" .local .align 8 .b8 own[16];\n mov.u64 %rd4, own;\n " + body);
  };
  CHECK(fault_of(text("st.local.u32 [%rd4+8], %r0;\n ld.local.u32 %r2, [%rd4+8];\n cvta.local.u64 %rd5, %rd4;\n ld.u32 "
                      "%r3, [%rd5+8];"),
                 {2, 64, 0, -1}) == "nothing is wrong");
  CHECK_THAT(fault_of(text("ld.local.u32 %r2, [%rd4+8];"), {1, 1, 0, -1}),
             Contains("local memory that was never written"));
  CHECK_THAT(fault_of(text("setp.eq.u32 %p1, %r1, 0;\n @%p1 st.local.u32 [%rd4], %r0;\n ld.local.u32 %r2, [%rd4];"),
                      {2, 1, 0, -1}),
             Contains("never written"));
  CHECK_THAT(fault_of(text("cvta.local.u64 %rd5, %rd4;\n st.v4.u32 [%rd5+16], {%r0, %r0, %r0, %r0};"), {1, 2, 0, -1}),
             Contains("kernel k"));
  CHECK_THAT(fault_of(text("cvta.local.u64 %rd5, %rd4;\n st.v2.u32 [%rd5+12], {%r0, %r0};"), {1, 2, 0, -1}),
             Contains("local memory"));
}

TEST_CASE("memory that a load promises is only read", "[ptx]") {
  CHECK(fault_of(kernel_text(" ld.global.nc.u32 %r2, [%rd0];"), {1, 1, 0, -1}) == "nothing is wrong");
  CHECK_THAT(fault_of(kernel_text(" st.global.u32 [%rd0], 1;\n ld.global.nc.u32 %r2, [%rd0];"), {1, 1, 0, -1}),
             Contains("only read"));
}

TEST_CASE("what lanes of a warp that met had written the others may read, and no more", "[ptx]") {
  auto const text = [](std::string const& reads) {
    return kernel_text(
        " setp.lt.u32 %p1, %r0, 16;\n shl.b32 %r2, %r0, 2;\n mov.u32 %r3, room;\n add.s32 %r4, %r3, %r2;\n "
        "st.shared.u32 [%r4], %r0;\n selp.b32 %r5, 0x0000ffff, 0xffff0000, %p1;\n bar.warp.sync %r5;\n"
        " xor.b32 %r6, %r0, " +
            reads + ";\n shl.b32 %r7, %r6, 2;\n add.s32 %r8, %r3, %r7;\n ld.shared.u32 %r9, [%r8];",
        ".extern .shared .align 16 .b8 room[];");
  };
  CHECK(fault_of(text("15"), {1, 32, 128, -1}) == "nothing is wrong");                    // of its half
  CHECK_THAT(fault_of(text("16"), {1, 32, 128, -1}), Contains("no barrier is between"));  // of the other one
}

TEST_CASE("lanes that ended are not waited for, masks that disagree are refused", "[ptx]") {
  CHECK(fault_of(kernel_text(" setp.lt.u32 %p1, %r0, 8;\n @%p1 ret;\n vote.sync.ballot.b32 %r9, %p1, -1;"),
                 {1, 32, 0, -1}) == "nothing is wrong");
  CHECK_THAT(
      fault_of(kernel_text(" setp.lt.u32 %p1, %r0, 8;\n selp.b32 %r5, -1, 0xffffff00, %p1;\n bar.warp.sync %r5;"),
               {1, 32, 0, -1}),
      Contains("different masks"));
}

TEST_CASE("labels belong to their scope", "[ptx]") {
  auto const part = [](std::string const& to) {
    return " {\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra L;\n mov.u32 %r2, 9;\n L: add.u32 %r2, %r2, " + to + ";\n }\n";
  };
  CHECK(fault_of(kernel_text(" mov.u32 %r2, 0;\n" + part("1") + part("10") + " setp.ne.u32 %p2, %r2, 11;\n @%p2 trap;"),
                 {1, 1, 0, -1}) == "nothing is wrong");
  CHECK_THROWS_WITH(fault_of(kernel_text("L:\nL: bra L;"), {}), Contains("twice"));
  CHECK_THROWS_WITH(fault_of(kernel_text(" @%nobody mov.u32 %r2, 0;"), {}), Contains("no predicate"));
  CHECK_THROWS_WITH(fault_of(kernel_text(" add.sat.s32 %r2, %r3, %r4;"), {}), Contains("add.sat.s32"));
}
