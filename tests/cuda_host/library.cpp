// Products by a library, as a device may have one: here it computes in plain loops.
#include "compare.hpp"
#include "library_net.hpp"

#include <tx/nn/attend_packed.hpp>
#include <tx/nn/attention.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/mean.hpp>

#include <catch2/catch.hpp>

namespace {

namespace device = tx::backends::device;

struct device_with_library : interpreter::host_device {
  static inline int products = 0, rounded = 0, added = 0, rows = 0, of_three = 0;

  static bool multiply(device::library_product const& all) {
    of_three += all.batch == 3;
    for (int k = 0; k < all.batch; ++k) {
      device::library_product one = all;
      one.left += k * all.next_left * tx::size_of(all.type);
      one.right += k * all.next_right * tx::size_of(all.type);
      one.to += k * all.next_to * tx::size_of(all.to_type);
      if (all.added != nullptr) one.added += k * all.next_added * tx::size_of(all.to_type);
      if (all.row != nullptr) one.row += k * all.next_row * tx::size_of(all.type);
      multiply_one(one);
    }
    return true;
  }

 private:
  static void multiply_one(device::library_product const& p) {
    ++products;
    rounded += p.to_type == p.type && tx::is_half(p.type);
    added += p.added != nullptr;
    rows += p.row != nullptr;
    if (p.row != nullptr && p.to_type != p.type) throw std::logic_error("a row of halves is added to results that are none");
    if (p.apart < p.cols || (p.added != nullptr && p.added_apart < p.cols)) throw std::logic_error("a matrix whose rows lie over each other");
    std::memset(p.workspace, 0xab, static_cast<std::size_t>(device::library_workspace));
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t c = 0; c < p.cols; ++c) {
        float sum = 0;
        for (std::int64_t k = 0; k < p.depth; ++k) sum += at(p.type, p.left, r * p.left_row + k * p.left_col) * at(p.type, p.right, k * p.right_row + c * p.right_col);
        if (p.added != nullptr) sum += at(p.to_type, p.added, r * p.added_apart + c);
        if (p.row != nullptr) sum += at(p.type, p.row, c);
        std::int64_t const to = r * p.apart + c;
        if (p.to_type == tx::dtype::f32) reinterpret_cast<float*>(p.to)[to] = sum;
        else if (p.to_type == tx::dtype::bf16) reinterpret_cast<tx::bf16*>(p.to)[to] = tx::bf16::from(sum);
        else reinterpret_cast<tx::f16*>(p.to)[to] = tx::f16::from(sum);
      }
  }
  static float at(tx::dtype d, std::byte const* p, std::int64_t i) {
    if (d == tx::dtype::f32) return reinterpret_cast<float const*>(p)[i];
    if (d == tx::dtype::bf16) return reinterpret_cast<tx::bf16 const*>(p)[i].widen();
    return reinterpret_cast<tx::f16 const*>(p)[i].widen();
  }
};

struct with_library : interpreted {
  static constexpr tx::target const& target = tx::cuda_blas_target;
  template <class Signature>
  using kernel = tx::backends::device::kernel<device_with_library, Signature>;
};

template <class T, auto... D>
using t = tx::tensor<T, D...>;

using library_net::loss, library_net::net;

template <class Step>
double apart() {
  auto const x = numbers<float>(96 * 640, -1, 1);
  return distance(outcome<Step, with_library>(1, x), outcome<typename one_by_one<Step>::type, tx::reference>(1, x));
}

}  // namespace

TEST_CASE("A step whose products are a library's, with what follows them") {
  device_with_library::products = device_with_library::rounded = device_with_library::added = device_with_library::rows = 0;
  CHECK(apart<tx::train_step<net, loss, descent>>() < 1e-4);
  int const of_floats = device_with_library::products;
  CHECK(of_floats >= 2);
  CHECK(device_with_library::rounded == 0);
  CHECK(device_with_library::rows == 0);
  CHECK(apart<tx::train_step<net, loss, descent, tx::mixed<tx::bf16>>>() < 2e-2);
  CHECK(apart<tx::train_step<net, loss, descent, tx::mixed<tx::f16>>>() < 2e-3);
  CHECK(device_with_library::products > of_floats);
  CHECK(device_with_library::rounded > 0);
  CHECK(device_with_library::rows >= 2);  // the bias of the first layer, in each type of halves
}

