// Executors behind the interfaces of trained_run.hpp, for the kind of device that a source is compiled for. A program holds those of several, so they are named for it.
#pragma once

#include "makers.hpp"
#include "processes.hpp"
#include "trained_run.hpp"

#include <tx/backends/chosen.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/tensor_parallel.hpp>
#include <tx/dist/zero.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#if defined(TX_OF_RANKS) && !defined(TX_FOR_CUDA) && !defined(TX_FOR_HIP)
#error "TX_OF_RANKS is of sources that are compiled for a device. FIX: tx_device_objects(... cuda DEFINITIONS TX_OF_RANKS=1)"
#elif defined(TX_OF_RANKS) && defined(TX_FOR_HIP)
#include <tx/dist/device/rccl.hpp>
#elif defined(TX_OF_RANKS)
#include <tx/dist/device/nccl.hpp>
#endif

#include <memory>

namespace command_line::inline TX_ON_CHOSEN(engines) {

// A source's engines are known to makers.hpp by engine_names, those that are for several processes alone by name_of_ranks. What has an executor has an own_device before it.
#if defined(TX_OF_RANKS)
// Processes that have a device each.
constexpr engine_name engine_names[] = {{tx::chosen_device, true}}, name_of_ranks[] = {{tx::chosen_device, true}};
#if defined(TX_FOR_HIP)
using communicator = tx::dist::rccl<tx::chosen_backend, processes::communicator>;
#else
using communicator = tx::dist::nccl<tx::chosen_backend, processes::communicator>;
#endif
struct own_device {
  own_device() { tx::chosen_backend::use_device(processes::now().local_number()); }
};
class process_ranks : own_device {
 public:
  communicator& all() const { return *all_; }

 private:
  // One for all engines of the process.
  static std::shared_ptr<communicator> met() {
    static std::weak_ptr<communicator> last;
    auto known = last.lock();
    if (known == nullptr) last = known = std::make_shared<communicator>(processes::now().all());
    return known;
  }
  std::shared_ptr<communicator> all_ = met();
};
#else
struct own_device {};
#endif

#if !defined(TX_FOR_CUDA) && !defined(TX_FOR_HIP)
// On processors all processes of a command train one model: a process by itself is one rank of one, whose collectives do nothing.
constexpr engine_name engine_names[] = {{"cpu", false}, {"cpu", true}}, name_of_ranks[] = {{"cpu", true}};
using communicator = processes::communicator;
struct process_ranks {
  communicator& all() const { return processes::now().all(); }
};
#endif

// A process by itself, whose device is its own, has no collectives.
#if (defined(TX_FOR_CUDA) || defined(TX_FOR_HIP)) && !defined(TX_OF_RANKS)
constexpr engine_name engine_names[] = {{tx::chosen_device, false}};
using backend = tx::chosen_backend;
struct process_ranks {};
template <int, int, int, class Network, auto Loss, class Optimizer, class... Options>
using step_of_so_many = tx::train_step<Network, Loss, Optimizer, Options...>;

template <class Program>
struct drawn_executor : tx::executor<Program, backend> {
  using tx::executor<Program, backend>::executor;
  drawn_executor(process_ranks const&, tx::seed s, tx::run_options const& o) : tx::executor<Program, backend>(s, o) {}
};
#else
using backend = tx::distributed<tx::chosen_backend, communicator>;

template <int Batches, int Zero, class Network, auto Loss, class Optimizer, class... Options>
struct divided_step {
  using type = tx::train_step<Network, Loss, Optimizer, Options..., tx::data_parallel<Batches>, tx::zero<Zero>>;
};
template <int Batches, class Network, auto Loss, class Optimizer, class... Options>
struct divided_step<Batches, 0, Network, Loss, Optimizer, Options...> {
  using type = tx::train_step<Network, Loss, Optimizer, Options..., tx::data_parallel<Batches>>;
};
// Of so many processes, 0: of as many as there are. They divide what they have alike as tx::zero<Zero> has it, 0: nothing; and so many of them the products of a batch.
template <int Ranks, int Zero, int Tensor, class Network, auto Loss, class Optimizer, class... Options>
using step_of_so_many = typename divided_step<Ranks / Tensor, Zero, Network, Loss, Optimizer, Options..., tx::tensor_parallel<Tensor>>::type;

template <class Program>
struct drawn_executor : tx::executor<Program, backend> {
  using tx::executor<Program, backend>::executor;
  drawn_executor(process_ranks const& ranks, tx::seed s, tx::run_options const& o) : tx::executor<Program, backend>(s, ranks.all(), o) {}
};
#endif

template <class Network, auto Loss, class Optimizer, class... Options>
using step_of_all = step_of_so_many<0, 0, 1, Network, Loss, Optimizer, Options...>;

// A program that is asked beside a step, of its parameters as processes keep them.
template <class Step, class Function>
struct beside_step {
  using type = Function;
};
template <class Step, auto F, class Model, class... Options>
  requires(Step::states.divides_parameters())
struct beside_step<Step, tx::function<F, Model, Options...>> {
  using type = tx::function<F, Model, Options..., tx::kept_as<Step>>;
};
template <class Step, class Function>
using beside = typename beside_step<Step, Function>::type;

// An executor of one of these processes.
template <class Program>
class runner : process_ranks, public drawn_executor<Program> {
  using base = drawn_executor<Program>;

