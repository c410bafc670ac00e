// Attention by its definition: plain loops in double, with every score in memory. And problems to try it on.
#pragma once

#include <tx/backends/cpu/attention_backward.hpp>
#include <tx/backends/cpu/attention_finish.hpp>
#include <tx/backends/cpu/attention_forward.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

namespace attention_test {

using namespace tx;
namespace cpu = tx::backends::cpu;
using count_t = std::int64_t;

inline std::size_t size(count_t n) { return static_cast<std::size_t>(n); }

// What a problem is made of; everything in it is drawn from `seed`.
struct settings {
  count_t texts = 1, queries = 1, keys = 1, heads = 1, key_heads = 1, head = 8;
  count_t key_rows = 0, window = 0;
  bool causal = false, bias_in_f32 = true;
  int mask = 0;  // 1: some keys, 2: of text 0 none
  std::optional<std::array<bool, 4>> bias{};  // along which axes it is broadcast
  bool keys_first = false;                    // bias whose queries lie together
  float rate = 0;
  std::vector<count_t> lengths{}, key_lengths{};  // of packed texts
  int rows_before = 0, rows_behind = 0;         // which no packed text has
  unsigned seed = 1;
};

template <class T>
double as_double(T x) { return static_cast<double>(number_of(x)); }
template <class T>
T element_of(double x) {
  if constexpr (is_half(dtype_v<T>)) return T::from(static_cast<float>(x));
  else return static_cast<T>(x);
}

template <class T>
struct problem {
  using sum = cpu::attention_sum<T>;
  settings s;
  std::vector<T> q, k, v, d_out, out;
  std::vector<sum> d_q, d_k, d_v;
  std::vector<sum> greatest, log_sum;
  std::vector<std::uint8_t> mask;
  std::vector<float> bias, d_bias_in_f32;  // where the bias is of T, what it is rounded to
  std::vector<T> bias_of_t, d_bias_of_t;
  std::vector<sum> d_bias;  // whatever it is of
  std::vector<i32> query_offsets, key_offsets;
  cpu::attention_problem<T> p;
  count_t bias_extent[4] = {};