namespace {

// Two layers of attention, whose products are all large enough for a library.
struct attending {
  struct layer {
    tx::nn::self_attention<512, 8> attention;
    tx::nn::linear<512, 512> out;
    constexpr auto operator()(auto const& x) const { return x + out(attention(x)); }
  };
  tx::repeat<2, layer> layers;
};
constexpr auto attending_loss = [](attending const& m, t<float, 2, 32, 512> x) {
  auto const y = m.layers(x);
  return tx::mean(y * y);
};

// Of texts that are packed, with one head of keys for two of queries.
struct packed {
  struct layer {
    tx::nn::linear<512, 512> query, out;
    tx::nn::linear<512, 256> key, value;
    constexpr auto operator()(auto const& x, auto const& offsets) const {
      return x + out(tx::nn::attend_packed<8>(query(x), key(x), value(x), tx::nn::texts_at<48>(offsets), tx::nn::causal, tx::nn::drop(0.25)));
    }
  };
  tx::repeat<2, layer> layers;
};
constexpr auto packed_loss = [](packed const& m, t<float, 96, 512> x, t<int, 4> offsets) {
  auto const y = m.layers(x, offsets);
  return tx::mean(y * y);
};

template <class Step>
constexpr int gradients_side_by_side = [] {
  int count = 0;
  for (tx::exec::kernel_sig const& k : Step::template program<with_library::target>::kernels) count += k.op == &tx::joined_attention_gradient_info;
  return count;
}();

}  // namespace

TEST_CASE("Gradients of queries, keys and values come as the product of all of them wants them") {
  STATIC_REQUIRE(gradients_side_by_side<tx::train_step<attending, attending_loss, descent, tx::mixed<tx::bf16>>> == 1);
  STATIC_REQUIRE(gradients_side_by_side<tx::train_step<attending, attending_loss, descent>> == 0);
  using step = tx::train_step<packed, packed_loss, descent, tx::mixed<tx::bf16>>;
  STATIC_REQUIRE(gradients_side_by_side<step> == 1);
  auto const x = numbers<float>(96 * 512, -1, 1);
  std::vector<int> const offsets{3, 3, 40, 88};  // tokens before, between none, and behind
  CHECK(distance(outcome<step, with_library>(1, x, offsets), outcome<typename one_by_one<step>::type, tx::reference>(1, x, offsets)) < 2e-2);
}

TEST_CASE("Queries, keys and values are one product of a library, forward and by their weights, and one backward") {
  using step = tx::train_step<attending, attending_loss, descent, tx::mixed<tx::bf16>>;
  int const before = device_with_library::products, threes = device_with_library::of_three;
  auto const x = numbers<float>(2 * 32 * 512, -1, 1);
  CHECK(distance(outcome<step, with_library>(1, x), outcome<typename one_by_one<step>::type, tx::reference>(1, x)) < 2e-2);
  CHECK(device_with_library::of_three - threes == 2 * 2);  // of two layers: forward, and the weights' gradients
  // Of a layer: three and out forward; of out's gradient one by each side; one by x of q, k and v, and three by their weights.
  CHECK(device_with_library::products - before == 2 * (4 + 2 + 4));
}

TEST_CASE("A library adds a product to a value") {
  constexpr auto added = [](t<float, 128, 640> a, t<float, 640, 128> b, t<float, 128, 128> c) { return tx::matmul(a, b) + c; };
  auto const a = numbers<float>(128 * 640, -1, 1), b = numbers<float>(640 * 128, -1, 1), c = numbers<float>(128 * 128, -9, 9);
  int const before = device_with_library::added;
  CHECK(distance(outcome<tx::function<added>, with_library>(1, a, b, c), outcome<tx::function<added, tx::no_model, tx::compiled_with<unfused>>, tx::reference>(1, a, b, c)) < 1e-3);
  CHECK(device_with_library::added == before + 1);
}

TEST_CASE("A bias is no matrix that a library adds") {
  constexpr auto biased = [](t<float, 256, 384> a, t<float, 384, 384> b, t<float, 384> c) { return tx::matmul(a, b) + c; };
  auto const a = numbers<float>(256 * 384, -1, 1), b = numbers<float>(384 * 384, -1, 1), c = numbers<float>(384, -9, 9);
  CHECK(distance(outcome<tx::function<biased>, with_library>(1, a, b, c), outcome<tx::function<biased, tx::no_model, tx::compiled_with<unfused>>, tx::reference>(1, a, b, c)) < 1e-3);
}

TEST_CASE("A single op behind a library's product is not lost") {
  constexpr auto scaled = [](t<float, 128, 640> a, t<float, 640, 128> b) { return tx::matmul(a, b) * 0.5; };
  auto const a = numbers<float>(128 * 640, -1, 1), b = numbers<float>(640 * 128, -1, 1);
  int const before = device_with_library::products;
  CHECK(distance(outcome<tx::function<scaled>, with_library>(1, a, b), outcome<tx::function<scaled, tx::no_model, tx::compiled_with<unfused>>, tx::reference>(1, a, b)) < 1e-3);
  CHECK(device_with_library::products > before);
}
