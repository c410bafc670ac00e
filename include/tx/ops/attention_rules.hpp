// Attention and its gradient in plain loops: each number is computed where it is needed, and no score is kept. What devices run, and what
// faster kernels are compared with.
#pragma once

#include <tx/core/math.hpp>
#include <tx/ops/attention_facts.hpp>
#include <tx/ops/partitioned.hpp>

#include <limits>

namespace tx::rules {

namespace attention_parts {

// One text: its number, its rows of q and of k.
struct text {
  std::int64_t t, first_query, queries, first_key, keys;
};
// A score's place: text, head, query and key within the text.
struct place {
  text of;
  std::int64_t h, i, j;
};

template <class T>
TX_HD T element(double x) {
  if constexpr (requires { T::from(0.0f); }) return T::from(static_cast<float>(x));
  else return static_cast<T>(x);
}

// As it is kept: a greatest score that is read again must be one of those that it is compared with.
template <class L>
TX_HD double kept_as(double x) {
  return static_cast<double>(number_of(element<L>(x)));
}

// What one of the operands behind the values says of a score; `at`: which of them it is.
template <class T>
TX_HD double bias_of(attention_facts const& f, int at, whole_operand<T const> const& x, place const& p) {
  if (!f.bias || at != f.bias_at()) return 0;
  auto const along = [&](int axis, std::int64_t k) { return x.dims.dim[axis] == 1 ? 0 : k; };
  return static_cast<double>(number_of(
      x.data[((along(0, p.of.t) * x.dims.dim[1] + along(1, p.h)) * x.dims.dim[2] + along(2, p.i)) * x.dims.dim[3] + along(3, p.j)]));
}
TX_HD inline double bias_of(attention_facts const&, int, drawn_operand const&, place const&) { return 0; }

template <class T>
TX_HD bool takes_part(attention_facts const& f, int at, whole_operand<T const> const& x, place const& p) {
  return !f.mask || at != f.mask_at() || number_of(x.data[p.of.t * x.dims.last() + p.j]) != 0;
}
TX_HD inline bool takes_part(attention_facts const&, int, drawn_operand const&, place const&) { return true; }

template <class T>
TX_HD double rate_of(attention_facts const& f, int at, whole_operand<T const> const& x) {
  return at == f.rate_at() ? static_cast<double>(number_of(x.data[0])) : 0;
}
TX_HD inline double rate_of(attention_facts const&, int, drawn_operand const&) { return 0; }

// Where packed text t begins, of rows of q or of k; offsets_at: which of the operands tells.
template <class T>
TX_HD std::int64_t start_of(int offsets_at, int at, whole_operand<T const> const& x, std::int64_t t, std::int64_t rows) {
  if (at != offsets_at) return 0;
  auto const start = static_cast<std::int64_t>(number_of(x.data[t]));
  return start < 0 ? 0 : start > rows ? rows : start;  // whatever they are, no row is read that is not there
}
TX_HD inline std::int64_t start_of(int, int, drawn_operand const&, std::int64_t, std::int64_t) { return 0; }
template <class T>
TX_HD std::int64_t texts_of(attention_facts const& f, int at, whole_operand<T const> const& x) {
  return f.packed() && at == f.query_offsets_at() ? x.dims.dim[0] - 1 : 0;
}
TX_HD inline std::int64_t texts_of(attention_facts const&, int, drawn_operand const&) { return 0; }

template <class U>
TX_HD double noise_of(attention_facts const& f, int at, U const& u, std::int64_t row, std::int64_t col) {
  if constexpr (requires { uniform_at(u, row, col); }) return at == f.noise_at() ? static_cast<double>(number_of(uniform_at(u, row, col))) : 0;
  else return 0;
}

// One call: its operands, scores and what dropout makes of probabilities.
template <class T, class... Behind>
struct scores {
  attention_facts f;
  whole_operand<T const> q, k;
  std::int64_t queries, keys, head, group;

  TX_HD scores(attributes const& at, whole_operand<T const> const& queries_of, whole_operand<T const> const& keys_of)
      : f(attention_facts_of(at)), q(queries_of), k(keys_of), queries(f.packed() ? f.longest : q.dims.dim[1]), keys(f.packed() ? f.longest_keys() : k.dims.dim[1]),
        head(q.dims.last() / f.heads), group(f.heads / f.key_heads) {}

