// The body of a fused kernel on a range of rows: per row, sweeps over the columns, a vector at a time.
#pragma once

#include <tx/backends/cpu/random.hpp>
#include <tx/backends/cpu/registers.hpp>
#include <tx/backends/cpu/vector_math.hpp>
#include <tx/backends/cpu/target.hpp>
#include <tx/run/frame.hpp>

namespace tx::backends::cpu {

using exec::access;
using exec::form;

namespace detail {

template <int V, class T>
struct slot {
  T x;
};
template <int V, class T>
TX_INLINE T& get(slot<V, T>& s) {
  return s.x;
}

template <dtype... D>
struct dtype_list {
  static constexpr dtype at[sizeof...(D) + 1] = {D...};
};

template <class F>
struct row_types;
template <int Columns, class... In, class... Let, class... Out>
struct row_types<exec::fused<Columns, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>> {
  static constexpr bool exact = Columns != exec::any_columns;
  static constexpr int inputs = sizeof...(In);
  static constexpr int lets = sizeof...(Let);
  static constexpr int outputs = sizeof...(Out);
  using types = dtype_list<In::sig.type..., Let::type...>;
  template <int K>
  using let = std::tuple_element_t<K, std::tuple<Let...>>;
  template <class S>
  struct pack;
  template <int... V>
  struct pack<std::integer_sequence<int, V...>> {
    struct scalars : slot<V, scalar_t<types::at[V]>>... {};
    struct vectors : slot<V, lanes_t<types::at[V]>>... {};
  };
};

template <class F, int Sweep>
inline constexpr exec::sweep_demand demand_in = exec::demand_of(exec::signatures_of<F>{}, exec::row_sweeps_of<F>, Sweep);

// Numbers below N for which a condition holds, as a sequence to expand.
template <int N>
struct chosen {
  int count = 0;
  int index[N + 1] = {};
};
template <int N, class Condition>
constexpr chosen<N> choose(Condition condition) {
  chosen<N> c{};
  for (int i = 0; i < N; ++i)
    if (condition(i)) c.index[c.count++] = i;
  return c;
}
template <auto Chosen, int... I>
constexpr auto sequence(std::integer_sequence<int, I...>) {
  return std::integer_sequence<int, Chosen.index[I]...>{};
}
template <auto Chosen>
using sequence_of = decltype(sequence<Chosen>(std::make_integer_sequence<int, Chosen.count>{}));

// What the sweeps of a kernel do, as lists: values to compute, reductions and outputs to feed, numbers of the row to derive.
template <class F, int Sweep>
struct pass_lists {
  static constexpr auto sigs = exec::signatures_of<F>{};
  static constexpr exec::row_sweeps const& sweeping = exec::row_sweeps_of<F>;
  static constexpr int inputs = row_types<F>::inputs;
  static constexpr int lets = row_types<F>::lets;
  using computed = sequence_of<choose<exec::max_values>([](int v) { return v < sweeping.values && demand_in<F, Sweep>.value[v]; })>;
  using row_reduced = sequence_of<choose<lets>([](int k) { return sigs.let(k).shape == form::row_reduce && sweeping.sweep[sigs.let(k).operand[0]] == Sweep; })>;
  using col_reduced = sequence_of<choose<lets>([](int k) {
    return sigs.let(k).shape == form::col_reduce && sweeping.by_column[sigs.let(k).operand[0]] && sweeping.sweep[sigs.let(k).operand[0]] == Sweep;
  })>;
  using stored = sequence_of<choose<row_types<F>::outputs>([](int o) {
    return sigs.out(o).shape == form::map && !sigs.out(o).per_row && sweeping.sweep[sigs.out(o).value] == Sweep;
  })>;
  using derived = sequence_of<choose<lets>([](int k) {
    return sigs.let(k).shape == form::map && !sweeping.by_column[inputs + k] && sweeping.sweep[inputs + k] == Sweep;
  })>;
};

}  // namespace detail

// Where the operands of a fused kernel lie; the pointers are those of its first row.
struct row_operands {
  exec::frame const& f;
  exec::call const& c;
  exec::operand_ref const* in;   // of the inputs that are not the product
  exec::operand_ref const* out;
};

template <class F>
class row_body {
  using types = detail::row_types<F>;
  static constexpr auto sigs = exec::signatures_of<F>{};
  static constexpr exec::row_sweeps const& sweeping = exec::row_sweeps_of<F>;
  using values = typename types::template pack<std::make_integer_sequence<int, sweeping.values>>;
  template <int V>
  static constexpr dtype type_of = types::types::at[V];
  static constexpr bool has_product = types::inputs > 0 && sigs.in(0).how == access::product;
  static constexpr int first_input = has_product ? 1 : 0;
  static constexpr std::int64_t product_size = has_product ? size_of(types::types::at[0]) : 0;

