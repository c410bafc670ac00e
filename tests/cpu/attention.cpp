#include "attention_reference.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace attention_test;

namespace {

// The largest distance, as a part of what is summed for the element. NaN where there is one.
template <class T>
double apart(std::vector<T> const& got, summed const& want) {
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const d = std::abs(as_double(got[i]) - want.value[i]);
    if (!(d <= most * (want.terms[i] + 1e-4))) most = d / (want.terms[i] + 1e-4);
    if (std::isnan(d)) return d;
  }
  return most;
}
template <class T>
double numbers_apart(std::vector<T> const& got, std::vector<double> const& want) {
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const g = as_double(got[i]);
    if (g == want[i] || (std::isnan(g) && std::isnan(want[i]))) continue;  // -infinity of no keys, what is past a text's end
    most = std::max(most, std::abs(g - want[i]) / std::max(1., std::abs(want[i])));
    if (std::isnan(g)) return g;
  }
  return most;
}

template <class T>
void check(settings const& s) {
  problem<T> c(s);
  CAPTURE(c.s.seed, c.s.texts, c.s.queries, c.s.keys, s.heads, s.key_heads, s.head, s.causal, s.window, s.mask, s.key_rows, s.rate, s.bias.has_value(), s.lengths);
  auto const want = expected(c);
  bool const in_double = dtype_v<T> == dtype::f64;
  double const bound = is_half(dtype_v<T>) ? 1e-2 : in_double ? 1e-14 : 2e-6;
  c.forward();
  CHECK(numbers_apart(c.greatest, want.greatest) <= (in_double ? 1e-14 : 1e-6));
  CHECK(numbers_apart(c.log_sum, want.log_sum) <= (in_double ? 1e-14 : 1e-6));
  CHECK(apart(c.out, want.out) <= bound);
  c.backward();
  CHECK(apart(c.d_v, want.d_v) <= bound);
  CHECK(apart(c.d_q, want.d_q) <= bound);
  CHECK(apart(c.d_k, want.d_k) <= bound);
  if (!s.bias) return;
  auto d_bias = want.d_bias;
  for (std::size_t i = 0; i < d_bias.value.size(); ++i)
    if (!want.reached[i] && c.d_bias[i] == 77) d_bias.value[i] = 77;  // as it was
  CHECK(apart(c.d_bias, d_bias) <= (in_double && s.bias_in_f32 ? 1e-7 : bound));
}

settings drawn(unsigned seed) {
  std::mt19937 random(seed);
  auto const any = [&](auto const&... of) {
    count_t const all[] = {static_cast<count_t>(of)...};
    return all[random() % sizeof...(of)];
  };
  settings s{.seed = seed};
  s.key_heads = any(1, 1, 2, 3, 9);
  s.heads = s.key_heads * any(1, 1, 2, 3);
  s.head = any(1, 2, 5, 8, 16, 17, 24, 31, 64, 80, 128);
  s.texts = any(1, 2, 3);
  auto const length = [&] { return any(0, 1, 2, 15, 16, 17, 33, 63, 64, 65, 100, 128, 129, 200); };
  s.queries = length();
  s.keys = random() % 2 ? s.queries : length();
  if (random() % 3 == 0) {
    for (count_t t = 0; t < s.texts; ++t) {
      s.lengths.push_back(length());
      s.key_lengths.push_back(s.keys == s.queries ? s.lengths.back() : length());
    }
    s.rows_before = static_cast<int>(random() % 3);
    s.rows_behind = static_cast<int>(random() % 5);
  } else if (random() % 4 == 0) {
    s.key_rows = s.keys + any(1, 70);
  }
  s.causal = random() % 2 != 0;
  if (random() % 3 == 0) s.window = any(1, 2, 30, 64, 1000);
  s.mask = static_cast<int>(random() % 4 % 3);
  if (random() % 3 == 0) s.rate = random() % 2 ? 0.1f : 0.5f;
  if (random() % 2) {
    s.bias = std::array<bool, 4>{random() % 2 != 0, random() % 2 != 0, random() % 2 != 0, random() % 2 != 0};
    s.keys_first = random() % 4 == 0;
    s.bias_in_f32 = random() % 2 != 0;
  }
  return s;
}

}  // namespace

TEST_CASE("attention and its gradients are those of plain loops, whatever the lengths, masks and biases", "[attention]") {
  for (unsigned seed = 1; seed <= 120; ++seed) check<f32>(drawn(seed));
}