  explicit problem(settings const& from) : s(from) {
    std::mt19937 random(s.seed);
    auto const draw = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
    bool const packed = !s.lengths.empty();
    count_t longest = s.queries, longest_keys = s.keys;
    if (packed) {
      auto const offsets = [&](std::vector<count_t> const& lengths, std::vector<i32>& to, count_t& longest_of) {
        to.assign(1, static_cast<i32>(s.rows_before));
        longest_of = 0;
        for (count_t n : lengths) {
          to.push_back(to.back() + static_cast<i32>(n));
          longest_of = std::max(longest_of, n);
        }
        return to.back() + s.rows_behind;
      };
      s.texts = static_cast<count_t>(s.lengths.size());
      s.queries = offsets(s.lengths, query_offsets, longest);
      s.keys = offsets(s.key_lengths, key_offsets, longest_keys);
    }
    count_t const rows = packed ? s.queries : s.texts * s.queries, key_stride = s.key_rows > 0 ? s.key_rows : s.keys;
    count_t const key_rows = packed ? s.keys : s.texts * key_stride;
    auto const fill = [&](std::vector<T>& to, count_t n) {
      to.resize(size(n));
      for (T& x : to) x = element_of<T>(draw());
    };
    fill(q, rows * s.heads * s.head);
    fill(d_out, rows * s.heads * s.head);
    fill(k, key_rows * s.key_heads * s.head);
    fill(v, key_rows * s.key_heads * s.head);
    T const nothing = element_of<T>(std::numeric_limits<double>::quiet_NaN());
    if (!packed)  // rows of memory without a key are not read
      for (count_t t = 0; t < s.texts; ++t)
        for (count_t j = s.keys; j < key_stride; ++j)
          for (count_t c = 0; c < s.key_heads * s.head; ++c) k[size((t * key_stride + j) * s.key_heads * s.head + c)] = v[size((t * key_stride + j) * s.key_heads * s.head + c)] = nothing;
    out.assign(q.size(), nothing);
    d_q.assign(q.size(), std::numeric_limits<sum>::quiet_NaN());
    d_k.assign(k.size(), std::numeric_limits<sum>::quiet_NaN());
    d_v.assign(k.size(), std::numeric_limits<sum>::quiet_NaN());
    for (auto* x : {&greatest, &log_sum}) x->assign(size(packed ? s.texts * s.heads * longest : rows * s.heads), std::numeric_limits<sum>::quiet_NaN());
    p = {.sizes = {s.texts, s.queries, s.keys, s.heads, s.key_heads, s.head}, .q = q.data(), .k = k.data(), .v = v.data(), .scale = 1.5f / std::sqrt(static_cast<sum>(s.head))};
    p.key_rows = s.key_rows;
    p.causal = s.causal;
    p.window = s.window;
    if (s.mask != 0) {
      mask.resize(size(key_rows));
      for (auto& x : mask) x = random() % 3 == 0 ? 0 : static_cast<std::uint8_t>(1 + random() % 255);
      auto const last = packed ? key_offsets[1] : key_stride;
      if (s.mask == 2) std::fill(mask.begin(), mask.begin() + last, std::uint8_t{0});
      p.key_mask = mask.data();
    }
    p.dropout = {.rate = s.rate, .key = philox_key::from(s.seed), .stream = {s.seed + 5, 3}, .rows = {.first = s.rate > 0 ? (std::uint64_t{1} << 32) - 7 : 0}};
    if (packed) {
      p.query_offsets = query_offsets.data();
      p.key_offsets = key_offsets.data();
      p.longest = longest;
      p.longest_keys = longest_keys;
    }
    if (!s.bias) return;
    count_t const extents[] = {s.texts, s.heads, longest, longest_keys};
    count_t stride = 1;
    for (int n = 0; n < 4; ++n) {
      int const axis = s.keys_first ? (n == 0 ? 2 : n == 1 ? 3 : 3 - n) : 3 - n;
      bool const broadcast = (*s.bias)[size(axis)];
      bias_extent[axis] = broadcast ? 1 : extents[axis];
      p.bias.stride[axis] = broadcast ? 0 : stride;
      stride *= bias_extent[axis];
    }
    bias.resize(size(stride));
    for (float& x : bias) x = static_cast<float>(draw());
    p.bias.in_f32 = s.bias_in_f32;
    d_bias_in_f32.assign(bias.size(), 77.f);
    p.bias.data = bias.data();
    if (s.bias_in_f32) return;
    for (float& x : bias) {
      bias_of_t.push_back(element_of<T>(x));
      x = static_cast<float>(as_double(bias_of_t.back()));
    }
    p.bias.data = bias_of_t.data();
    d_bias_of_t.assign(bias.size(), element_of<T>(77));
  }

  count_t rows() const { return p.query_offsets ? s.queries : s.texts * s.queries; }

