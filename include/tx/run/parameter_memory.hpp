// The parameters of a model, with the states that an optimizer keeps of them: one piece of memory, the backend's or the caller's.
#pragma once

#include <tx/core/elements.hpp>
#include <tx/core/philox.hpp>
#include <tx/core/sum_of_bytes.hpp>
#include <tx/expr/parameter_names.hpp>
#include <tx/plan/plan.hpp>
#include <tx/run/bytes.hpp>
#include <tx/run/kept_portions.hpp>
#include <tx/run/parameters_fit.hpp>

#include <cmath>
#include <memory>
#include <type_traits>

namespace tx {

struct seed {
  std::uint64_t value;
  constexpr explicit seed(std::uint64_t v) : value(v) {}
};

// A parameter as it lies in a block: `data` has its elements, dense.
template <class T>
struct parameter_ref {
  std::string name;
  shape dims;
  std::span<T> data;
  bool is_state = false;  // a state of the model, which is not trained; see expr/state.hpp

  template <class As>
  auto as() const {
    static_assert(std::is_same_v<As, std::remove_const_t<T>>, "tx: a parameter is seen as elements of another type than it has. FIX: the type of the model's parameters");
    return data;
  }
};

// The same in a model of parameters of several types: `data` is its bytes.
template <class Byte>
struct typed_parameter_ref {
  std::string name;
  shape dims;
  dtype type;
  std::span<Byte> data;
  bool is_state = false;

  // Its elements. Throws value_error for another type than it has.
  template <class As>
  auto as() const {
    using element = std::conditional_t<std::is_const_v<Byte>, As const, As>;
    if (dtype_v<As> != type)
      throw value_error("parameter " + name + " is of " + name_of(type) + "; it was asked for as " + name_of(dtype_v<As>) + ". FIX: as<T>() with the type of its tensor");
    return std::span<element>(reinterpret_cast<element*>(data.data()), data.size() / sizeof(As));
  }
};

// The parameters of a model and, for training, the optimizer's states (expr/state_layout.hpp). Programs of one model share it: an executor makes
// one, or is given one of the caller's. A const one is only read: any number of executors may run on it at the same time.
//
//   tx::parameter_block<net, tx::cpu> weights{tx::seed(0), 0};            // no states: it is not trained
//   tx::io::load_parameters("net.safetensors", weights.tensors());
//   tx::executor<inference, tx::cpu> infer{std::as_const(weights)};
//
// Memory of the caller's has at least bytes_for(states) bytes from a multiple of memory_alignment on, and stays as long as the block; of a
// backend whose memory the host does not reach it is the backend's. Nothing is allocated then. Errors: shape_error for too little
// memory, value_error for a wrong place and for a number of states that no program has.
template <class Model, class Backend>
class parameter_block {
 public:
  // Of a model of several types, its bytes.
  using element_type = std::conditional_t<layout<Model>::one_type, element_t<layout<Model>::type>, u8>;
  template <class T>  // element_type, or a constant one
  using reference = std::conditional_t<layout<Model>::one_type, parameter_ref<T>, typed_parameter_ref<T>>;
  // Bytes of the parameters and an optimizer's states; of so many for each element, where it is a number.
  // Without states that lie in the host's memory beside a device (tx::offload), which the block has of its own.
  static constexpr std::int64_t bytes_for(state_kinds states) { return bytes_of_parameters(states) + (apart(states) ? 0 : bytes_of(states, states)); }
  static constexpr std::int64_t bytes_of_parameters(state_kinds states) { return exec::aligned(detail::elements_of_parameters<Model>(states) * size_of(layout<Model>::type)); }

  tx::seed seed;
  std::int64_t steps = 0;  // that the parameters have been trained for
  std::string (*identity)() = nullptr;  // of the optimizer whose states they are
  // The step that makes an update of several runs, whose sums are of its loss alone; each_run of steps that update in each. nullptr: none trains them yet.
  void const* updated_by = nullptr;
  static constexpr char each_run = 0;

  // Fresh parameters: each drawn by its initializer, a function of the seed and its place only. States are zero. whose: portions they are, where ranks divide parameters or states.
  parameter_block(tx::seed s, state_kinds states, std::span<std::byte> memory = {}, exec::portion_owner whose = {})
      : seed(s), storage_(exec::room<Backend>(memory, bytes_for(checked(states)), "parameter_block")), states_(states), whose_(whose) {
    exec::clear_bytes<Backend>(storage_.data(), storage_.size());
    keep_states_apart();
    if constexpr (exec::remote<Backend>) {
      std::vector<element_type> fresh(size(0));
      initialise(s, fresh, false);
      put(0, fresh);
    } else {
      initialise(s, all(0), false);
    }
  }
  // What lies in the memory already, as another block of this model left it there. The seed is that of random numbers to come.
  parameter_block(std::span<std::byte> memory, state_kinds states, tx::seed s = tx::seed(0))
      : seed(s), storage_(memory, bytes_for(checked(states)), "parameter_block"), states_(states) {
    keep_states_apart();
  }

