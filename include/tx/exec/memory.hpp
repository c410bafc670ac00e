// The storage of programs: one allocation for parameters and their states, one for an arena.
#pragma once

#include <tx/core/error.hpp>
#include <tx/core/philox.hpp>
#include <tx/exec/scratch.hpp>
#include <tx/expr/layout.hpp>

#include <cmath>
#include <memory>
#include <span>

namespace tx {

struct seed {
  std::uint64_t value;
  constexpr explicit seed(std::uint64_t v) : value(v) {}
};

namespace exec {

// A backend whose memory the host cannot reach copies to and from it.
template <class Backend>
concept remote = requires(std::byte* device, std::byte* host, std::int64_t count) {
  Backend::clear(device, count);
  Backend::upload(device, host, count);
  Backend::download(host, device, count);
};

// Bytes from a backend, freed by it.
template <class Backend>
class bytes {
 public:
  bytes() = default;
  explicit bytes(std::int64_t count) : data_(Backend::allocate(count)), count_(count) {}
  bytes(bytes const&) = delete;
  bytes& operator=(bytes const&) = delete;
  bytes(bytes&& other) noexcept : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  bytes& operator=(bytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~bytes() {
    if (data_ != nullptr) Backend::release(data_, count_);
  }
  std::byte* data() const { return data_; }
  std::int64_t size() const { return count_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t count_ = 0;
};

}  // namespace exec

// A parameter as it lies in a block: `data` has the elements of `info`, dense.
template <class T>
struct parameter_ref {
  std::string name;
  shape dims;
  std::span<T> data;
};

// The parameters of a model and, for training, the optimizer's states of equal layout. Programs of one model share it.
template <class Model, class Backend>
class parameter_block {
 public:
  using element_type = element_t<layout<Model>::type>;
  static constexpr std::int64_t block_bytes = exec::aligned(layout<Model>::size * size_of(layout<Model>::type));
  static constexpr std::int64_t state_bytes = exec::aligned(layout<Model>::trained * size_of(layout<Model>::type));

  tx::seed seed;
  std::int64_t steps = 0;  // that the parameters have been trained for

  // Fresh parameters: each drawn by its initializer, a function of the seed and its place only.
  parameter_block(tx::seed s, int states) : seed(s), storage_(block_bytes + state_bytes * states + exec::alignment), states_(states) {
    if constexpr (exec::remote<Backend>) {
      Backend::clear(storage_.data(), storage_.size());
      std::vector<element_type> fresh(static_cast<std::size_t>(layout<Model>::size));
      initialise(s, fresh);
      write(fresh);
    } else {
      __builtin_memset(storage_.data(), 0, static_cast<std::size_t>(storage_.size()));
      initialise(s, elements());
    }
  }

  std::byte* block(int k) const { return storage_.data() + (k == 0 ? 0 : block_bytes + (k - 1) * state_bytes); }
  // Elements of a block: states have none for parameters that are not trained.
  static constexpr std::size_t size(int k) { return static_cast<std::size_t>(k == 0 ? layout<Model>::size : layout<Model>::trained); }
  int states() const { return states_; }
  std::span<element_type> elements(int k = 0) const {
    static_assert(!exec::remote<Backend>, "tx: the host does not reach this backend's memory. FIX: read(k) and write(values, k) copy it");
    return {reinterpret_cast<element_type*>(block(k)), size(k)};
  }

  // Copies of all elements, wherever they lie; k as below.
  std::vector<element_type> read(int k = 0) const {
    if constexpr (exec::remote<Backend>) {
      std::vector<element_type> out(size(k));
      if (!out.empty()) Backend::download(reinterpret_cast<std::byte*>(out.data()), block(k), static_cast<std::int64_t>(out.size() * sizeof(element_type)));
      return out;
    } else {
      return {elements(k).begin(), elements(k).end()};
    }
  }
  void write(std::span<element_type const> values, int k = 0) {
    if (values.size() != size(k))
      throw shape_error("parameters: " + std::to_string(values.size()) + " elements were given; the model has " + std::to_string(size(k)));
    if (values.empty()) return;
    if constexpr (exec::remote<Backend>) Backend::upload(block(k), reinterpret_cast<std::byte const*>(values.data()), static_cast<std::int64_t>(values.size_bytes()));
    else __builtin_memcpy(block(k), values.data(), values.size_bytes());
  }

  void reset_optimizer() {
    steps = 0;
    if (states_ == 0) return;
    std::int64_t const count = state_bytes * states_;
    if constexpr (exec::remote<Backend>) Backend::clear(block(1), count);
    else __builtin_memset(block(1), 0, static_cast<std::size_t>(count));
  }

  // All tensors by name; k: 0 the parameters, 1 + s state s, of those that are trained.
  std::vector<parameter_ref<element_type>> tensors(int k = 0) const { return tensors_of(elements(k)); }
  // The same of a copy of a block, as read(k) makes it.
  TX_COLD static std::vector<parameter_ref<element_type>> tensors_of(std::span<element_type> all) {
    std::vector<parameter_ref<element_type>> out;
    for (auto& v : parameters_of<Model>())
      if (v.offset < static_cast<std::int64_t>(all.size()))
        out.push_back({std::move(v.name), v.info.dims, all.subspan(static_cast<std::size_t>(v.offset), static_cast<std::size_t>(v.info.count()))});
    return out;
  }

 private:
  TX_COLD static void initialise(tx::seed s, std::span<element_type> all) {
    Model model{};
    int entry = 0;
    auto fill = [&]<class P>(P&, detail::surroundings const&) {
      layout_entry const& e = layout<Model>::entries[entry];
      std::int64_t const fan_in = P::info.dims.rank > 1 ? P::info.count() / P::info.dims.dim[0] : P::info.dims.last();
      auto const data = all.subspan(static_cast<std::size_t>(e.offset), static_cast<std::size_t>(e.info.count()));
      for (std::size_t i = 0; i < data.size(); ++i) {
        philox_block const r = philox(philox_key::from(s.value), {{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32),
                                                                   static_cast<std::uint32_t>(entry), 0x696e6974u}});
        double const u = (static_cast<double>(r[0]) + 0.5) * 0x1p-32;
        double const v = (static_cast<double>(r[1]) + 0.5) * 0x1p-32;
        double const normal = std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);  // Box and Muller, 1958
        data[i] = static_cast<element_type>(P::initializer::value(v, normal, fan_in));
      }
      ++entry;
    };
    detail::for_each_parameter(model, fill);
  }

  exec::bytes<Backend> storage_;
  int states_;
};

}  // namespace tx
