// The reference backend: plain loops in f64 over any program. Slow, short, and what every other backend is tested against.
// Storage keeps the element types of the program; use f64 tensors for f64 results.
#pragma once

#include <tx/core/math.hpp>
#include <tx/exec/elements.hpp>
#include <tx/exec/frame.hpp>
#include <tx/exec/scratch.hpp>

#include <new>
#include <vector>

namespace tx::backends::plain {

template <dtype D>
double load(std::byte const* p) {
  return static_cast<double>(number_of(*reinterpret_cast<element_t<D> const*>(p)));
}
template <dtype D>
void store(std::byte* p, double value) {
  *reinterpret_cast<element_t<D>*>(p) = exec::element_of<element_t<D>>(value);
}

template <class F>
class values;

// The values of a fused group at one element, each computed when asked for.
template <bool Exact, class... In, class... Let, class... Out>
class values<exec::fused<Exact, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>> {
  static constexpr int inputs = sizeof...(In);
  template <int V>
  using input = std::tuple_element_t<V, std::tuple<In...>>;
  template <int K>
  using let = std::tuple_element_t<K, std::tuple<Let...>>;
  static constexpr bool has_product = inputs > 0 && ((In::sig.how == exec::access::product) || ...);

 public:
  values(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands, std::vector<double> const& product)
      : f_(f), c_(c), in_(operands), out_(operands + inputs - has_product), product_(product) {}

  // A result may lie over an operand that is read for the last time, at the same element: sums over rows are known before
  // anything is written, and the results of a row before any of them is.
  void run() {
    [&]<int... O>(std::integer_sequence<int, O...>) {
      std::vector<double> sums[sizeof...(Out)] = {sum_columns<O>()...};
      std::vector<double> row_values[sizeof...(Out)];
      for (std::int64_t row = f_.first_row(c_); row < f_.end_row(c_); ++row) {
        ((row_values[O] = map_row<O>(row)), ...);
        (write<O>(row, row_values[O]), ...);
      }
      (write<O>(-1, sums[O]), ...);
    }(std::make_integer_sequence<int, sizeof...(Out)>{});
  }

 private:
  template <int V>
  double at(std::int64_t row, std::int64_t col) const {
    if constexpr (V < inputs) {
      constexpr exec::in_sig sig = input<V>::sig;
      if constexpr (sig.how == exec::access::product) {
        return product_[static_cast<std::size_t>(row * c_.cols + col)];
      } else {
        exec::operand_ref const& r = in_[V - has_product];
        if constexpr (sig.how == exec::access::constant) return r.value;
        else if constexpr (sig.how == exec::access::position)
          return static_cast<double>(r.rank == 0 ? col : row / r.stride[0] % r.extent[0]);
        else if constexpr (sig.how == exec::access::random) {
          auto const column = static_cast<std::uint32_t>(col);
          return to_uniform(random_block(f_.key, f_.stream(r), f_.random_row(r, row), column)[column % 4]);
        } else {
          std::int64_t const k = exec::row_offset(r, row) + (sig.how == exec::access::row ? 0 : col * r.col);
          return load<sig.type>(f_.at<std::byte>(r) + k * size_of(sig.type));
        }
      }
    } else {
      using l = let<V - inputs>;
      double x = 0;
      if constexpr (l::shape == exec::form::row_reduce) {
        x = l::rule::template identity<double>();
        for (std::int64_t c = 0; c < c_.cols; ++c) x = l::rule::apply(x, at<l::operand[0]>(row, c));
      } else if constexpr (l::shape == exec::form::col_reduce) {
        x = l::rule::template identity<double>();
        for (std::int64_t r = 0; r < f_.rows(c_); ++r) x = l::rule::apply(x, at<l::operand[0]>(r, col));
      } else if constexpr (l::count == 1) {
        x = static_cast<double>(l::rule::apply(operand<l, 0>(row, col)));
      } else if constexpr (l::count == 2) {
        x = static_cast<double>(l::rule::apply(operand<l, 0>(row, col), operand<l, 1>(row, col)));
      } else {
        x = static_cast<double>(l::rule::apply(operand<l, 0>(row, col), operand<l, 1>(row, col), operand<l, 2>(row, col)));
      }
      if constexpr (is_half(l::type) || is_integer(l::type)) return static_cast<double>(number_of(exec::element_of<element_t<l::type>>(x)));
      else return x;
    }
  }
  // Conditions are bool, everything else f64.
  template <class L, int K>
  auto operand(std::int64_t row, std::int64_t col) const {
    constexpr int v = L::operand[K];
    constexpr dtype types[] = {In::sig.type..., Let::type..., dtype::f32};
    if constexpr (types[v] == dtype::boolean) return at<v>(row, col) != 0;
    else return at<v>(row, col);
  }