  std::byte* block(int k) { return place(k); }
  std::byte const* block(int k) const { return place(k); }
  // Elements of a block: states have none for parameters that are not trained.
  std::size_t size(int k) const {
    exec::check_is_there(states_, k);
    std::int64_t const elements = k == 0 ? detail::elements_of_parameters<Model>(states_) : detail::elements_of_state<Model>(states_, k - 1);
    return static_cast<std::size_t>(elements * size_of(layout<Model>::type)) / sizeof(element_type);
  }
  // The same of all ranks together.
  std::size_t whole_size(int k) const {
    if (!divided(k)) return size(k);
    return static_cast<std::size_t>((k == 0 ? layout<Model>::size : layout<Model>::trained) * size_of(layout<Model>::type)) / sizeof(element_type);
  }
  state_kinds states() const { return states_; }
  // Of parameters of one type.
  std::span<element_type> elements(int k = 0) { return of_one_type(), all(k); }
  std::span<element_type const> elements(int k = 0) const { return of_one_type(), all(k); }
  // Those that are trained, in a model of any types; laid out as their gradient is, as states for each element are too. Of what ranks divide, this one's portions.
  auto trained_elements(int k = 0) { return trained(all(k), k); }
  auto trained_elements(int k = 0) const { return trained(all(k), k); }

  // Copies of all elements, wherever they lie; k as below.
  std::vector<element_type> read(int k = 0) const {
    if constexpr (exec::remote<Backend>) {
      std::vector<element_type> out(size(k));
      if (!out.empty()) Backend::download(reinterpret_cast<std::byte*>(out.data()), place(k), static_cast<std::int64_t>(out.size() * sizeof(element_type)));
      return out;
    } else {
      return {all(k).begin(), all(k).end()};
    }
  }
  // Of all ranks' portions, on all of them. across(which): the communicator of those ranks.
  template <class Across>
  std::vector<element_type> gather(Across const& across, int k) const {
    return seen(k, [&](auto const& all) { return exec::gathered<Model>(across, how(k), trained(all, k), behind_trained(all, k)); });
  }
  // What this rank keeps of the tensors of block k, by name, of which each is told by one rank: what those with other batches divide of a part of the work is put together first. wanted: else it
  // helps the others with theirs; first: it tells what all ranks have.
  template <class Across>
  TX_COLD std::vector<exec::kept_tensor> portions(int k, bool wanted, bool first, Across const& across) const {
    int const of_work = how(k).of_work();
    bool const put_together = divided(k) && of_work > 0 && of_work < how(k).count;
    if ((!wanted && !put_together) || (!divided(k) && !first)) return {};
    return seen(k, [&](auto const& all) {
      std::vector<exec::kept_tensor> out;
      if (put_together) {
        auto const portions = exec::gathered_over_batches<Model>(across, how(k), trained(all, k));
        return wanted ? exec::kept_of_rank<Model>(how(k).first(of_work), whose_, {std::as_bytes(std::span(portions)), std::as_bytes(behind_trained(all, k))}, first) : out;
      }
      if (divided(k)) return exec::kept_of_rank<Model>(how(k), whose_, {std::as_bytes(trained(all, k)), std::as_bytes(behind_trained(all, k))}, first);
      for (auto& v : k == 0 ? parameters_of<Model>() : states_of<Model>(states_.of(k - 1))) {
        auto const bytes = std::as_bytes(all).subspan(static_cast<std::size_t>(v.first_byte()), static_cast<std::size_t>(v.bytes()));
        shape const& dims = v.info.dims;
        out.push_back({std::move(v.name), v.info.type, {dims.dim, dims.dim + dims.rank}, {bytes.begin(), bytes.end()}});
      }
      return out;
    });
  }
  // Of what is divided all ranks are given all elements, of which each keeps its own.
  void write(std::span<element_type const> values, int k = 0) {
    if (values.size() != whole_size(k))
      throw shape_error("parameters: " + std::to_string(values.size()) + " elements were given; the model has " + std::to_string(whole_size(k)) + ". FIX: as many as read() gives");
    if (values.empty()) return;
    if (!divided(k)) return put(k, values);
    auto const keep_in = [&](std::span<element_type> own) { exec::keep<Model>(how(k), whose_, values, trained(own, k), behind_trained(own, k)); };
    if constexpr (exec::remote<Backend>) {
      std::vector<element_type> own(size(k));
      keep_in(own);
      put(k, own);
    } else {
      keep_in(all(k));
    }
  }