 public:
  explicit runner(engine_options const& o) : base(static_cast<process_ranks const&>(*this), tx::seed(o.seed), tx::run_options{.threads = o.threads}) {}
  // With the parameters of another one.
  runner(auto& other, engine_options const& o) : base(other, tx::run_options{.threads = o.threads}) {}
};

// What an executor's tensors are, in a plain form.
template <class Tensors>
std::vector<named_tensor> plain(Tensors const& tensors) {
  std::vector<named_tensor> out;
  for (auto const& t : tensors) out.push_back({t.name, {t.dims.dim, t.dims.dim + t.dims.rank}, t.data});
  return out;
}

template <class Executor>
held_tensors held_of(Executor const& run, int k = 0) {
  held_tensors out;
  if constexpr (Executor::remote) {
    out.copy = run.read(k);
    out.tensors = plain(run.tensors_of(std::span(out.copy), k));
  } else {
    out.tensors = plain(run.tensors(k));
  }
  return out;
}

// Base's parameters are those of an executor, which Derived's with_parameters(use) calls use(executor) with.
template <class Base, class Derived>
class parameters_of : public Base {
 public:
  held_tensors held(int k) const override {
    return own().with_parameters([&](auto& run) { return held_of(run, k); });
  }
  std::vector<float> read(int k) const override {
    return own().with_parameters([&](auto& run) { return run.read(k); });
  }
  void write(std::span<float const> values, int k) override {
    own().with_parameters([&](auto& run) { run.write(values, k); });
  }
  std::size_t size(int k) const override {
    return own().with_parameters([&](auto& run) { return run.size(k); });
  }
  std::vector<named_tensor> tensors_of(std::span<float> copy, int k) const override {
    return own().with_parameters([&](auto& run) { return plain(run.tensors_of(copy, k)); });
  }

 protected:
  Derived const& own() const { return *static_cast<Derived const*>(this); }
};

// And Base is a trained_run of what has a step's executor: Derived's step() returns it.
template <class Base, class Derived>
class run_of : public parameters_of<Base, Derived> {
 public:
  decltype(auto) with_parameters(auto&& use) const { return use(this->own().step()); }
  bool divides() const override { return std::remove_cvref_t<decltype(this->own().step())>::divided; }
  bool divides_parameters() const override { return std::remove_cvref_t<decltype(this->own().step())>::divides_parameters; }
  int states() const override { return this->own().step().states(); }
  std::int64_t steps_run() const override { return this->own().step().steps_run(); }
  std::uint64_t seed() const override { return this->own().step().seed(); }
  void restore(std::int64_t steps, std::uint64_t seed) override { this->own().step().restore(steps, seed); }
};

}  // namespace command_line
