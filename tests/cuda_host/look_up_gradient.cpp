// The gradient of a look-up on devices: whatever ids repeat, and in whichever order threads run, it is the sum of the rows that name each.
#include "interpreter.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace {

namespace device = tx::backends::device;
using interpreter::host_device;

// Drawn ids, of which a share is one of a few; a part are none of the table's.
struct looked_up {
  std::int64_t rows, cols, bag, count;
  std::vector<std::int32_t> ids;
  std::vector<float> gradient;  // [count / bag, cols]

  looked_up(std::int64_t of_rows, std::int64_t of_cols, std::int64_t of_bag, std::int64_t bags, unsigned seed) : rows(of_rows), cols(of_cols), bag(of_bag), count(of_bag * bags) {
    std::mt19937 draw(seed);
    for (std::int64_t i = 0; i < count; ++i) ids.push_back(draw() % 3 == 0 ? static_cast<std::int32_t>(rows / 2) : draw() % 20 == 0 ? -1 : static_cast<std::int32_t>(draw() % static_cast<std::uint64_t>(rows)));
    for (std::int64_t i = 0; i < bags * cols; ++i) gradient.push_back(static_cast<float>(draw() % 2001) / 1000 - 1);
  }
  std::vector<double> wanted() const {
    std::vector<double> sums(static_cast<std::size_t>(rows * cols));
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t c = 0; c < cols && ids[static_cast<std::size_t>(i)] >= 0; ++c)
        sums[static_cast<std::size_t>(ids[static_cast<std::size_t>(i)] * cols + c)] += double{gradient[static_cast<std::size_t>(i / bag * cols + c)]};
    return sums;
  }
  std::vector<float> summed(std::int64_t rows_of_block) const {
    float const unwritten = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> to(static_cast<std::size_t>(rows * cols), unwritten), sums(static_cast<std::size_t>(count * cols), unwritten);
    std::vector<std::uint32_t> codes(static_cast<std::size_t>(count), 0);
    auto const bytes = [](auto const& v) { return const_cast<std::byte*>(reinterpret_cast<std::byte const*>(v.data())); };
    device::divider const by(static_cast<std::uint32_t>(bag));
    using first = device::repeated_ids_task<tx::dtype::f32, tx::dtype::i32>;
    using then = device::scatter_task<tx::dtype::f32>;
    host_device::launch<first>(static_cast<int>((count + first::places - 1) / first::places), first::threads, first::shared_bytes, {bytes(sums), bytes(codes), bytes(gradient), bytes(ids), count, cols, by});
    host_device::launch<then>(static_cast<int>((rows + rows_of_block - 1) / rows_of_block), then::threads, then::shared_bytes,
                              {bytes(to), bytes(gradient), bytes(sums), bytes(codes), count, rows, cols, rows_of_block, by});
    return to;
  }
};

}  // namespace

TEST_CASE("gradients of drawn look-ups are the sums of what names each row, in one order") {
  struct {
    std::int64_t rows, cols, bag, bags, rows_of_block;
  } const cases[] = {{2, 20, 1, 300, 1}, {1, 7, 1, 128, 1}, {50, 130, 1, 129, 8}, {400, 33, 3, 90, 64}, {9, 1, 5, 40, 3}, {3, 300, 1, 1, 2}};
  unsigned seed = 1;
  for (auto const& c : cases) {
    CAPTURE(c.rows, c.cols, c.bag, c.bags);
    looked_up const all(c.rows, c.cols, c.bag, c.bags, seed++);
    std::vector<float> const got = all.summed(c.rows_of_block);
    std::vector<double> const wanted = all.wanted();
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == Approx(wanted[i]).margin(2e-4));
    CHECK(all.summed(1) == got);
    host_device::reversed = true;
    CHECK(all.summed(c.rows_of_block) == got);
    host_device::reversed = false;
  }
}