 public:
  static constexpr int outputs = types::outputs;

  // No value but those of its own column enters an element: columns may be done in any pieces.
  static constexpr bool by_columns = [] {
    if (sweeping.sweeps > 1 || sweeping.row_sums > 0) return false;
    for (int k = 0; k < types::lets; ++k)
      if (sigs.let(k).shape == form::row_reduce) return false;
    for (int k = 0; k < types::outputs; ++k)
      if (sigs.out(k).per_row) return false;
    return true;
  }();

  // Once before the rows of a share: its sums start at zero. scratch: row_scratch(sweeping, cols) bytes of this share.
  static void clear_sums(std::byte* scratch, std::int64_t cols) {
    if constexpr (sweeping.column_sums + sweeping.row_sums > 0) {
      std::int64_t const row = scratch_row(cols, sweeping.element);
      __builtin_memset(scratch + sweeping.stashes * row, 0, static_cast<std::size_t>(sweeping.column_sums * row + sweeping.row_sums * sweeping.element));
    }
  }

  row_body(row_operands const& o, std::byte* scratch) : o_(o), end_(o.c.cols) {
    std::int64_t const cols = o.c.cols;
    row_bytes_ = scratch_row(cols, sweeping.element);
    stash_ = scratch;
    sums_ = scratch + sweeping.stashes * row_bytes_;
    row_sums_ = sums_ + sweeping.column_sums * row_bytes_;
    for (int i = first_input; i < types::inputs; ++i) {
      exec::operand_ref const& r = o.in[i - first_input];
      base_[i] = r.base >= 0 ? o.f.at<std::byte>(r) : nullptr;
    }
    for (int k = 0; k < types::outputs; ++k) to_[k] = o.f.at<std::byte>(o.out[k]);
  }

  // From now on only columns [first, end), if by_columns.
  void set_columns(std::int64_t first, std::int64_t end) {
    first_ = first;
    end_ = end;
  }

  // Rows [begin, end); the product's row r, from its first column on, is at product + (r - begin) * product_row.
  void run(std::int64_t begin, std::int64_t end, std::byte const* product = nullptr, std::int64_t product_row = 0) {
    for (std::int64_t row = begin; row < end; ++row) {
      row_ = row;
      start_row(std::make_integer_sequence<int, types::inputs>{},
                product == nullptr ? nullptr : product + (row - begin) * product_row - first_ * product_size);
      start_outputs(std::make_integer_sequence<int, types::outputs>{});
      all_sweeps(std::make_integer_sequence<int, sweeping.sweeps>{});
      sum_rows(std::make_integer_sequence<int, types::lets>{});
      finish_outputs(std::make_integer_sequence<int, types::outputs>{});
    }
  }

  // Column sums of one share, for adding up: let K's.
  template <int K>
  static std::byte* sum_of(std::byte* scratch, std::int64_t cols) {
    std::int64_t const row_bytes = scratch_row(cols, sweeping.element);
    constexpr int v = types::inputs + K;
    std::byte* const sums = scratch + sweeping.stashes * row_bytes;
    if constexpr (sweeping.by_column[sigs.let(K).operand[0]]) return sums + sweeping.sum[v] * row_bytes;
    else return sums + sweeping.column_sums * row_bytes + sweeping.sum[v] * sweeping.element;
  }

 private:
  template <int... V>
  TX_INLINE void start_row(std::integer_sequence<int, V...>, std::byte const* product) {
    (start_input<V>(product), ...);
  }
  template <int V>
  TX_INLINE void start_input(std::byte const* product) {
    constexpr exec::in_sig sig = sigs.in(V);
    if constexpr (sig.how == access::product) {
      in_[V] = product;
    } else {
      exec::operand_ref const& r = o_.in[V - first_input];
      if constexpr (sig.how == access::constant)
        detail::get<V>(scalars_) = static_cast<scalar_t<type_of<V>>>(r.value);
      else if constexpr (sig.how == access::row)
        detail::get<V>(scalars_) = load_scalar<sig.type>(base_[V] + exec::row_offset(r, row_) * size_of(sig.type));
      else if constexpr (sig.how == access::contiguous || sig.how == access::strided)
        in_[V] = base_[V] + exec::row_offset(r, row_) * size_of(sig.type);
    }
  }
  template <int... K>
  TX_INLINE void start_outputs(std::integer_sequence<int, K...>) {
    ((out_[K] = sigs.out(K).shape == form::map ? to_[K] + exec::row_offset(o_.out[K], row_) * size_of(sigs.out(K).type) : nullptr), ...);
  }