  TX_HD std::int64_t texts(Behind const&... behind) const {
    if (!f.packed()) return q.dims.dim[0];
    int at = 0;
    std::int64_t n = 0;
    ((n += texts_of(f, at++, behind)), ...);
    return n;
  }
  TX_HD text text_of(std::int64_t t, Behind const&... behind) const {
    if (!f.packed()) return {t, t * queries, queries, t * keys, keys};
    stretch const of_q = stretch_of(t, f.query_offsets_at(), q.dims.dim[0], f.longest, behind...);
    if (!f.keys_apart()) return {t, of_q.first, of_q.length, of_q.first, of_q.length};
    stretch const of_k = stretch_of(t, f.key_offsets_at(), k.dims.dim[0], f.key_longest, behind...);
    return {t, of_q.first, of_q.length, of_k.first, of_k.length};
  }
  // The text that has a row of q, or of k where `of_keys`; t is -1 where none has it.
  TX_HD text text_with(std::int64_t row, bool of_keys, Behind const&... behind) const {
    if (!f.packed()) return text_of(row / (of_keys ? keys : queries), behind...);
    for (std::int64_t t = 0; t < texts(behind...); ++t) {
      text const one = text_of(t, behind...);
      std::int64_t const first = of_keys ? one.first_key : one.first_query, length = of_keys ? one.keys : one.queries;
      if (row >= first && row < first + length) return one;
    }
    return {-1, 0, 0, 0, 0};
  }

  // Elements of a query or of what has its shape, and of a key or of what has its.
  TX_HD std::int64_t query(place const& p) const { return ((p.of.first_query + p.i) * f.heads + p.h) * head; }
  TX_HD std::int64_t key(place const& p) const { return ((p.of.first_key + p.j) * f.key_heads + p.h / group) * head; }
  TX_HD std::int64_t row(place const& p) const { return (p.of.t * f.heads + p.h) * queries + p.i; }

  template <class A, class B>
  TX_HD double dot(A const* a, B const* b) const {
    double sum = 0;
    for (std::int64_t d = 0; d < head; ++d) sum += static_cast<double>(number_of(a[d])) * static_cast<double>(number_of(b[d]));
    return sum;
  }
  TX_HD bool sees(place const& p, Behind const&... behind) const {
    int at = 0;
    bool part = f.sees(p.i, p.j);
    ((part = takes_part(f, at++, behind, p) && part), ...);
    return part;
  }
  TX_HD double score(place const& p, Behind const&... behind) const {
    if (!sees(p, behind...)) return masked_score;
    int at = 0;
    double s = f.scale * dot(q.data + query(p), k.data + key(p));
    ((s += bias_of(f, at++, behind, p)), ...);
    return f.bias && s < lowest_score ? lowest_score : s;
  }
  // What a probability is multiplied with.
  TX_HD double kept(place const& p, Behind const&... behind) const {
    if (!f.dropout) return 1;
    int at = 0;
    float rate = 0;  // and its scale as ops/dropout.hpp has it
    double u = 0;
    ((rate += static_cast<float>(rate_of(f, at, behind)), u += noise_of(f, at, behind, row(p), p.j), ++at), ...);
    return u < rate || rate >= 1 ? 0 : static_cast<double>(1 / (1 - rate));
  }

