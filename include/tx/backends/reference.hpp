// The reference backend: plain loops over any program, each operation and sum in f64, or i64 for integers, and its result rounded to its type. Slow, short, and what every
// other backend is tested against. Storage keeps the element types of the program; use f64 tensors for f64 results.
#pragma once

#include <tx/backends/cpu/target.hpp>
#include <tx/core/elements.hpp>
#include <tx/core/math.hpp>
#include <tx/run/whole_operands.hpp>

#include <new>
#include <tuple>
#include <vector>

namespace tx::backends::plain {

// An integer of 64 bits that wraps around, with the functions that rules ask of numbers.
struct integer {
  std::int64_t v = 0;

  constexpr integer() = default;
  constexpr integer(std::int64_t x) : v(x) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit constexpr operator T() const {
    return static_cast<T>(v);
  }
  constexpr std::uint64_t bits() const { return static_cast<std::uint64_t>(v); }
  static constexpr integer of(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

  friend constexpr integer operator+(integer a, integer b) { return of(a.bits() + b.bits()); }
  friend constexpr integer operator-(integer a, integer b) { return of(a.bits() - b.bits()); }
  friend constexpr integer operator*(integer a, integer b) { return of(a.bits() * b.bits()); }
  friend constexpr integer operator/(integer a, integer b) { return divide(a, b); }
  friend constexpr integer operator-(integer a) { return of(0 - a.bits()); }
  friend constexpr integer operator&(integer a, integer b) { return a.v & b.v; }
  friend constexpr integer operator|(integer a, integer b) { return a.v | b.v; }
  friend constexpr integer operator^(integer a, integer b) { return a.v ^ b.v; }
  friend constexpr integer operator<<(integer a, int n) { return of(a.bits() << n); }
  friend constexpr integer operator>>(integer a, int n) { return a.v >> n; }
  friend constexpr bool operator==(integer a, integer b) { return a.v == b.v; }
  friend constexpr auto operator<=>(integer a, integer b) { return a.v <=> b.v; }
  friend constexpr integer min(integer a, integer b) { return b < a ? b : a; }
  friend constexpr integer max(integer a, integer b) { return a < b ? b : a; }
  friend constexpr integer abs(integer a) { return a < 0 ? -a : a; }
  friend constexpr integer floor(integer a) { return a; }
  friend constexpr integer fma(integer a, integer b, integer c) { return a * b + c; }
  friend constexpr integer divide(integer a, integer b) { return math::divide(a.v, b.v); }
  friend constexpr integer select(bool condition, integer a, integer b) { return condition ? a : b; }
};

// What values of a type are computed in.
template <dtype D>
using number_t = std::conditional_t<D == dtype::boolean, bool, std::conditional_t<is_integer(D), integer, double>>;

// What an element of type D makes of a number. f32 is rounded although f64 would be closer: a value that is computed again is then what another kernel stored,
// as the gradient of a maximum needs, which asks which elements equal it.
template <dtype D, class X>
number_t<D> as(X x) {
  using T = element_t<D>;
  if constexpr (is_storage_only(D)) return static_cast<double>(element_of<T>(static_cast<double>(x)).widen());
  else if constexpr (is_float(D)) return static_cast<double>(static_cast<T>(static_cast<double>(x)));
  else if constexpr (std::is_floating_point_v<X>) return number_t<D>(element_of<T>(static_cast<double>(x)));
  else return number_t<D>(static_cast<T>(x));
}

template <dtype D>
number_t<D> load(std::byte const* p) {
  return number_t<D>(number_of(*reinterpret_cast<element_t<D> const*>(p)));
}
template <dtype D>
void store(std::byte* p, number_t<D> value) {
  if constexpr (is_float(D)) *reinterpret_cast<element_t<D>*>(p) = element_of<element_t<D>>(value);
  else *reinterpret_cast<element_t<D>*>(p) = static_cast<element_t<D>>(value);
}

template <class F>
class values;

// The values of a fused group at one element, each computed when asked for.
template <int Columns, class... In, class... Let, class... Out>
class values<exec::fused<Columns, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>> {
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
      std::tuple<row_of<O>...> const sums{sum_columns<O>()...};
      for (std::int64_t row = f_.first_row(c_); row < f_.end_row(c_); ++row) {
        std::tuple<row_of<O>...> const row_values{map_row<O>(row)...};
        (write<O>(row, std::get<O>(row_values)), ...);
      }
      (write<O>(-1, std::get<O>(sums)), ...);
    }(std::make_integer_sequence<int, sizeof...(Out)>{});
  }

 private:
  template <int O>
  static constexpr exec::out_sig out_of = std::tuple_element_t<O, std::tuple<Out...>>::sig;
  template <int O>
  using row_of = std::vector<number_t<out_of<O>.type>>;