TEST_CASE("powers of e in attention of doubles are exact to two units in the last place, and 0 where nothing is left", "[attention]") {
  using V = cpu::simd<f64>;
  auto const of = [](double x) { return cpu::detail::exp_of_negative(V(x))[0]; };
  std::mt19937_64 random(3);
  for (int i = 0; i < 10000; ++i) {
    double const x = -708.0 * std::pow(static_cast<double>(random() >> 11) * 0x1p-53, i % 4 + 1);
    long double const want = std::exp(static_cast<long double>(x));
    double const unit = std::nextafter(static_cast<double>(want), 1e300) - static_cast<double>(want);
    if (!(std::abs(static_cast<long double>(of(x)) - want) <= 2 * static_cast<long double>(unit))) FAIL(x << ": " << of(x));
  }
  CHECK(of(0) == 1);
  for (double const x : {-709.0, -745.0, -1e30, -std::numeric_limits<double>::infinity()}) CHECK(of(x) == 0);
  CHECK(std::isnan(of(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("attention of doubles is as exact as they are", "[attention]") {
  for (unsigned seed = 2001; seed <= 2025; ++seed) check<f64>(drawn(seed));
  check<f64>({.queries = 150, .keys = 1300, .heads = 8, .key_heads = 4, .head = 16, .causal = true, .mask = 1, .seed = 7});
}

TEMPLATE_TEST_CASE("attention of halves is that of their values", "[attention]", bf16, f16) {
  for (unsigned seed = 1001; seed <= 1030; ++seed) check<TestType>(drawn(seed));
}

TEST_CASE("a long text has its gradients from several chunks of keys, and from stripes where heads are few", "[attention]") {
  for (count_t const key_heads : {1, 4, 8})
    for (bool const causal : {false, true}) {
      settings s{.queries = 150, .keys = 1300, .heads = 8, .key_heads = key_heads, .head = 16, .causal = causal, .mask = causal ? 1 : 0, .seed = 7};
      check<f32>(s);
      s.heads = key_heads;
      check<bf16>(s);
      s.window = 300;
      check<f32>(s);
    }
}

TEST_CASE("a bias is broadcast along any axes, and its gradient is their sum", "[attention]") {
  for (unsigned axes = 0; axes < 16; ++axes)
    for (bool const packed : {false, true}) {
      settings s{.texts = 2, .queries = 70, .keys = 90, .heads = 4, .key_heads = 2, .head = 20, .causal = true, .seed = 3 + axes};
      s.bias = std::array<bool, 4>{(axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0, (axes & 8) != 0};
      if (packed) {
        s.lengths = {40, 0, 77};
        s.key_lengths = {66, 5, 77};
      }
      check<f32>(s);
      s.keys_first = true;
      s.bias_in_f32 = false;
      check<bf16>(s);
    }
}

TEST_CASE("queries that see nothing have equal probabilities for all keys", "[attention]") {
  problem<f32> c({.texts = 2, .queries = 5, .keys = 150, .heads = 2, .key_heads = 1, .head = 3, .causal = true, .mask = 2});
  c.forward();
  for (count_t h = 0; h < 2; ++h)
    for (count_t i = 0; i < 5; ++i)
      for (count_t d = 0; d < 3; ++d) {
        double mean = 0;
        for (count_t j = 0; j < 150; ++j) mean += as_double(c.v[size(j * 3 + d)]) / 150;
        CHECK(std::abs(mean - as_double(c.out[size((i * 2 + h) * 3 + d)])) < 1e-6);
      }
}

TEST_CASE("the reference's gradients are central differences", "[attention]") {
  settings s{.texts = 2, .queries = 3, .keys = 6, .heads = 4, .key_heads = 2, .head = 3, .window = 3, .causal = true, .mask = 1, .rate = 0.3f, .seed = 11};
  s.bias = std::array<bool, 4>{true, false, true, false};
  problem<f32> const c(s);
  auto const want = expected(c);
  auto const slopes = [&](which of, std::vector<double> const& gradient) {
    for (count_t i = 0; i < static_cast<count_t>(gradient.size()); ++i) {
      double const h = 1e-5, slope = (expected(c, of, i, h).loss - expected(c, of, i, -h).loss) / (2 * h);
      CHECK(std::abs(slope - gradient[size(i)]) < 1e-8);
    }
  };
  slopes(which::q, want.d_q.value);
  slopes(which::k, want.d_k.value);
  slopes(which::v, want.d_v.value);
  slopes(which::bias, want.d_bias.value);
}