 private:
  struct stretch {
    std::int64_t first, length;
  };
  // Rows of packed text t, of so many there are.
  TX_HD stretch stretch_of(std::int64_t t, int offsets_at, std::int64_t rows, std::int64_t longest, Behind const&... behind) const {
    std::int64_t const first = start(t, offsets_at, rows, behind...), end = start(t + 1, offsets_at, rows, behind...);
    return {first, end < first ? 0 : end - first < longest ? end - first : longest};
  }
  TX_HD std::int64_t start([[maybe_unused]] std::int64_t t, [[maybe_unused]] int offsets_at, [[maybe_unused]] std::int64_t rows, Behind const&... behind) const {
    int at = 0;
    std::int64_t sum = 0;
    ((sum += start_of(offsets_at, at++, behind, t, rows)), ...);
    return sum;
  }
};

}  // namespace attention_parts

struct attention {
  // A share has rows of scores: their out, and their two numbers.
  template <class T, class L, class... Behind>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<L> greatest, whole_operand<L> log_sum,
                        whole_operand<T const> q, whole_operand<T const> k, whole_operand<T const> v, Behind const&... behind) {
    attention_parts::scores<T, Behind...> const s(at, q, k);
    std::int64_t const rows = s.texts(behind...) * s.f.heads * s.queries;
    for (std::int64_t r = rows * share / shares; r < rows * (share + 1) / shares; ++r) {
      attention_parts::text const text = s.text_of(r / s.queries / s.f.heads, behind...);
      std::int64_t const h = r / s.queries % s.f.heads, i = r % s.queries;
      if (i >= text.queries) continue;
      auto const score = [&](std::int64_t j) { return attention_parts::kept_as<L>(s.score({text, h, i, j}, behind...)); };
      double most = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t j = 0; j < text.keys; ++j) {
        double const x = score(j);
        if (x > most) most = x;
      }
      for (std::int64_t j = 0; j < text.keys; ++j) sum += math::exp(score(j) - most);
      greatest.data[r] = attention_parts::element<L>(most);
      log_sum.data[r] = attention_parts::element<L>(math::log(sum));
      constexpr std::int64_t together = 32;  // elements of a head
      for (std::int64_t first = 0; first < s.head; first += together) {
        double all[together] = {};
        std::int64_t const count = s.head - first < together ? s.head - first : together;
        for (std::int64_t j = 0; j < text.keys; ++j) {
          attention_parts::place const p{text, h, i, j};
          double const weight = math::exp(score(j) - most) / sum * s.kept(p, behind...);
          T const* const value = v.data + s.key(p) + first;
          for (std::int64_t d = 0; d < count; ++d) all[d] += weight * static_cast<double>(number_of(value[d]));
        }
        for (std::int64_t d = 0; d < count; ++d) out.data[s.query({text, h, i, 0}) + first + d] = attention_parts::element<T>(all[d]);
      }
    }
    // Tokens of no text.
    for (std::int64_t n = 0; s.f.packed() && share == 0 && n < q.dims.dim[0]; ++n)
      if (s.text_with(n, false, behind...).t < 0)
        for (std::int64_t d = 0; d < q.dims.last(); ++d) out.data[n * q.dims.last() + d] = attention_parts::element<T>(0);
  }
};

