// cuBLASLt's algorithms are measured where the environment's TX_CUDA_ALGORITHMS names a file, the fastest is kept there, and the next process takes it from there; one
// that the library refuses is measured anew. Each is a process of its own. Without a device a stand-in of the library computes them (tests/ptx/blas), by a clock that counts launches.
#include <tx/backends/cuda_blas.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

using device = tx::backends::cuda::gpu_with_blas<false>;
using driver = tx::cuda_blas::driver;
constexpr std::int64_t wide = 64;

float* on_device(std::vector<float> const& values) {
  auto const bytes = static_cast<std::int64_t>(values.size() * sizeof(float));
  std::byte* const at = tx::cuda_blas::allocate(bytes);
  tx::cuda_blas::upload(at, reinterpret_cast<std::byte const*>(values.data()), bytes);
  return reinterpret_cast<float*>(at);
}
std::vector<float> numbers(std::int64_t count, std::int64_t step) {
  std::vector<float> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(static_cast<std::int64_t>(i) * step % 1013) * 0.0013f - 0.6f;
  return all;
}

// A product that is added to what lies where its results go, which runs that are measured must leave alone. Captured, it is not measured.
int multiplies(std::int64_t rows, bool captured) {
  auto const a = numbers(rows * wide, 7919), b = numbers(wide * wide, 104729), c = numbers(rows * wide, 6151);
  float const *const left = on_device(a), *const right = on_device(b);
  float* const to = on_device(c);
  std::byte* const workspace = tx::cuda_blas::allocate(tx::backends::device::library_workspace);
  auto const bytes = [](auto* p) { return reinterpret_cast<std::byte*>(const_cast<float*>(p)); };
  tx::backends::device::library_product p{tx::dtype::f32, tx::dtype::f32, rows, wide, wide, bytes(left), wide, 1, bytes(right), wide, 1, bytes(to), wide, workspace};
  p.added = bytes(to);
  p.added_apart = wide;
  driver::captured graph{};
  driver::runnable runs{};
  if (captured) device::check(driver::begin_capture(device::stream()), "a capture");
  bool const started = device::multiply(p);
  if (captured) {
    device::check(driver::end_capture(device::stream(), &graph), "a capture");
    device::check(driver::make_ready(&runs, graph), "what was captured");
    device::check(driver::start(runs, device::stream()), "what was captured");
  }
  std::vector<float> got(c.size());
  tx::cuda_blas::download(reinterpret_cast<std::byte*>(got.data()), bytes(to), static_cast<std::int64_t>(got.size() * sizeof(float)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); i += 5)
    for (std::size_t j = 0; j < wide; j += 7) {
      double sum = static_cast<double>(c[i * wide + j]);
      for (std::size_t n = 0; n < wide; ++n) sum += static_cast<double>(a[i * wide + n]) * static_cast<double>(b[n * wide + j]);
      if (!started || !(std::abs(sum - static_cast<double>(got[i * wide + j])) < 1e-3)) {
        std::printf("%lld rows: element %zu, %zu is %.6f, not %.6f\n", static_cast<long long>(rows), i, j, static_cast<double>(got[i * wide + j]), sum);
        return 1;
      }
    }
  return 0;
}

int in_a_process(char const* program, std::string const& file) {
  std::fflush(nullptr);
  pid_t const child = ::fork();
  if (child == 0) {
    ::setenv("TX_CUDA_ALGORITHMS", file.c_str(), 1);
    ::execl(program, program, "multiplies", nullptr);
    std::_Exit(127);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

std::vector<std::string> lines_of(std::string const& file) {
  std::ifstream in(file);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}
std::string field(std::string const& line, int number) {
  std::size_t at = 0;
  for (int k = 0; k < number; ++k) at = line.find('\t', at) + 1;
  return line.substr(at, line.find('\t', at) - at);
}

int fails(char const* what) {
  std::printf("%s\n", what);
  return 1;
}
int check(char const* program, std::string const& folder) {
  std::string const file = folder + "/algorithms", refused = folder + "/refused";
  if (in_a_process(program, file) != 0) return fails("a process that measures does not multiply");
  auto const first = lines_of(file);
  if (first.size() != 2) return fails("not one shape was measured, that which was not captured");
  std::printf("%s\n", first[1].c_str());
#if defined(TX_STANDS_FOR_CUBLASLT)
  if (!field(first[1], 2).starts_with("01")) return fails("the fastest algorithm was not kept");
#endif
  if (in_a_process(program, file) != 0) return fails("a process that takes what was kept does not multiply");
  if (lines_of(file) != first) return fails("what was kept was measured again");

  tx::backends::device::algorithm_bytes unknown{};
  unknown.fill(0xff);
  auto const says_so = [&] { return std::optional(tx::backends::device::kept_algorithms::measured{unknown, 1e-9}); };
  tx::backends::device::kept_algorithms(refused, field(first[1], 0)).of(field(first[1], 1), [](auto const&) { return true; }, says_so);
  if (in_a_process(program, refused) != 0) return fails("a process that is told an algorithm which is none does not multiply");
  auto const after = lines_of(refused);
  return after.size() == 3 && field(after[2], 1) == field(first[1], 1) && field(after[2], 2) != field(after[1], 2) ? 0 : fails("an algorithm that the library refuses was not measured anew");
}

int main(int argc, char** argv) {
  if (!tx::cuda_blas::available()) {
    std::puts("skipped: no device");
    return 77;
  }
  if (argc > 1 && std::string_view(argv[1]) == "multiplies") return multiplies(32, false) != 0 || multiplies(33, true) != 0;
  char folder[] = "/tmp/tx_algorithms_XXXXXX";
  if (::mkdtemp(folder) == nullptr) return fails("no folder for files");
  int const status = check(argv[0], folder);
  for (char const* name : {"/algorithms", "/refused"}) ::unlink((std::string(folder) + name).c_str());
  ::rmdir(folder);
  return status;
}