  void forward(int shares = 16, bool backwards = false) {
    std::vector<std::byte> room(size(cpu::attention_scratch_bytes(s.head, dtype_v<T>)) + 128, std::byte{0xff});
    auto* const scratch = cpu::detail::align<std::byte>(room.data());
    for (int i = 0; i < shares; ++i) cpu::attention_forward<T>(backwards ? shares - 1 - i : i, shares, p, {out.data(), greatest.data(), log_sum.data()}, scratch);
    for (std::size_t i = size(scratch - room.data() + cpu::attention_scratch_bytes(s.head, dtype_v<T>)); i < room.size(); ++i)
      if (room[i] != std::byte{0xff}) throw std::runtime_error("the scratch is too small");
  }
  void backward(int shares = 16, bool backwards = false) {
    count_t const bytes = cpu::attention_backward_scratch_bytes(s.head, dtype_v<T>), sum_bytes = cpu::attention_sums_bytes(p.sizes, p.query_offsets != nullptr, dtype_v<T>);
    std::vector<std::byte> room(size(bytes) + 128, std::byte{0xff}), more(size(sum_bytes) + 128, std::byte{0xff});
    auto *const scratch = cpu::detail::align<std::byte>(room.data()), *const sums = cpu::detail::align<std::byte>(more.data());
    cpu::attention_gradients<T> g{out.data(), greatest.data(), log_sum.data(), d_out.data(), d_q.data(), d_k.data(), d_v.data(), {}};
    if (s.bias) {
      g.d_bias.in_f32 = s.bias_in_f32;
      g.d_bias.data = s.bias_in_f32 ? static_cast<void*>(d_bias_in_f32.data()) : d_bias_of_t.data();
      std::copy_n(p.bias.stride, 4, g.d_bias.stride);
    }
    auto const share = [&](int i) { return backwards ? shares - 1 - i : i; };
    for (int i = 0; i < shares; ++i) cpu::attention_backward<T>(share(i), shares, p, g, sums, scratch);
    for (int i = 0; i < shares; ++i) cpu::attention_backward_finish<T>(share(i), shares, p, g, sums, scratch);
    for (std::size_t i = size(scratch - room.data() + bytes); i < room.size(); ++i)
      if (room[i] != std::byte{0xff}) throw std::runtime_error("the scratch is too small");
    for (std::size_t i = size(sums - more.data() + sum_bytes); i < more.size(); ++i)
      if (more[i] != std::byte{0xff}) throw std::runtime_error("the sums' memory is too small");
    d_bias.assign(d_bias_in_f32.begin(), d_bias_in_f32.end());
    if (!s.bias_in_f32)
      for (std::size_t i = 0; i < d_bias.size(); ++i) d_bias[i] = static_cast<sum>(as_double(d_bias_of_t[i]));
  }
};

// A result, and the sum of what is added and subtracted for each element, as a measure of rounding.
struct summed {
  std::vector<double> value, terms;

