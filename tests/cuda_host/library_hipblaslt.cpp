// Products by hipBLASLt, which here is what stands for it (tests/hipblaslt), of a device that the interpreter runs: what it is told of a product, what it is not asked, and
// steps of HIP's devices with it, whose other kernels are those for vectors or for wavefronts.
#include "compare.hpp"
#include "library_net.hpp"

#include <tx/backends/hip/blas.hpp>
#include <tx/backends/hip/target.hpp>
#include <tx/nn/attention.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/mean.hpp>

#include <catch2/catch.hpp>

namespace {

namespace device = tx::backends::device;
namespace library = stands_for_hipblaslt;

template <device::matrix_units Units>
struct amd_device : interpreter::host_device {
  static constexpr device::matrix_units units = Units;
  static hipStream_t stream() { return nullptr; }
};
template <device::matrix_units Units>
using with_library = tx::backends::hip::gpu_with_blas<amd_device<Units>>;
using gpu = with_library<device::matrix_units::none>;
static_assert(device::has_library<gpu>);

struct hip_blas : interpreted {
  static constexpr tx::target const& target = tx::hip_blas_target;
  template <class Signature>
  using kernel = tx::backends::device::kernel<gpu, Signature>;
};
struct hip_blas_mfma : interpreted {
  static constexpr tx::target const& target = tx::hip_blas_mfma_target;
  template <class Signature>
  using kernel = tx::backends::device::kernel<with_library<tx::backends::device::matrix_units::of_wavefronts>, Signature>;
};

// Numbers of a type, read and written one by one.
struct matrix {
  tx::dtype type;
  std::vector<float> wide;  // what they are
  std::vector<std::byte> bytes;

  matrix(tx::dtype t, std::int64_t count, float high) : type(t), wide(numbers<float>(static_cast<std::size_t>(count), -high, high)), bytes(static_cast<std::size_t>(count * tx::size_of(t))) {
    for (std::size_t i = 0; i < wide.size(); ++i) {
      if (t == tx::dtype::f32) reinterpret_cast<float*>(bytes.data())[i] = wide[i];
      if (t == tx::dtype::bf16) reinterpret_cast<tx::bf16*>(bytes.data())[i] = tx::bf16::from(wide[i]);
      if (t == tx::dtype::f16) reinterpret_cast<tx::f16*>(bytes.data())[i] = tx::f16::from(wide[i]);
      wide[i] = at(static_cast<std::int64_t>(i));
    }
  }
  float at(std::int64_t i) const {
    if (type == tx::dtype::f32) return reinterpret_cast<float const*>(bytes.data())[i];
    if (type == tx::dtype::bf16) return reinterpret_cast<tx::bf16 const*>(bytes.data())[i].widen();
    return reinterpret_cast<tx::f16 const*>(bytes.data())[i].widen();
  }
};

struct asked {
  tx::dtype type, to_type;
  bool left_turned = false, right_turned = false;
  bool adds = false, in_place = false, adds_row = false;
  int batch = 1;
};
constexpr std::int64_t rows = 6, cols = 10, depth = 8, more = 3;  // that a row has more elements in memory

struct operands {
  asked what;
  std::int64_t left_apart, right_apart;
  matrix left, right, to, added, row;
  std::vector<std::byte> workspace;

  explicit operands(asked const& a)
      : what(a), left_apart((a.left_turned ? rows : depth) + more), right_apart((a.right_turned ? depth : cols) + more), left(a.type, a.batch * next_left() + 64, 1),
        right(a.type, a.batch * next_right() + 64, 2), to(a.to_type, a.batch * next_to() + 64, 3), added(a.to_type, a.batch * next_added() + 64, 4), row(a.type, cols, 5), workspace(device::library_workspace) {}
  std::int64_t next_left() const { return left_apart * (what.left_turned ? depth : rows) + 5; }
  std::int64_t next_right() const { return right_apart * (what.right_turned ? cols : depth) + 6; }
  static constexpr std::int64_t apart = cols + more, added_apart = cols + 2 * more;
  std::int64_t next_to() const { return rows * apart + 7; }
  std::int64_t next_added() const { return what.in_place ? next_to() : rows * added_apart + 8; }