  // The value in lanes, wherever it is.
  template <int V>
  TX_INLINE auto lanes_value() {
    if constexpr (sweeping.by_column[V]) return detail::get<V>(vectors_);
    else return lanes_t<type_of<V>>(detail::get<V>(scalars_));
  }

  template <int V>
  TX_INLINE auto load_input(std::int64_t c, int n) {
    constexpr exec::in_sig sig = sigs.in(V);
    constexpr std::int64_t size = size_of(sig.type);
    constexpr bool exact = types::exact;
    if constexpr (sig.how == access::contiguous || sig.how == access::product) {
      return load_lanes<sig.type, exact>(in_[V] + c * size, n);
    } else if constexpr (sig.how == access::strided) {
      std::int64_t const stride = o_.in[V - first_input].col;
      return load_lanes<sig.type, exact>(in_[V] + c * stride * size, n, stride);
    } else if constexpr (sig.how == access::position) {
      exec::operand_ref const& r = o_.in[V - first_input];
      if (r.rank == 0) return convert<scalar_t<sig.type>>(count_from(c));
      return lanes_t<sig.type>(static_cast<scalar_t<sig.type>>(row_ / r.stride[0] % r.extent[0]));
    } else {
      static_assert(sig.how == access::random);
      exec::operand_ref const& r = o_.in[V - first_input];
      return convert<scalar_t<sig.type>>(uniform<lanes>(o_.f.key, o_.f.stream(r), o_.f.random_row(r, row_), static_cast<std::uint32_t>(c)));
    }
  }

  // A stash holds masks as integers.
  template <int V>
  TX_INLINE auto* stash_of(std::int64_t c) {
    using T = std::conditional_t<std::is_same_v<scalar_t<type_of<V>>, bool>, i32, scalar_t<type_of<V>>>;
    return reinterpret_cast<T*>(stash_ + sweeping.stash[V] * row_bytes_) + c;
  }

  template <int Sweep, int V>
  TX_INLINE void compute(std::int64_t c, int n) {
    auto& x = detail::get<V>(vectors_);
    using T = scalar_t<type_of<V>>;
    if constexpr (V < types::inputs) {
      x = load_input<V>(c, n);
    } else if constexpr (detail::demand_in<F, Sweep>.from_stash[V]) {
      auto* const p = stash_of<V>(c);
      x = convert<T>(simd<std::remove_pointer_t<decltype(p)>>::load(p));
    } else {
      using let = typename types::template let<V - types::inputs>;
      if constexpr (let::count == 1) x = convert<T>(let::rule::apply(lanes_value<let::operand[0]>()));
      else if constexpr (let::count == 2) x = convert<T>(let::rule::apply(lanes_value<let::operand[0]>(), lanes_value<let::operand[1]>()));
      else x = convert<T>(let::rule::apply(lanes_value<let::operand[0]>(), lanes_value<let::operand[1]>(), lanes_value<let::operand[2]>()));
      x = as_stored<type_of<V>>(x);
      if constexpr (sweeping.stash[V] >= 0 && sweeping.sweep[V] == Sweep) {  // rows of the stash have room for a whole vector
        auto* const p = stash_of<V>(c);
        convert<std::remove_pointer_t<decltype(p)>>(x).store(p);
      }
    }
  }
  template <int K>
  TX_INLINE void reduce_row([[maybe_unused]] int n) {
    using let = typename types::template let<K>;
    constexpr int v = types::inputs + K;
    using T = scalar_t<type_of<v>>;
    auto x = lanes_value<let::operand[0]>();
    if constexpr (!types::exact) x = keep_first<T>(x, n, let::rule::template identity<T>());
    detail::get<v>(vectors_) = let::rule::apply(detail::get<v>(vectors_), x);
  }
  template <int K>
  TX_INLINE void reduce_col(std::int64_t c) {
    using let = typename types::template let<K>;
    constexpr int v = types::inputs + K;
    using T = scalar_t<type_of<v>>;
    auto* const sum = reinterpret_cast<T*>(sums_ + sweeping.sum[v] * row_bytes_) + c;
    let::rule::apply(simd<T>::load(sum), lanes_value<let::operand[0]>()).store(sum);  // past the last column lies padding
  }
  template <int K>
  TX_INLINE void store(std::int64_t c, int n) {
    constexpr exec::out_sig sig = sigs.out(K);
    store_lanes<sig.type, types::exact>(out_[K] + c * size_of(sig.type), lanes_value<sig.value>(), n);
  }