  // Stands for what is the same on all ranks: what none of them divides.
  std::uint64_t sum_of_what_is_alike() const {
    std::uint64_t sum = sum_of_no_bytes;
    for (int k = 0; k <= states_; ++k) {
      seen(k, [&](auto const& all) {
        if (!divided(k)) {
          sum = sum_of_bytes(std::as_bytes(all), sum);
          return;
        }
        auto const kept = trained(all, k);
        for (state_piece const& p : state_pieces<Model>(how(k)))
          if (!p.divided()) sum = sum_of_bytes(std::as_bytes(kept.subspan(static_cast<std::size_t>(p.kept), static_cast<std::size_t>(p.count))), sum);
        sum = sum_of_bytes(std::as_bytes(behind_trained(all, k)), sum);
      });
    }
    return sum;
  }

  void reset_optimizer() {
    steps = 0;
    if (states_ > 0) exec::clear_bytes<Backend>(block(1), bytes_of(states_, states_));
  }

  // The model's states have their first values again.
  void reset_state() {
    if constexpr (exec::remote<Backend>) {
      std::vector<element_type> copy = read();
      initialise(seed, copy, true);
      put(0, copy);
    } else {
      initialise(seed, all(0), true);
    }
  }

  // Is block k divided among ranks, of whose tensors this one has portions?
  bool divided(int k) const {
    exec::check_is_there(states_, k);
    return k > 0 ? states_.divides(k - 1) : states_.divides_parameters();
  }
  // All tensors by name; k: 0 the parameters, 1 + s state s, of those that are trained. A value_error of what is divided.
  std::vector<reference<element_type>> tensors(int k = 0) { return named(all(k), k); }
  std::vector<reference<element_type const>> tensors(int k = 0) const { return named(all(k), k); }
  // The same of a copy of block k, as executor::read(k) makes it: of all ranks' portions.
  template <class T>
    requires std::is_same_v<std::remove_const_t<T>, element_type>
  TX_COLD std::vector<reference<T>> tensors_of(std::span<T> all, int k = 0) const {
    if (all.size() != whole_size(k))
      throw shape_error("parameters: a copy of " + std::to_string(all.size()) + " elements; block " + std::to_string(k) + " has " + std::to_string(whole_size(k)) + ". FIX: tensors_of(read(k), k)");
    std::vector<reference<T>> out;
    for (auto& v : k == 0 ? parameters_of<Model>() : states_of<Model>(states_.of(k - 1))) {
      constexpr auto width = static_cast<std::int64_t>(sizeof(element_type));
      std::span<T> const own = all.subspan(static_cast<std::size_t>(v.first_byte() / width), static_cast<std::size_t>(v.bytes() / width));
      if constexpr (layout<Model>::one_type) out.push_back({std::move(v.name), v.info.dims, own, v.is_state});
      else out.push_back({std::move(v.name), v.info.dims, v.info.type, own, v.is_state});
    }
    return out;
  }

 private:
  // What lies behind what is trained: parameters that are not, and states of the model.
  template <class Element>
  std::span<Element> behind_trained(std::span<Element> all, int k) const {
    return all.subspan(trained(all, k).size_bytes() / sizeof(Element));
  }
  portioning how(int k) const { return k == 0 ? states_.portions_of_parameters() : states_.portions(); }
  // f(all elements of block k), where they are or in a copy.
  template <class F>
  decltype(auto) seen(int k, F const& f) const {
    if constexpr (exec::remote<Backend>) {
      std::vector<element_type> const copy = read(k);
      return f(std::span<element_type const>(copy));
    } else {
      return f(all(k));
    }
  }
  void put(int k, std::span<element_type const> values) {
    if constexpr (exec::remote<Backend>) Backend::upload(block(k), reinterpret_cast<std::byte const*>(values.data()), static_cast<std::int64_t>(values.size_bytes()));
    else __builtin_memcpy(block(k), values.data(), values.size_bytes());
  }
  template <class Element>
  auto trained(std::span<Element> all, int k) const {
    using own = element_t<layout<Model>::type>;
    using T = std::conditional_t<std::is_const_v<Element>, own const, own>;
    std::int64_t const count = k == 0 ? detail::elements_that_are_trained<Model>(states_) : detail::elements_of_state<Model>(states_, k - 1);
    return std::span<T>(reinterpret_cast<T*>(all.data()), static_cast<std::size_t>(count));
  }
  template <class T>
  auto named(std::span<T> all, int k) const {
    if (divided(k))
      throw value_error("parameters: ranks divide block " + std::to_string(k) + " among them, so none has its tensors. FIX: tensors_of(copy, " + std::to_string(k) + ") of a copy that the executor's read(" + std::to_string(k) + ") gathers, on all ranks");
    return tensors_of(all, k);
  }
  std::span<element_type> all(int k) { return {reinterpret_cast<element_type*>(block(k)), reached(k)}; }
  std::span<element_type const> all(int k) const { return {reinterpret_cast<element_type const*>(block(k)), reached(k)}; }
  static constexpr void of_one_type() {
    static_assert(layout<Model>::one_type, "tx: the parameters of this model have several types. FIX: trained_elements() of those that are trained, or tensors(), each with its type");
  }

