// What threads of a warp do together: parting and meeting again, exchanges, votes, products of matrices.
#include "run_kernel.hpp"

#include "runner/fault.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using Catch::Matchers::Contains;

namespace {

// What each thread has in %r9 at the end.
std::vector<std::uint32_t> left_by(std::string const& body, unsigned threads = 32,
                                   ptx::order in = ptx::order::forwards) {
  ptx::device gpu(in);
  std::byte* const out = gpu.memory.allocate(threads * 4);
  run_text(gpu,
           kernel_text(body + "\n mul.wide.u32 %rd4, %r0, 4;\n add.s64 %rd5, %rd0, %rd4;\n st.global.u32 [%rd5], %r9;"),
           {1, threads, 0, -1}, {out});
  return from_device<std::uint32_t>(out, threads);
}

float as_tf32(float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000u); }

}  // namespace

TEST_CASE("lanes that part go their own ways and meet again", "[ptx]") {
  for (auto const in : orders) {
    // Each thread goes around as often as its number says; then all exchange.
    auto const got = left_by(
        " mov.u32 %r2, 0;\n mov.u32 %r3, 0;\n$again:\n setp.ge.u32 %p1, %r2, %r0;\n @%p1 bra $out;\n add.u32 %r2, %r2, "
        "1;\n add.u32 %r3, %r3, %r2;\n bra $again;\n$out:\n"
        " shfl.sync.bfly.b32 %r9|%p2, %r3, 1, 31, -1;",
        32, in);
    for (unsigned i = 0; i < 32; ++i) CHECK(got[i] == (i ^ 1) * ((i ^ 1) + 1) / 2);
    auto const both = left_by(
        " and.b32 %r2, %r0, 3;\n setp.eq.u32 %p1, %r2, 0;\n @%p1 bra $one;\n setp.eq.u32 %p2, %r2, 1;\n @%p2 bra "
        "$two;\n mov.u32 %r9, 30;\n bra $end;\n$one:\n mov.u32 %r9, 10;\n bra $end;\n"
        "$two:\n mov.u32 %r9, 20;\n$end:\n add.u32 %r9, %r9, %r0;",
        48, in);
    for (unsigned i = 0; i < 48; ++i) CHECK(both[i] == (i % 4 == 0 ? 10 : i % 4 == 1 ? 20 : 30) + i);
  }
}

TEST_CASE("exchanges within a warp and parts of it", "[ptx]") {
  auto const shuffle = [](std::string const& how) {
    return left_by(" mul.lo.u32 %r2, %r0, 10;\n shfl.sync." + how + ", -1;");
  };
  auto const butterfly = shuffle("bfly.b32 %r9|%p1, %r2, 5, 31"), down = shuffle("down.b32 %r9|%p1, %r2, 3, 31"),
             up = shuffle("up.b32 %r9|%p1, %r2, 3, 0"), index = shuffle("idx.b32 %r9|%p1, %r2, 7, 31"),
             part = shuffle("idx.b32 %r9|%p1, %r2, 1, 0x181f"), in_part = shuffle("down.b32 %r9|%p1, %r2, 1, 0x1c1f");
  for (unsigned i = 0; i < 32; ++i) {
    CHECK(butterfly[i] == (i ^ 5) * 10);
    CHECK(down[i] == (i + 3 < 32 ? i + 3 : i) * 10);
    CHECK(up[i] == (i >= 3 ? i - 3 : i) * 10);
    CHECK(index[i] == 70);
    CHECK(part[i] == (i / 8 * 8 + 1) * 10);             // of parts of eight
    CHECK(in_part[i] == (i % 4 < 3 ? i + 1 : i) * 10);  // of parts of four
  }
  auto const valid = left_by(" shfl.sync.down.b32 %r2|%p1, %r0, 3, 31, -1;\n selp.u32 %r9, 1, 0, %p1;");
  for (unsigned i = 0; i < 32; ++i) CHECK(valid[i] == (i < 29 ? 1 : 0));
  CHECK_THROWS_WITH(
      left_by(" setp.lt.u32 %p2, %r0, 8;\n @%p2 bra $end;\n shfl.sync.bfly.b32 %r9, %r0, 16, 31, 0xffffff00;\n$end:"),
      Contains("not there"));
}

