// A backend of one's own: where memory comes from, and what computes. This one multiplies f32 matrices itself and leaves the rest to
// tx::reference; a library's products or a device would stand in the same place.
#include <tx/backends/reference.hpp>
#include <tx/tx.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace mine {

// A kernel is a type for each kind of call: fused rows, products with an epilogue, ops on whole operands, zeros.
template <class Signature>
struct kernel : tx::reference::kernel<Signature> {};

// Products: c.cols columns of rows f.first_row(c) to f.end_row(c), which may be those of many matrices, then the epilogue on them.
template <class Epilogue>
struct kernel<tx::exec::gemm<tx::dtype::f32, Epilogue>> {
  static void run(tx::exec::frame const& f, tx::exec::call const& c, tx::exec::operand_ref const* operands) {
    tx::exec::operand_ref const& a = operands[0];
    tx::exec::operand_ref const& b = operands[1];
    float const* const left = f.at<float const>(a);
    float const* const right = f.at<float const>(b);
    std::int64_t const rows = f.matrix_rows(c);
    std::vector<double> product(static_cast<std::size_t>(c.rows * c.cols));
    for (std::int64_t r = f.first_row(c); r < f.end_row(c); ++r) {
      double* const out = product.data() + r * c.cols;
      for (std::int64_t k = 0; k < c.depth; ++k) {  // a row of the right side at a time, not a column
        double const x = left[tx::exec::row_offset(a, r / rows) + r % rows * a.row + k * a.col];
        float const* const row = right + tx::exec::row_offset(b, r / rows) + k * b.row;
        for (std::int64_t j = 0; j < c.cols; ++j) out[j] += x * static_cast<double>(row[j * b.col]);
      }
    }
    tx::backends::plain::values<Epilogue>(f, c, operands + 2, product).run();
  }
};

struct backend {
  // What programs are planned for: here as for the CPU; see plan/target.hpp for what a target says.
  static constexpr tx::target const& target = tx::cpu_target;

  template <class Signature>
  using kernel = mine::kernel<Signature>;

  // For parameters and arenas, when an executor is made; at multiples of tx::exec::alignment.
  static std::byte* allocate(std::int64_t count) {
    held += count;
    return tx::reference::allocate(count);
  }
  static void release(std::byte* p, std::int64_t count) {
    held -= count;
    tx::reference::release(p, count);
  }
  static int default_threads() { return 1; }
  static void check_machine() {}  // throws tx::error where a program compiled for it cannot run

  static inline std::int64_t held = 0;  // bytes
};

}  // namespace mine

struct net {
  tx::nn::linear<8, 16, tx::init::normal<1, 3>> hidden;
  tx::nn::linear<16, 1, tx::init::normal<1, 4>> out;
  constexpr auto operator()(auto const& x) const { return out(tx::tanh(hidden(x))); }
};
inline constexpr auto loss = [](net const& m, tx::tensor<float, 16, 8> x, tx::tensor<float, 16, 1> y) { return tx::mse(m(x), y); };
using step = tx::train_step<net, loss, tx::adamw>;

// The parameters after 100 steps, and whether the loss fell to a tenth.
template <class Backend>
std::vector<float> train(bool& learns) {
  tx::executor<step, Backend> run{tx::seed(0)};
  run.settings["learning_rate"] = 1e-2f;
  std::vector<float> x(16 * 8), y(16);
  float first = 0, last = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>((k * 7 + i * 13) % 23) / 23;
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = x[8 * k] - x[8 * k + 5];
    last = run(x, y).loss;
    if (i == 0) first = last;
  }
  std::printf("loss %.5f -> %.5f\n", static_cast<double>(first), static_cast<double>(last));
  learns = last < first / 10;
  return run.read();
}

int main() {
  bool learns = false, reference_learns = false;
  std::vector<float> const own = train<mine::backend>(learns);
  bool const freed = mine::backend::held == 0;
  bool const same = std::ranges::equal(own, train<tx::reference>(reference_learns));
  std::printf("%s as tx::reference\n", same ? "the same bits" : "other bits");
  return learns && same && freed ? 0 : 1;
}