  device::library_product product() {
    device::library_product p{what.type, what.to_type, rows, cols, depth, left.bytes.data(), what.left_turned ? 1 : left_apart, what.left_turned ? left_apart : 1, right.bytes.data(),
                            what.right_turned ? 1 : right_apart, what.right_turned ? right_apart : 1, to.bytes.data(), apart, workspace.data()};
    if (what.adds) {
      p.added = what.in_place ? to.bytes.data() : added.bytes.data();
      p.added_apart = what.in_place ? apart : added_apart;
    }
    if (what.adds_row) p.row = row.bytes.data();
    p.batch = what.batch;
    if (what.batch > 1) {
      p.next_left = next_left();
      p.next_right = next_right();
      p.next_to = next_to();
      p.next_added = what.adds ? next_added() : 0;
    }
    return p;
  }
  // The furthest of all results, and of what lies beside them, from a plain product.
  double furthest() const {
    std::vector<double> wanted(to.wide.begin(), to.wide.end());
    matrix const& more_of = what.in_place ? to : added;
    for (std::int64_t n = 0; n < what.batch; ++n)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) {
          double sum = 0;
          for (std::int64_t k = 0; k < depth; ++k)
            sum += static_cast<double>(left.wide[static_cast<std::size_t>(n * next_left() + (what.left_turned ? r + k * left_apart : r * left_apart + k))]) *
                   static_cast<double>(right.wide[static_cast<std::size_t>(n * next_right() + (what.right_turned ? k + c * right_apart : k * right_apart + c))]);
          if (what.adds) sum += static_cast<double>(more_of.wide[static_cast<std::size_t>(n * next_added() + r * (what.in_place ? apart : added_apart) + c)]);
          if (what.adds_row) sum += static_cast<double>(row.wide[static_cast<std::size_t>(c)]);
          wanted[static_cast<std::size_t>(n * next_to() + r * apart + c)] = sum;
        }
    double all = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) keep_furthest(all, static_cast<double>(to.at(static_cast<std::int64_t>(i))) - wanted[i]);
    return all;
  }
};

double nearly(tx::dtype d) { return d == tx::dtype::f32 ? 1e-5 : d == tx::dtype::f16 ? 2e-2 : 1e-1; }

template <class T, auto... D>
using t = tx::tensor<T, D...>;

using library_net::loss, library_net::net;
template <class... Options>
using step = tx::train_step<net, loss, descent, Options...>;

template <class Step, class Backend>
double apart() {
  auto const x = numbers<float>(96 * 640, -1, 1);
  return distance(outcome<Step, Backend>(1, x), outcome<typename one_by_one<Step>::type, tx::reference>(1, x));
}

}  // namespace

TEST_CASE("hipBLASLt is told of sides that lie either way, rows apart, values and rows that are added, and batches") {
  constexpr tx::dtype f32 = tx::dtype::f32, bf16 = tx::dtype::bf16, f16 = tx::dtype::f16;
  for (auto const& [type, to_type] : {std::pair{f32, f32}, {bf16, f32}, {bf16, bf16}, {f16, f32}, {f16, f16}})
    for (int turned = 0; turned < 4; ++turned)
      for (int batch : {1, 3})
        for (int ends = 0; ends < 4; ++ends) {
          if (ends == 3 && (batch > 1 || type != to_type)) continue;  // a row is of halves, or of floats beside those
          operands all({.type = type, .to_type = to_type, .left_turned = turned % 2 != 0, .right_turned = turned / 2 != 0, .adds = ends == 1 || ends == 2, .in_place = ends == 2, .adds_row = ends == 3, .batch = batch});
          CAPTURE(tx::name_of(type), tx::name_of(to_type), turned, batch, ends);
          int const before = library::products, added = library::added, biased = library::biased;
          REQUIRE(gpu::multiply(all.product()));
          CHECK(all.furthest() < nearly(to_type));
          CHECK(library::products == before + batch);
          CHECK((library::added - added == 1) == (ends == 1 || ends == 2));
          CHECK((library::biased - biased == 1) == (ends == 3));
        }
}