  template <int O>
  static constexpr exec::out_sig out_of = std::tuple_element_t<O, std::tuple<Out...>>::sig;

  template <int O>
  std::vector<double> sum_columns() const {
    std::vector<double> v;
    if constexpr (out_of<O>.shape == exec::form::col_reduce) {
      constexpr int value = out_of<O>.value;
      bool const differ = exec::program_of<exec::fused<Exact, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>>
                              .by_column[let<value - inputs>::operand[0]];  // else all columns have one sum
      for (std::int64_t c = 0; c < (out_of<O>.per_row ? 1 : c_.cols); ++c) v.push_back(differ || c == 0 ? at<value>(0, c) : v.back());
    }
    return v;
  }
  template <int O>
  std::vector<double> map_row(std::int64_t row) const {
    std::vector<double> v;
    if constexpr (out_of<O>.shape != exec::form::col_reduce)
      for (std::int64_t c = 0; c < (out_of<O>.per_row ? 1 : c_.cols); ++c) v.push_back(at<out_of<O>.value>(row, c));
    return v;
  }
  template <int O>
  void write(std::int64_t row, std::vector<double> const& row_values) const {
    exec::operand_ref const& r = out_[O];
    std::int64_t const first = row < 0 ? 0 : exec::row_offset(r, row);
    for (std::size_t c = 0; c < row_values.size(); ++c)
      store<out_of<O>.type>(f_.at<std::byte>(r) + (first + static_cast<std::int64_t>(c)) * size_of(out_of<O>.type), row_values[c]);
  }

  exec::frame const& f_;
  exec::call const& c_;
  exec::operand_ref const* in_;
  exec::operand_ref const* out_;
  std::vector<double> const& product_;
};

template <class Signature>
struct kernel;

template <bool Exact, class... In, class Lets, class Outs>
struct kernel<exec::fused<Exact, exec::ins<In...>, Lets, Outs>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    values<exec::fused<Exact, exec::ins<In...>, Lets, Outs>>(f, c, operands, {}).run();
  }
};

template <dtype D, class Epilogue>
struct kernel<exec::gemm<D, Epilogue>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    exec::operand_ref const& a = operands[0];
    exec::operand_ref const& b = operands[1];
    std::int64_t const all = f.rows(c);
    std::int64_t const rows = f.matrix_rows(c);
    std::vector<double> product(static_cast<std::size_t>(all * c.cols));
    for (std::int64_t r = f.first_row(c); r < f.end_row(c); ++r)
      for (std::int64_t j = 0; j < c.cols; ++j) {
        std::int64_t const left = exec::row_offset(a, r / rows) + r % rows * a.row;
        std::int64_t const right = exec::row_offset(b, r / rows) + j * b.col;
        double sum = 0;
        for (std::int64_t k = 0; k < f.depth(c); ++k)
          sum += load<D>(f.at<std::byte>(a) + (left + k * a.col) * size_of(D)) * load<D>(f.at<std::byte>(b) + (right + k * b.row) * size_of(D));
        product[static_cast<std::size_t>(r * c.cols + j)] = sum;
      }
    values<Epilogue>(f, c, operands + 2, product).run();
  }
};

template <class Rule, dtype Out, dtype... In>
struct kernel<exec::whole<Rule, Out, In...>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    [&]<int... K>(std::integer_sequence<int, K...>) {
      Rule::run(0, 1, c.at, whole_operand<element_t<Out>>{f.at<element_t<Out>>(operands[0]), f.dims(operands[0])},
                whole_operand<element_t<In> const>{f.at<element_t<In> const>(operands[K + 1]), f.dims(operands[K + 1])}...);
    }(std::make_integer_sequence<int, sizeof...(In)>{});
  }
};

template <>
struct kernel<exec::zero> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    for (std::int64_t i = 0; i < c.cols; ++i) f.at<std::byte>(operands[0])[i] = std::byte{0};
  }
};

}  // namespace tx::backends::plain

namespace tx {

struct reference {
  template <class Signature>
  using kernel = backends::plain::kernel<Signature>;

  static std::byte* allocate(std::int64_t count) {
    return static_cast<std::byte*>(::operator new(static_cast<std::size_t>(count), std::align_val_t{exec::alignment}));
  }
  static void release(std::byte* p, std::int64_t) { ::operator delete(p, std::align_val_t{exec::alignment}); }
  static int default_threads() { return 1; }
  static void check_machine() {}
};

}  // namespace tx