struct attention_gradient {
  template <class G, class T, class L, class... Behind>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<G> d_q, whole_operand<G> d_k, whole_operand<G> d_v,
                        whole_operand<T const> d_out, whole_operand<T const> out, whole_operand<L const> greatest, whole_operand<L const> log_sum,
                        whole_operand<T const> q, whole_operand<T const> k, whole_operand<T const> v, Behind const&... behind) {
    call<T, L, Behind...> const c{{at, q, k}, d_out, out, greatest, log_sum, v};
    std::int64_t const width = q.dims.last(), key_width = k.dims.last();
    c.of_queries(share, shares, rows_of<G>{d_q.data, width}, behind...);
    c.of_keys(share, shares, rows_of<G>{d_k.data, key_width}, rows_of<G>{d_v.data, key_width}, behind...);
  }
  // And of a bias, which is a sum over what that is broadcast over.
  template <class G, class T, class L, class... Behind>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<G> d_q, whole_operand<G> d_k, whole_operand<G> d_v,
                        whole_operand<G> d_bias, whole_operand<T const> d_out, whole_operand<T const> out, whole_operand<L const> greatest,
                        whole_operand<L const> log_sum, whole_operand<T const> q, whole_operand<T const> k, whole_operand<T const> v, Behind const&... behind) {
    run(share, shares, at, d_q, d_k, d_v, d_out, out, greatest, log_sum, q, k, v, behind...);
    call<T, L, Behind...> const c{{at, q, k}, d_out, out, greatest, log_sum, v};
    shape const& b = d_bias.dims;
    std::int64_t const all[] = {c.s.texts(behind...), c.s.f.heads, c.s.queries, c.s.keys};
    std::int64_t const elements = b.count();
    for (std::int64_t e = elements * share / shares; e < elements * (share + 1) / shares; ++e) {
      std::int64_t first[4], end[4], rest = e;
      for (int a = 3; a >= 0; --a) {
        bool const broadcast = b.dim[a] == 1;
        first[a] = broadcast ? 0 : rest % b.dim[a];
        end[a] = broadcast ? all[a] : first[a] + 1;
        rest /= b.dim[a];
      }
      double sum = 0;
      for (std::int64_t t = first[0]; t < end[0]; ++t) {
        attention_parts::text const text = c.s.text_of(t, behind...);
        for (std::int64_t h = first[1]; h < end[1]; ++h)
          for (std::int64_t i = first[2]; i < end[2] && i < text.queries; ++i)
            for (std::int64_t j = first[3]; j < end[3] && j < text.keys; ++j) sum += c.slope({text, h, i, j}, behind...);
      }
      d_bias.data[e] = attention_parts::element<G>(sum);
    }
  }

  // Rows of a result, so many elements apart.
  template <class G>
  struct rows_of {
    G* data;
    std::int64_t apart;
  };
  template <class T, class L, class... Behind>
  struct call {
    attention_parts::scores<T, Behind...> s;
    whole_operand<T const> d_out, out;
    whole_operand<L const> greatest, log_sum;
    whole_operand<T const> v;

    TX_HD double probability(attention_parts::place const& p, Behind const&... behind) const {
      std::int64_t const row = s.row(p);
      return math::exp(attention_parts::kept_as<L>(s.score(p, behind...)) - static_cast<double>(number_of(greatest.data[row])) - static_cast<double>(number_of(log_sum.data[row])));
    }
    // A share of the elements of q's gradient.
    template <class G>
    TX_HD void of_queries(int share, int shares, rows_of<G> d_q, Behind const&... behind) const {
      std::int64_t const width = s.q.dims.last(), elements = s.q.dims.count();
      for (std::int64_t e = elements * share / shares; e < elements * (share + 1) / shares; ++e) {
        std::int64_t const d = e % s.head, h = e / s.head % s.f.heads, n = e / width;
        attention_parts::text const text = s.text_with(n, false, behind...);
        double sum = 0;
        for (std::int64_t j = 0; j < text.keys; ++j) {
          attention_parts::place const p{text, h, n - text.first_query, j};
          sum += slope(p, behind...) * static_cast<double>(number_of(s.k.data[s.key(p) + d]));
        }
        d_q.data[n * d_q.apart + e % width] = attention_parts::element<G>(s.f.scale * sum);
      }
    }
    // And of those of k and v.
    template <class G>
    TX_HD void of_keys(int share, int shares, rows_of<G> d_k, rows_of<G> d_v, Behind const&... behind) const {
      std::int64_t const width = s.k.dims.last(), elements = s.k.dims.count();
      for (std::int64_t e = elements * share / shares; e < elements * (share + 1) / shares; ++e) {
        std::int64_t const d = e % s.head, of = e / s.head % s.f.key_heads, n = e / width;
        attention_parts::text const text = s.text_with(n, true, behind...);
        double to_key = 0, to_value = 0;
        for (std::int64_t h = of * s.group; h < (of + 1) * s.group; ++h)
          for (std::int64_t i = 0; i < text.queries; ++i) {
            attention_parts::place const p{text, h, i, n - text.first_key};
            to_key += slope(p, behind...) * static_cast<double>(number_of(s.q.data[s.query(p) + d]));
            to_value += probability(p, behind...) * s.kept(p, behind...) * static_cast<double>(number_of(d_out.data[s.query(p) + d]));
          }
        d_k.data[n * d_k.apart + e % width] = attention_parts::element<G>(s.f.scale * to_key);
        d_v.data[n * d_v.apart + e % width] = attention_parts::element<G>(to_value);
      }
    }
    // The gradient of a score.
    TX_HD double slope(attention_parts::place const& p, Behind const&... behind) const {
      if (!s.sees(p, behind...)) return 0;
      T const* const of_query = d_out.data + s.query(p);
      double const of_probability = s.dot(of_query, v.data + s.key(p)) * s.kept(p, behind...);
      return probability(p, behind...) * (of_probability - s.dot(of_query, out.data + s.query(p)));
    }
  };
};

// Side by side, in rows of all three.
struct joined_attention_gradient {
  template <class G, class T, class L, class... Behind>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<G> all, whole_operand<T const> d_out, whole_operand<T const> out, whole_operand<L const> greatest,
                        whole_operand<L const> log_sum, whole_operand<T const> q, whole_operand<T const> k, whole_operand<T const> v, Behind const&... behind) {
    using rows = attention_gradient::rows_of<G>;
    attention_gradient::call<T, L, Behind...> const c{{at, q, k}, d_out, out, greatest, log_sum, v};
    std::int64_t const width = q.dims.last(), key_width = k.dims.last(), apart = all.dims.last();
    c.of_queries(share, shares, rows{all.data, apart}, behind...);
    c.of_keys(share, shares, rows{all.data + width, apart}, rows{all.data + width + key_width, apart}, behind...);
  }
};

}  // namespace tx::rules