TEST_CASE("hipBLASLt is asked once for a shape, whose rows may lie elsewhere the next time") {
  asked const what{.type = tx::dtype::bf16, .to_type = tx::dtype::bf16, .left_turned = true, .right_turned = true, .adds_row = true};
  operands first(what), second(what);
  second.row = matrix(tx::dtype::bf16, cols + 16, 7);
  device::library_product p = first.product(), q = second.product();
  p.rows = q.rows = rows - 1;  // a shape of this test's own
  REQUIRE(gpu::multiply(p));
  int const searches = library::searches;
  REQUIRE(gpu::multiply(q));
  CHECK(library::searches == searches);
  auto const row_of = [](operands const& all) { return std::vector<float>{all.to.at(0), all.to.at(1), all.to.at(2)}; };
  CHECK(row_of(first) != row_of(second));
  double sum = static_cast<double>(second.row.wide[1]);
  for (std::int64_t k = 0; k < depth; ++k) sum += static_cast<double>(second.left.wide[static_cast<std::size_t>(k * second.left_apart)]) * static_cast<double>(second.right.wide[static_cast<std::size_t>(k + second.right_apart)]);
  CHECK(std::abs(static_cast<double>(second.to.at(1)) - sum) < nearly(tx::dtype::bf16));
}

TEST_CASE("Products that hipBLASLt is not asked for") {
  int const searches = library::searches, products = library::products;
  operands rows_in_batch({.type = tx::dtype::bf16, .to_type = tx::dtype::bf16, .adds_row = true, .batch = 2});
  CHECK_FALSE(gpu::multiply(rows_in_batch.product()));  // there is no distance between rows
  operands plain({.type = tx::dtype::f32, .to_type = tx::dtype::f32});
  device::library_product p = plain.product();
  p.left_row = 2 * p.left_row;
  p.left_col = 2;
  CHECK_FALSE(gpu::multiply(p));  // elements that lie side by side along neither axis
  p = plain.product();
  p.right_row = p.right_col = 3;
  CHECK_FALSE(gpu::multiply(p));
  p = plain.product();
  p.type = tx::dtype::e4m3;
  CHECK_FALSE(gpu::multiply(p));
  CHECK(library::searches == searches);
  CHECK(library::products == products);
}

TEST_CASE("Products that hipBLASLt has no algorithm for") {
  library::only_of_one_type = true;
  operands all({.type = tx::dtype::f16, .to_type = tx::dtype::f32});
  device::library_product p = all.product();
  p.rows = rows - 2;  // a shape of this test's own
  int const products = library::products;
  CHECK_FALSE(gpu::multiply(p));
  CHECK_FALSE(gpu::multiply(p));
  CHECK(library::products == products);
  library::only_of_one_type = false;
}

TEST_CASE("A step on HIP's devices whose products are hipBLASLt's") {
  library::products = library::biased = 0;
  CHECK(apart<step<>, hip_blas>() < 1e-4);
  int const of_floats = library::products;
  CHECK(of_floats >= 2);
  CHECK(library::biased == 0);
  CHECK(apart<step<tx::mixed<tx::bf16>>, hip_blas>() < 2e-2);
  CHECK(apart<step<tx::mixed<tx::f16>>, hip_blas>() < 2e-3);
  CHECK(library::products > of_floats);
  CHECK(library::biased >= 2);  // the bias of the first layer, in each type of halves
  int const before = library::products;
  CHECK(apart<step<tx::mixed<tx::bf16>>, hip_blas_mfma>() < 2e-2);
  CHECK(library::products > before);
}

namespace {

// A layer of attention, whose products by weights are all large enough for a library.
struct attending {
  tx::nn::self_attention<512, 8> attention;
  tx::nn::linear<512, 512> out;
};
constexpr auto attending_loss = [](attending const& m, t<float, 2, 32, 512> x) {
  auto const y = x + m.out(m.attention(x));
  return tx::mean(y * y);
};

}  // namespace

TEST_CASE("Of queries, keys and values hipBLASLt has those together that it adds no row to") {
  using attention_step = tx::train_step<attending, attending_loss, descent, tx::mixed<tx::bf16>>;
  library::products = library::batches = library::biased = 0;
  auto const x = numbers<float>(2 * 32 * 512, -1, 1);
  CHECK(distance(outcome<attention_step, hip_blas_mfma>(1, x), outcome<typename one_by_one<attention_step>::type, tx::reference>(1, x)) < 2e-2);
  CHECK(library::batches == 1);  // the weights' gradients
  CHECK(library::biased >= 3);   // one by one
}