  template <int V>
  auto at(std::int64_t row, std::int64_t col) const {
    if constexpr (V < inputs) {
      constexpr exec::in_sig sig = input<V>::sig;
      if constexpr (sig.how == exec::access::product) {
        return as<sig.type>(product_[static_cast<std::size_t>(row * c_.cols + col)]);
      } else {
        exec::operand_ref const& r = in_[V - has_product];
        if constexpr (sig.how == exec::access::constant) return as<is_storage_only(sig.type) ? dtype::f32 : sig.type>(r.value);
        else if constexpr (sig.how == exec::access::position)
          return as<sig.type>(r.rank == 0 ? col : row / r.stride[0] % r.extent[0]);
        else if constexpr (sig.how == exec::access::random) {
          auto const column = static_cast<std::uint32_t>(col);
          auto const block = random_block(f_.key, f_.stream(r), f_.random_row(r, row), column);
          return as<sig.type>(to_uniform(block[column % 4]));
        } else {
          std::int64_t const k = exec::row_offset(r, row) + (sig.how == exec::access::row ? 0 : col * r.col);
          return load<sig.type>(f_.at<std::byte>(r) + k * size_of(sig.type));
        }
      }
    } else {
      using l = let<V - inputs>;
      if constexpr (l::shape == exec::form::map) {
        return [&]<int... K>(std::integer_sequence<int, K...>) {
          return as<l::type>(l::rule::apply(at<l::operand[K]>(row, col)...));
        }(std::make_integer_sequence<int, l::count>{});
      } else {
        using T = number_t<l::type>;
        constexpr bool by_row = l::shape == exec::form::row_reduce;
        auto& known = std::get<V - inputs>(known_);
        if (by_row && known.row == row) return known.value;
        T x(l::rule::template identity<std::conditional_t<is_float(l::type), double, element_t<l::type>>>());
        for (std::int64_t k = 0; k < (by_row ? c_.cols : c_.rows); ++k)
          x = static_cast<T>(l::rule::apply(x, at<l::operand[0]>(by_row ? row : k, by_row ? k : col)));
        known = {by_row ? row : -1, as<l::type>(x)};
        return known.value;
      }
    }
  }

  template <int O>
  row_of<O> sum_columns() const {
    row_of<O> v;
    if constexpr (out_of<O>.shape == exec::form::col_reduce) {
      constexpr int value = out_of<O>.value;
      bool const differ = exec::row_sweeps_of<exec::fused<Columns, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>>
                              .by_column[let<value - inputs>::operand[0]];  // else all columns have one sum
      for (std::int64_t c = 0; c < (out_of<O>.per_row ? 1 : c_.cols); ++c) v.push_back(differ || c == 0 ? at<value>(0, c) : v.back());
    }
    return v;
  }
  template <int O>
  row_of<O> map_row(std::int64_t row) const {
    row_of<O> v;
    if constexpr (out_of<O>.shape != exec::form::col_reduce)
      for (std::int64_t c = 0; c < (out_of<O>.per_row ? 1 : c_.cols); ++c) v.push_back(at<out_of<O>.value>(row, c));
    return v;
  }
  template <int O>
  void write(std::int64_t row, row_of<O> const& row_values) const {
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
  // Sums of the row that was last looked at: a sum that others are made of would be computed for each of their elements anew.
  template <class L>
  struct known_sum {
    std::int64_t row = -1;
    number_t<L::type> value{};
  };
  mutable std::tuple<known_sum<Let>...> known_{};
};

template <class Signature>
struct kernel;

template <int Columns, class... In, class Lets, class Outs>
struct kernel<exec::fused<Columns, exec::ins<In...>, Lets, Outs>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    values<exec::fused<Columns, exec::ins<In...>, Lets, Outs>>(f, c, operands, {}).run();
  }
};

template <dtype D, class Epilogue>
struct kernel<exec::gemm<D, Epilogue>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    exec::operand_ref const& a = operands[0];
    exec::operand_ref const& b = operands[1];
    std::int64_t const all = c.rows;
    std::int64_t const rows = f.matrix_rows(c);
    std::vector<double> product(static_cast<std::size_t>(all * c.cols));
    for (std::int64_t r = f.first_row(c); r < f.end_row(c); ++r)
      for (std::int64_t j = 0; j < c.cols; ++j) {
        std::int64_t const left = exec::row_offset(a, r / rows) + r % rows * a.row;
        std::int64_t const right = exec::row_offset(b, r / rows) + j * b.col;
        double sum = 0;
        for (std::int64_t k = 0; k < c.depth; ++k)
          sum += load<D>(f.at<std::byte>(a) + (left + k * a.col) * size_of(D)) * load<D>(f.at<std::byte>(b) + (right + k * b.row) * size_of(D));
        product[static_cast<std::size_t>(r * c.cols + j)] = sum;
      }
    values<Epilogue>(f, c, operands + 2, product).run();
  }
};

template <class Rule, class Results, class Ins>
struct kernel<exec::whole<Rule, Results, Ins>> {
  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    exec::run_share(exec::whole<Rule, Results, Ins>{}, 0, 1, f, c, operands);
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

// Runs what is planned for any target, and unless another is derived from it the CPU's: then both run one plan.
struct reference {
  static constexpr tx::target const& target = cpu_target;
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