  template <int Sweep, int... V, int... R, int... C, int... O>
  TX_INLINE void columns(std::integer_sequence<int, V...>, std::integer_sequence<int, R...>, std::integer_sequence<int, C...>,
                         std::integer_sequence<int, O...>) {
    (start_reduction<R>(), ...);
    std::int64_t const end = end_;
    for (std::int64_t c = by_columns ? first_ : 0; c < end; c += lanes) {
      int const n = types::exact || end - c >= lanes ? lanes : static_cast<int>(end - c);
      (compute<Sweep, V>(c, n), ...);
      (reduce_row<R>(n), ...);
      (reduce_col<C>(c), ...);
      (store<O>(c, n), ...);
    }
    (finish_reduction<R>(), ...);
  }
  template <int K>
  TX_INLINE void finish_reduction() {
    constexpr int v = types::inputs + K;
    auto const x = combine<typename types::template let<K>::rule>(detail::get<v>(vectors_));
    detail::get<v>(scalars_) = as_stored<type_of<v>>(x);
  }
  template <int K>
  TX_INLINE void start_reduction() {
    using T = scalar_t<type_of<types::inputs + K>>;
    detail::get<types::inputs + K>(vectors_) = simd<T>(types::template let<K>::rule::template identity<T>());
  }

  template <int... P>
  TX_INLINE void all_sweeps(std::integer_sequence<int, P...>) {
    (sweep<P>(), ...);
  }
  template <int Sweep>
  TX_INLINE void sweep() {
    using lists = detail::pass_lists<F, Sweep>;
    derive(typename lists::derived{});
    if constexpr (detail::demand_in<F, Sweep>.any)
      columns<Sweep>(typename lists::computed{}, typename lists::row_reduced{}, typename lists::col_reduced{}, typename lists::stored{});
  }

  template <int... K>
  TX_INLINE void derive(std::integer_sequence<int, K...>) {
    (compute_scalar<types::inputs + K>(), ...);
  }
  template <int V>
  TX_INLINE void compute_scalar() {
    using let = typename types::template let<V - types::inputs>;
    auto& x = detail::get<V>(scalars_);
    using T = scalar_t<type_of<V>>;
    if constexpr (let::count == 1) x = static_cast<T>(let::rule::apply(detail::get<let::operand[0]>(scalars_)));
    else if constexpr (let::count == 2)
      x = static_cast<T>(let::rule::apply(detail::get<let::operand[0]>(scalars_), detail::get<let::operand[1]>(scalars_)));
    else
      x = static_cast<T>(let::rule::apply(detail::get<let::operand[0]>(scalars_), detail::get<let::operand[1]>(scalars_),
                                          detail::get<let::operand[2]>(scalars_)));
    x = as_stored<type_of<V>>(x);
  }

  // Sums over rows of one value per row.
  template <int... K>
  TX_INLINE void sum_rows(std::integer_sequence<int, K...>) {
    (sum_row<K>(), ...);
  }
  template <int K>
  TX_INLINE void sum_row() {
    using let = typename types::template let<K>;
    if constexpr (let::shape == form::col_reduce && !sweeping.by_column[let::operand[0]]) {
      constexpr int v = types::inputs + K;
      auto* const sum = reinterpret_cast<scalar_t<type_of<v>>*>(row_sums_ + sweeping.sum[v] * sweeping.element);
      *sum = let::rule::apply(*sum, detail::get<let::operand[0]>(scalars_));
    }
  }

  template <int... K>
  TX_INLINE void finish_outputs(std::integer_sequence<int, K...>) {
    (finish_output<K>(), ...);
  }
  template <int K>
  TX_INLINE void finish_output() {
    constexpr exec::out_sig sig = sigs.out(K);
    if constexpr (sig.shape == form::map && sig.per_row) store_scalar<sig.type>(out_[K], detail::get<sig.value>(scalars_));
  }

  row_operands const& o_;
  std::int64_t first_ = 0, end_;
  std::int64_t row_bytes_;
  std::int64_t row_ = 0;
  std::byte* stash_;
  std::byte* sums_;
  std::byte* row_sums_;
  std::byte const* base_[types::inputs + 1] = {};
  std::byte const* in_[types::inputs + 1] = {};
  std::byte* to_[types::outputs + 1] = {};
  std::byte* out_[types::outputs + 1] = {};
  typename values::scalars scalars_;
  typename values::vectors vectors_;
};

}  // namespace tx::backends::cpu