TEST_CASE("votes, matches and reductions of a warp", "[ptx]") {
  auto const ballot = left_by(" setp.gt.u32 %p1, %r0, 20;\n vote.sync.ballot.b32 %r9, %p1, -1;");
  auto const any = left_by(" setp.eq.u32 %p1, %r0, 20;\n vote.sync.any.pred %p2, %p1, -1;\n selp.u32 %r9, 1, 0, %p2;");
  auto const all = left_by(" setp.eq.u32 %p1, %r0, 20;\n vote.sync.all.pred %p2, %p1, -1;\n selp.u32 %r9, 1, 0, %p2;");
  auto const sum = left_by(" redux.sync.add.u32 %r9, %r0, -1;"), most = left_by(" redux.sync.max.u32 %r9, %r0, -1;");
  auto const same = left_by(" and.b32 %r2, %r0, 1;\n match.any.sync.b32 %r9, %r2, -1;");
  for (unsigned i = 0; i < 32; ++i) {
    CHECK(ballot[i] == 0xffe00000u);
    CHECK(any[i] == 1);
    CHECK(all[i] == 0);
    CHECK(sum[i] == 31 * 32 / 2);
    CHECK(most[i] == 31);
    CHECK(same[i] == (i % 2 == 0 ? 0x55555555u : 0xaaaaaaaau));
  }
}

TEST_CASE("products of a warp's matrices", "[ptx]") {
  struct product {
    char const* type;
    int depth;
  };
  for (product const& p : {product{"bf16", 16}, product{"f16", 16}, product{"bf16", 8}, product{"f16", 8},
                           product{"tf32", 8}, product{"tf32", 4}}) {
    char const* const type = p.type;
    int const depth = p.depth;
    INFO(type << ", depth " << depth);
    bool const halves = std::string(type) != "tf32";
    auto const rounded = [&](float x) {
      return std::string(type) == "bf16" ? static_cast<float>(ptx::brain_half(x))
             : halves                    ? static_cast<float>(ptx::half(x))
                                         : as_tf32(x);
    };
    std::mt19937 draw(1);
    std::uniform_real_distribution<float> from(-1, 1);
    std::vector<float> a(static_cast<std::size_t>(16 * depth)), b(static_cast<std::size_t>(8 * depth)),
        c(16 * 8);  // row by row; b column by column
    for (auto* x : {&a, &b, &c})
      for (auto& y : *x) y = x == &c ? from(draw) : rounded(from(draw));
    auto const words = [&](std::vector<float> const& x) {  // as registers hold them
      std::vector<std::uint32_t> out;
      for (std::size_t k = 0; k < x.size(); k += halves ? 2 : 1) {
        if (!halves)
          out.push_back(std::bit_cast<std::uint32_t>(x[k]));
        else if (std::string(type) == "bf16")
          out.push_back(static_cast<std::uint32_t>(ptx::brain_half(x[k]).bits) |
                        static_cast<std::uint32_t>(ptx::brain_half(x[k + 1]).bits) << 16);
        else
          out.push_back(static_cast<std::uint32_t>(ptx::half(x[k]).bits) |
                        static_cast<std::uint32_t>(ptx::half(x[k + 1]).bits) << 16);
      }
      return out;
    };
    int const row = halves ? depth / 2 : depth, lower = depth / (halves ? 8 : 4);  // words of a row; registers of B
    // Words of A at [g + 8 (r % 2), t + 4 (r / 2)], of B at [g, t + 4 r], g = lane / 4, t = lane % 4.
    std::string text = " shr.u32 %r2, %r0, 2;\n and.b32 %r3, %r0, 3;\n";
    auto const load = [&](int to, int base, int rows_more, int words_more) {
      std::string const n = std::to_string(row);
      text += " add.u32 %r4, %r2, " + std::to_string(rows_more) + ";\n mad.lo.u32 %r5, %r4, " + n +
              ", %r3;\n add.u32 %r5, %r5, " + std::to_string(words_more) +
              ";\n mul.wide.u32 %rd4, %r5, 4;\n add.s64 %rd5, %rd" + std::to_string(base) +
              ", %rd4;\n ld.global.u32 %r" + std::to_string(to) + ", [%rd5];\n";
    };
    std::string as, bs;
    for (int r = 0; r < 2 * lower; ++r) {
      load(10 + r, 0, r % 2 * 8, r / 2 * 4);
      as += (r > 0 ? ", %r" : "%r") + std::to_string(10 + r);
    }
    for (int r = 0; r < lower; ++r) {
      load(20 + r, 1, 0, r * 4);
      bs += (r > 0 ? ", %r" : "%r") + std::to_string(20 + r);
    }
    text +=
        " mul.lo.u32 %r6, %r2, 8;\n mad.lo.u32 %r6, %r3, 2, %r6;\n mul.wide.u32 %rd6, %r6, 4;\n add.s64 %rd7, %rd2, "
        "%rd6;\n add.s64 %rd8, %rd3, %rd6;\n ld.global.v2.f32 {%f1, %f2}, [%rd7];\n ld.global.v2.f32 {%f3, %f4}, "
        "[%rd7+256];\n";
    text += " mma.sync.aligned.m16n8k" + std::to_string(depth) + ".row.col.f32." + type + "." + type +
            ".f32 {%f5, %f6, %f7, %f8}, {" + as + "}, {" + bs + "}, {%f1, %f2, %f3, %f4};\n";
    text += " st.global.v2.f32 [%rd8], {%f5, %f6};\n st.global.v2.f32 [%rd8+256], {%f7, %f8};";
    ptx::device gpu;
    std::byte* const out = gpu.memory.allocate(16 * 8 * 4);
    run_text(gpu, kernel_text(text), {}, {on_device(gpu, words(a)), on_device(gpu, words(b)), on_device(gpu, c), out});
    auto const got = from_device<float>(out, 16 * 8);
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 8; ++j) {
        double wanted = c[static_cast<std::size_t>(i * 8 + j)];
        for (int k = 0; k < depth; ++k)
          wanted += static_cast<double>(a[static_cast<std::size_t>(i * depth + k)]) *
                    static_cast<double>(b[static_cast<std::size_t>(j * depth + k)]);
        CHECK(std::abs(static_cast<double>(got[static_cast<std::size_t>(i * 8 + j)]) - wanted) < 1e-5);
      }
  }
}

