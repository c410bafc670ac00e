// cuBLASLt's algorithms are measured where the environment's TX_CUDA_ALGORITHMS names a file, the fastest is kept there, and the next process takes it from there; one
// that the library refuses is measured anew. Each is a process of its own. Without a device a stand-in of the library computes them (tests/ptx/blas), by a clock that counts launches.
#include <tx/backends/cuda_blas.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

constexpr int rows = 32, wide = 512;  // as few as the library is asked for
constexpr auto added = [](tx::tensor<float, rows, wide> a, tx::tensor<float, wide, wide> b, tx::tensor<float, rows, wide> c) { return tx::matmul(a, b) + c; };

// A product that is added to a value: run, then captured and run. Measured runs must not add to that value.
int multiplies() {
  std::vector<float> a(rows * wide), b(wide * wide), c(rows * wide);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7919 % 1013) * 0.0013f - 0.6f;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 104729 % 997) * 0.0017f - 0.8f;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 17) - 8;
  tx::executor<tx::function<added>, tx::cuda_blas> run;
  for (int k = 0; k < 2; ++k) {
    auto const y = run(a, b, c).value;
    for (std::size_t i = 0; i < rows; i += 5)
      for (std::size_t j = 0; j < wide; j += 7) {
        double sum = static_cast<double>(c[i * wide + j]);
        for (std::size_t d = 0; d < wide; ++d) sum += static_cast<double>(a[i * wide + d]) * static_cast<double>(b[d * wide + j]);
        if (!(std::abs(sum - static_cast<double>(y[i * wide + j])) < 1e-3)) {
          std::printf("run %d: element %zu, %zu is %.6f, not %.6f\n", k, i, j, static_cast<double>(y[i * wide + j]), sum);
          return 1;
        }
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
  if (first.size() != 2) return fails("not one shape was measured");
  std::printf("%s\n", first[1].c_str());
#if defined(TX_STANDS_FOR_CUBLASLT)
  if (!field(first[1], 2).starts_with("01")) return fails("the fastest algorithm was not kept");
#endif
  if (in_a_process(program, file) != 0) return fails("a process that takes what was kept does not multiply");
  if (lines_of(file) != first) return fails("what was kept was measured again");

  tx::backends::cuda::algorithm_bytes unknown{};
  unknown.fill(0xff);
  auto const says_so = [&] { return std::optional(tx::backends::cuda::kept_algorithms::measured{unknown, 1e-9}); };
  tx::backends::cuda::kept_algorithms(refused, field(first[1], 0)).of(field(first[1], 1), [](auto const&) { return true; }, says_so);
  if (in_a_process(program, refused) != 0) return fails("a process that is told an algorithm which is none does not multiply");
  auto const after = lines_of(refused);
  return after.size() == 3 && field(after[2], 1) == field(first[1], 1) && field(after[2], 2) != field(after[1], 2) ? 0 : fails("an algorithm that the library refuses was not measured anew");
}

int main(int argc, char** argv) {
  if (!tx::cuda_blas::available()) {
    std::puts("skipped: no device");
    return 77;
  }
  if (argc > 1 && std::string_view(argv[1]) == "multiplies") return multiplies();
  char folder[] = "/tmp/tx_algorithms_XXXXXX";
  if (::mkdtemp(folder) == nullptr) return fails("no folder for files");
  int const status = check(argv[0], folder);
  for (char const* name : {"/algorithms", "/refused"}) ::unlink((std::string(folder) + name).c_str());
  ::rmdir(folder);
  return status;
}
