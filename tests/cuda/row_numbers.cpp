// Numbers of rows that a kernel reads, and writes their successors over: each thread of a row reads them before.
#include <tx/tx.hpp>

#include "its_backend.hpp"

#include <array>
#include <cstdio>
#include <vector>

namespace exec = tx::exec;

constexpr int rows = 5;

template <int Cols>
constexpr auto scaled_and_summed =
    [](tx::tensor<float, rows, Cols> x, tx::tensor<float, rows, 1> number) { return tx::sum<1>(x * number) + number; };

// The one kernel of that, told to write its result where the numbers lie.
template <int Cols>
int wrong() {
  using program = typename tx::function<scaled_and_summed<Cols>>::template program<its_backend::target>;
  static_assert(program::calls.size() == 1);
  constexpr exec::call c = program::calls[0];
  std::vector<exec::operand_ref> operands(static_cast<std::size_t>(c.operands));
  auto const at = [&](int k) -> exec::operand_ref& { return operands[static_cast<std::size_t>(k)]; };
  int number = -1;
  for (int k = 0; k < c.operands; ++k) {
    at(k) = program::operands[c.first + k];
    if (at(k).base == exec::base_input + 1) number = k;
  }
  at(c.operands - 1).base = at(number).base;
  at(c.operands - 1).offset = at(number).offset;

  constexpr std::size_t lines = rows, each = Cols;
  std::vector<float> x(lines * each), numbers(lines), wanted(lines), got(lines);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) - 8;
  for (std::size_t r = 0; r < lines; ++r) {
    numbers[r] = static_cast<float>(r + 1);
    wanted[r] = numbers[r];
    for (std::size_t k = 0; k < each; ++k) wanted[r] += x[r * each + k] * numbers[r];
  }
  auto const bytes_of = [](std::vector<float> const& v) { return static_cast<std::int64_t>(v.size() * sizeof(float)); };
  exec::frame f;
  f.base[exec::base_arena] = its_backend::allocate(program::memory.arena + 1);
  f.base[exec::base_input] = its_backend::allocate(bytes_of(x));
  f.base[exec::base_input + 1] = its_backend::allocate(bytes_of(numbers));
  its_backend::upload(f.base[exec::base_input], reinterpret_cast<std::byte const*>(x.data()), bytes_of(x));
  its_backend::upload(f.base[exec::base_input + 1], reinterpret_cast<std::byte const*>(numbers.data()), bytes_of(numbers));
  its_backend::kernel<exec::kernel_of<program, c.kernel>>::run(f, c, operands.data());
  its_backend::download(reinterpret_cast<std::byte*>(got.data()), f.base[exec::base_input + 1], bytes_of(got));
  int count = 0;
  for (std::size_t r = 0; r < lines; ++r) count += got[r] != wanted[r];  // whole numbers, so in any order of sums
  std::printf("%d columns: %d rows are wrong\n", Cols, count);
  return count;
}

int main() {
  if (!its_backend::available()) {
    std::puts("skipped: no device");
    return 77;  // neither passed nor failed
  }
  return wrong<12>() + wrong<600>() == 0 ? 0 : 1;
}