TEST_CASE("matrices out of shared memory, as they lie and transposed", "[ptx]") {
  for (bool const transposed : {false, true}) {
    // Thread r writes row r of 32 rows of eight halves, of which the k-th is 8 r + k; four matrices of eight rows.
    std::string text = " shl.b32 %r2, %r0, 4;\n mov.u32 %r3, room;\n add.u32 %r4, %r3, %r2;\n shl.b32 %r5, %r0, 3;\n";
    for (int k = 0; k < 8; ++k)
      text += " add.u32 %r6, %r5, " + std::to_string(k) + ";\n cvt.u16.u32 %h1, %r6;\n st.shared.u16 [%r4+" +
              std::to_string(2 * k) + "], %h1;\n";
    text += " bar.warp.sync -1;\n ldmatrix.sync.aligned.m8n8.x4" + std::string(transposed ? ".trans" : "") +
            ".shared.b16 {%r10, %r11, %r12, %r13}, [%r4];\n mul.wide.u32 %rd4, %r0, 16;\n add.s64 %rd5, %rd0, %rd4;\n"
            " st.global.v4.u32 [%rd5], {%r10, %r11, %r12, %r13};";
    ptx::device gpu;
    std::byte* const out = gpu.memory.allocate(32 * 16);
    run_text(gpu, kernel_text(text, ".extern .shared .align 16 .b8 room[];"), {1, 32, 512, -1}, {out});
    auto const got = from_device<std::uint16_t>(out, 256);
    for (int lane = 0; lane < 32; ++lane)
      for (int m = 0; m < 4; ++m)
        for (int e = 0; e < 2; ++e) {
          int const r = transposed ? lane % 4 * 2 + e : lane / 4, c = transposed ? lane / 4 : lane % 4 * 2 + e;
          CHECK(got[static_cast<std::size_t>(lane * 8 + m * 2 + e)] == (8 * m + r) * 8 + c);
        }
  }
}