  void clear(std::size_t n) {
    value.assign(n, 0);
    terms.assign(n, 0);
  }
  void add(count_t at, double x, double size_of_x) {
    value[size(at)] += x;
    terms[size(at)] += size_of_x;
  }
};
struct results {
  summed out, d_q, d_k, d_v, d_bias;
  std::vector<double> greatest, log_sum;
  std::vector<bool> reached;  // which elements of the bias some score has
  double loss = 0;            // sum(out d_out)
};

// `shift`: added to an element of q, k, v or the bias.
enum class which { none, q, k, v, bias };
template <class T>
results expected(problem<T> const& c, which moved = which::none, count_t element = 0, double shift = 0) {
  settings const& s = c.s;
  auto const& p = c.p;
  auto const value = [&](which of, auto const& from, count_t at) { return as_double(from[size(at)]) + (moved == of && at == element ? shift : 0); };
  results r;
  r.out.clear(c.q.size());
  r.d_q.clear(c.q.size());
  r.d_k.clear(c.k.size());
  r.d_v.clear(c.k.size());
  for (auto* x : {&r.greatest, &r.log_sum}) x->assign(c.greatest.size(), std::numeric_limits<double>::quiet_NaN());  // past the end of packed texts it is left as it is
  r.d_bias.clear(c.bias.size());
  r.reached.assign(c.bias.size(), false);
  bool const packed = p.query_offsets != nullptr;
  count_t const group = s.heads / s.key_heads, key_stride = s.key_rows > 0 ? s.key_rows : s.keys;
  for (count_t t = 0; t < s.texts; ++t)
    for (count_t h = 0; h < s.heads; ++h) {
      count_t const q0 = packed ? c.query_offsets[size(t)] : t * s.queries, k0 = packed ? c.key_offsets[size(t)] : t * key_stride;
      count_t const queries = packed ? c.query_offsets[size(t + 1)] - q0 : s.queries, keys = packed ? c.key_offsets[size(t + 1)] - k0 : s.keys;
      for (count_t i = 0; i < queries; ++i) {
        count_t const at_q = ((q0 + i) * s.heads + h) * s.head, row = (t * s.heads + h) * (packed ? p.longest : s.queries) + i;
        auto const key = [&](count_t j) { return ((k0 + j) * s.key_heads + h / group) * s.head; };
        auto const bias_at = [&](count_t j) { return t * p.bias.stride[0] + h * p.bias.stride[1] + i * p.bias.stride[2] + j * p.bias.stride[3]; };
        std::vector<double> score(size(keys)), kept(size(keys), 1);
        std::vector<bool> seen(size(keys));
        double greatest = -std::numeric_limits<double>::infinity();
        for (count_t j = 0; j < keys; ++j) {
          count_t const place = i + keys - queries;
          seen[size(j)] = (p.key_mask == nullptr || p.key_mask[k0 + j] != 0) && (!p.causal || j <= place) && (p.window == 0 || std::abs(place - j) < p.window);
          double x = 0;
          for (count_t d = 0; d < s.head; ++d) x += value(which::q, c.q, at_q + d) * value(which::k, c.k, key(j) + d);
          x *= static_cast<double>(p.scale);
          if (s.bias) {
            x += value(which::bias, c.bias, bias_at(j));
            r.reached[size(bias_at(j))] = true;
          }
          score[size(j)] = seen[size(j)] ? (s.bias ? std::max(x, static_cast<double>(-1e29f)) : x) : static_cast<double>(-1e30f);
          greatest = std::max(greatest, score[size(j)]);
          if (s.rate > 0)
            kept[size(j)] = uniform(p.dropout.key, p.dropout.stream, p.dropout.rows(row), static_cast<std::uint32_t>(j)) < s.rate ? 0 : static_cast<double>(1 / (1 - s.rate));
        }
        double sum = 0;
        for (double& x : score) sum += x = std::exp(x - greatest);
        r.greatest[size(row)] = keys == 0 ? static_cast<double>(-1e30f) : greatest;
        r.log_sum[size(row)] = std::log(sum);
        double inner = 0, inner_terms = 0;
        std::vector<double> slope(size(keys)), slope_terms(size(keys));  // by the probability
        for (count_t j = 0; j < keys; ++j) {
          score[size(j)] /= sum;
          for (count_t d = 0; d < s.head; ++d) {
            double const weight = score[size(j)] * kept[size(j)], x = value(which::v, c.v, key(j) + d), dx = as_double(c.d_out[size(at_q + d)]);
            r.out.add(at_q + d, weight * x, weight * std::abs(x));
            r.d_v.add(key(j) + d, weight * dx, weight * std::abs(dx));
            slope[size(j)] += kept[size(j)] * dx * x;
            slope_terms[size(j)] += kept[size(j)] * std::abs(dx * x);
          }
          inner += slope[size(j)] * score[size(j)];
          inner_terms += slope_terms[size(j)] * score[size(j)];
        }
        for (count_t d = 0; d < s.head; ++d) r.loss += r.out.value[size(at_q + d)] * as_double(c.d_out[size(at_q + d)]);
        for (count_t j = 0; j < keys; ++j) {
          if (!seen[size(j)]) continue;
          double const d_score = score[size(j)] * (slope[size(j)] - inner), terms = score[size(j)] * (slope_terms[size(j)] + inner_terms);
          if (s.bias) r.d_bias.add(bias_at(j), d_score, terms);
          for (count_t d = 0; d < s.head; ++d) {
            double const by_q = static_cast<double>(p.scale) * as_double(c.k[size(key(j) + d)]), by_k = static_cast<double>(p.scale) * as_double(c.q[size(at_q + d)]);
            r.d_q.add(at_q + d, d_score * by_q, terms * std::abs(by_q));
            r.d_k.add(key(j) + d, d_score * by_k, terms * std::abs(by_k));
          }
        }
      }
    }
  return r;
}

}  // namespace attention_test