  static state_kinds checked(state_kinds states) {
    Backend::check_machine();  // before anything is computed
    if (states < 0 || states >= exec::max_blocks)
      throw value_error("parameter_block: " + std::to_string(int{states}) + " states. FIX: as many as the program keeps, step::states");
    return states;
  }

  // Of the first states, so many.
  static constexpr std::int64_t bytes_of(state_kinds const& kinds, int states) {
    std::int64_t sum = 0;
    for (int s = 0; s < states; ++s) sum += exec::aligned(detail::elements_of_state<Model>(kinds, s) * size_of(layout<Model>::type));
    return sum;
  }
  // Are states in another memory than parameters?
  static constexpr bool apart(state_kinds const& states) { return exec::remote<Backend> && states.on_host(); }
  void keep_states_apart() {
    if (!apart(states_) || states_ == 0) return;
    states_on_host_ = exec::bytes<exec::host_memory<Backend>>(bytes_of(states_, states_));
    exec::clear_bytes<Backend>(states_on_host_.data(), states_on_host_.size());
  }
  std::byte* place(int k) const { return k > 0 && apart(states_) ? states_on_host_.data() + start(k) - start(1) : storage_.data() + start(k); }
  std::int64_t start(int k) const {
    exec::check_is_there(states_, k);
    return k == 0 ? 0 : bytes_of_parameters(states_) + bytes_of(states_, k - 1);
  }
  std::size_t reached(int k) const {
    static_assert(!exec::remote<Backend>, "tx: the host does not reach this backend's memory. FIX: read(k) and write(values, k) copy it");
    return size(k);
  }

  // What all parameters start with, or the model's states alone: of what is kept here, each element by its place in the whole.
  TX_COLD void initialise(tx::seed s, std::span<element_type> all, bool states_alone) const {
    Model model{};
    int entry = -1;
    vec<state_piece> const pieces = states_.divides_parameters() ? state_pieces<Model>(states_.portions_of_parameters()) : vec<state_piece>{};
    auto fill = [&]<class P>(P&, detail::surroundings const&) {
      layout_entry const& e = layout<Model>::entries[++entry];
      if (states_alone && !state_like<P>) return;
      [[maybe_unused]] constexpr std::int64_t fan_in = P::info.dims.rank < 2 ? P::info.dims.last() : P::info.dims.dim[0] > 0 ? P::info.count() / P::info.dims.dim[0] : 0;
      using element = element_t<P::info.type>;
      auto const draw = [&](element* to, std::int64_t first, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) {
          auto const i = static_cast<std::size_t>(first + k);
          philox_block const r = philox(philox_key::from(s.value), {{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32),
                                                                     static_cast<std::uint32_t>(entry), 0x696e6974u}});
          double const u = (static_cast<double>(r[0]) + 0.5) * 0x1p-32;
          double const v = (static_cast<double>(r[1]) + 0.5) * 0x1p-32;
          double const normal = std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);  // Box and Muller, 1958
          double value = 0;
          if constexpr (requires { P::initializer::value(i); }) value = P::initializer::value(i);
          else value = P::initializer::value(v, normal, fan_in);
          to[k] = element_of<element>(std::is_integral_v<element> && !std::is_same_v<element, bool> ? std::round(value) : value);
        }
      };
      auto* const data = reinterpret_cast<std::byte*>(all.data());
      if (pieces.empty()) return draw(reinterpret_cast<element*>(data) + e.offset, 0, e.info.count());
      exec::for_each_kept<Model>(pieces, whose_, entry, [&](std::int64_t kept_byte, std::int64_t first, std::int64_t count) { draw(reinterpret_cast<element*>(data + kept_byte), first, count); });
    };
    detail::for_each_parameter(model, fill);
  }

  exec::bytes<Backend> storage_;
  exec::bytes<exec::host_memory<Backend>> states_on_host_{};
  state_kinds states_;
  exec::portion_owner whose_{};
};

}  // namespace tx