TEST_CASE("copies beside a thread land when it has waited, and others see them after a barrier", "[ptx]") {
  auto const text = [](std::string const& wait, std::string const& barrier) {
    return kernel_text(
        " shl.b32 %r2, %r0, 4;\n mov.u32 %r3, room;\n add.u32 %r4, %r3, %r2;\n mul.wide.u32 %rd4, %r0, 16;\n add.s64 "
        "%rd5, %rd0, %rd4;\n cp.async.cg.shared.global [%r4], [%rd5], 16;\n cp.async.commit_group;\n"
        " add.s64 %rd6, %rd5, 1024;\n cp.async.ca.shared.global [%r4+1024], [%rd6], 16, 8;\n "
        "cp.async.commit_group;\n " +
            wait + "\n " + barrier +
            "\n xor.b32 %r5, %r2, 1008;\n add.u32 %r6, %r3, %r5;\n ld.shared.v2.u32 {%r7, %r8}, [%r6];\n add.s64 %rd7, "
            "%rd1, %rd4;\n st.global.v2.u32 [%rd7], {%r7, %r8};\n"
            " cp.async.wait_all;\n ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [%r4+1024];\n st.global.v2.u32 [%rd7+8], "
            "{%r9, %r12};",
        ".extern .shared .align 16 .b8 room[];");
  };
  std::vector<std::uint32_t> numbers(512);
  for (std::uint32_t i = 0; i < 512; ++i) numbers[i] = i;
  auto const run = [&](std::string const& t) {
    ptx::device gpu;
    std::byte* const out = gpu.memory.allocate(1024);
    run_text(gpu, t, {1, 64, 2048, -1}, {on_device(gpu, numbers), out});
    return from_device<std::uint32_t>(out, 256);
  };
  auto const got = run(text("cp.async.wait_group 1;", "bar.sync 0;"));
  for (std::uint32_t t = 0; t < 64; ++t) {
    CHECK(got[t * 4] == (63 - t) * 4);
    CHECK(got[t * 4 + 1] == (63 - t) * 4 + 1);
    CHECK(got[t * 4 + 2] == 256 + t * 4);
    CHECK(got[t * 4 + 3] == 0);  // beyond the eight bytes that were asked for
  }
  CHECK_THROWS_WITH(run(text("", "bar.sync 0;")), Contains("is not waited for"));
  CHECK_THROWS_WITH(run(text("cp.async.wait_group 2;", "bar.sync 0;")), Contains("is not waited for"));
  CHECK_THROWS_WITH(run(text("cp.async.wait_group 1;", "")), Contains("ld.shared.v2.u32"));
}

TEST_CASE("variables of a block that a kernel declares, one number each or several", "[ptx]") {
  for (auto const in : orders) {
    auto const got = left_by(
        " .shared .align 1 .u8 first;\n .shared .align 4 .b8 many[8];\n .shared .align 4 .u32 last;\n setp.ne.u32 %p1, %r0, 0;\n @%p1 bra $wait;\n mov.u16 %h1, 200;\n st.shared.u8 [first], %h1;\n"
        " mov.u32 %r2, 70000;\n st.shared.u32 [many+4], %r2;\n mov.u32 %r2, 9;\n st.shared.u32 [last], %r2;\n$wait:\n bar.sync 0;\n ld.shared.u8 %h2, [first];\n cvt.u32.u16 %r3, %h2;\n"
        " ld.shared.u32 %r4, [many+4];\n ld.shared.u32 %r5, [last];\n add.u32 %r9, %r3, %r4;\n add.u32 %r9, %r9, %r5;",
        64, in);
    for (unsigned i = 0; i < 64; ++i) CHECK(got[i] == 200 + 70000 + 9);
  }
}
