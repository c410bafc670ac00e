// executor<step, backend>: a program with its storage. run(x, y) runs it once and hands back what the step returns.
#pragma once

#include <tx/expr/trace.hpp>
#include <tx/run/arguments.hpp>
#include <tx/run/kept_portions.hpp>
#include <tx/run/kernel_log.hpp>
#include <tx/run/out_of_range.hpp>
#include <tx/run/parameters_fit.hpp>
#include <tx/run/program_on.hpp>
#include <tx/run/ranks_of_step.hpp>
#include <tx/run/replay.hpp>
#include <tx/run/results.hpp>
#include <tx/run/run.hpp>
#include <tx/run/run_options.hpp>
#include <tx/run/same_beginning.hpp>
#include <tx/run/settings.hpp>
#include <tx/run/staging.hpp>
#include <tx/run/step_facts.hpp>
#include <tx/run/under_way.hpp>

#include <array>
#include <ranges>

namespace tx {

template <class Step, class Backend>
class executor {
  using model = typename Step::model;
  static_assert(has_target<Backend>, "tx::executor: the backend says nothing of the machine that programs are planned for. FIX: `static constexpr tx::target const& target = tx::cpu_target;` in it, or a target of its own, see plan/target.hpp");
  using program = exec::program_on<Step, Backend>;
  using block = parameter_block<model, Backend>;
  static constexpr int groups = layout<model>::groups.size();

 public:
  using result = typename Step::result;
  using arguments = typename Step::arguments;
  static constexpr exec::memory_use memory = Step::template memory_on<Backend::target>;
  // So many bytes an arena of the caller's has at least, from a multiple of memory_alignment on; else there is a shape_error, or a value_error.
  static constexpr std::int64_t arena_bytes = exec::aligned(program::memory.arena);
  // Do ranks divide states among them, and parameters too? Then all of them have to read, write, save and load.
  static constexpr bool divided = state_kinds(Step::states).divided(), divides_parameters = state_kinds(Step::states).divides_parameters();
  // The host reaches parameters and states by read and write alone, as they are divided, or on a device.
  static constexpr bool remote = exec::remote<Backend> || divided;
  static_assert(!program::collective || exec::ranked<Backend>,
                "tx::executor: the step speaks to other ranks, which this backend cannot. FIX: tx::distributed<backend, communicator>");

  static_assert(exec::one_bound_each<arguments>, "tx::executor: arguments have two bounds of one tag, which would be one number. FIX: dyn<Max, Tag> with another Tag");
  static_assert(exec::bounds_are_told<program>, "tx::executor: the program has a bounded extent that no argument has, so no run tells how many rows there are. FIX: an argument with that tag");

  // Fresh parameters.
  explicit executor(tx::seed s, run_options options = {})
    requires(!exec::ranked<Backend>)
      : executor(fresh(s), options) {}
  // A function without a model has nothing to draw.
  explicit executor(run_options options = {})
    requires(!exec::ranked<Backend> && std::is_same_v<model, no_model>)
      : executor(tx::seed(0), options) {}
  // The same on all ranks that are given the same seed. The communicator must outlive the executor.
  template <exec::communicator_of<Backend> Communicator>
  executor(tx::seed s, Communicator& ranks, run_options options = {}) : executor(fresh(s, {grid_of<Step>(ranks.size()), ranks.rank()}), options) {
    join(ranks);
  }
  // The parameters of another program of the same model. Training programs share the optimizer's state and the count of steps
  // too; settings are each one's own. Executors are not copied: another one of the same program is executor(other, run_options{}).
  template <class OtherStep>
  explicit executor(executor<OtherStep, Backend> const& other, run_options options = {})
      : executor(parameters_of(other), options, other.reads_only_) {
    if constexpr (program::replaces_leaves) writable();
    exec::check_shared(parameters_->states(), Step::states);
    own_states(*parameters_);
    if constexpr (exec::ranked<Backend>) join(other.frame_.ranks.all(), &other.frame_.ranks);
  }

  // Parameters of the caller's, which must stay where they are as long as the executor. With an arena of the caller's too nothing is
  // allocated. Where they are const, the executor only reads them: any number of such executors may run at the same time, each in a
  // thread, and what would change parameters through one (tensors, elements, write, restore, reset_optimizer, reset_state) is a value_error.
  template <class Block>
    requires(std::is_same_v<std::remove_const_t<Block>, block> && !exec::ranked<Backend>)
  explicit executor(Block& parameters, run_options options = {})
      : executor(std::shared_ptr<block>(std::shared_ptr<void>(), const_cast<block*>(&parameters)), options, std::is_const_v<Block>) {
    static_assert(!std::is_const_v<Block> || !program::replaces_leaves,
                  "tx::executor: a program that trains, or sets a state, changes what lies in its parameter_block, and this one is const. FIX: a parameter_block that is not");
    exec::check_given(parameters.states(), Step::states);
    if constexpr (!std::is_const_v<Block>) own_states(parameters);
  }
  template <class Block>
    requires std::is_same_v<Block, block>
  explicit executor(Block const&& parameters, run_options options = {}) = delete;  // it ends before the executor can run

  run_settings<program, exec::trains<Step> ? groups : -1> settings{};

  // Runs the program on one contiguous range or view (run/view.hpp) per argument of the step. Results stay valid until the next run.
  template <class... A>
  result operator()(A const&... a) {
    under_way_.check_none();
    start(a...);
    return finish();
  }
  // Starts a run and does not wait for it, where a device computes. finish() hands back what the first computed that was started and has not been handed back,
  // valid until the next start. Two may be under way:
  //   for (run.start(batch(0)); more(); print(run.finish().loss)) run.start(next_batch());  // which is made while the device is at the run before
  template <class... A>
  void start(A const&... a) {
    static_assert(exec::as_many_ranges<sizeof...(A), std::tuple_size_v<arguments>>::value);
    static_assert((exec::range_or_view<A> && ...),
                  "tx::executor: an argument is no contiguous range of elements. FIX: a std::vector, std::array or std::span; of a std::vector<bool>, which packs bits, a copy in an array of bool; "
                  "of a pointer std::span(p, count), of a number std::array{x}");
    under_way_.check_room();
    [&]<int... K>(std::integer_sequence<int, K...> all) {
      if constexpr (program::varies) {
        told_.reset(program::bound_of);
        (tell_view<K>(a), ...);
        bool waiting = true;  // each round tells a bound at least
        for (int round = 0; round <= max_tags && waiting; ++round) waiting = ((tell_count<K>(a) ? 0 : 1) + ... + 0) != 0;
        (check_told<K>(a), ...);
        told_.check_least();
        frame_.extents = told_.extents();
      }
      run(all, argument<K>(a)...);
    }(std::make_integer_sequence<int, sizeof...(A)>{});
  }
  result finish() {
    auto const run = under_way_.take();
    staging_.await(run.slot);
    return exec::results_of<result>(run.extents, [&](int k) { return staging_.result(run.slot, k, arena_.data()); });
  }
  // Runs whose results have not been taken.
  int under_way() const { return under_way_.count(); }

  // Steps that the parameters have been trained for; programs that do not train count their own runs.
  std::int64_t steps_run() const { return exec::trains<Step> ? parameters_->steps : runs_; }
  // The learning rate of the next run's update, before each group's factor. Schedules count updates, of which accumulate_runs<N> makes one in N runs.
  double rate() const
    requires exec::trains<Step>
  {
    return settings.rate_at(steps_run() / exec::runs_of_update<Step>);
  }
  // Forgets what the optimizer gathered: its state is zero and the next step is the first.
  void reset_optimizer() { writable().reset_optimizer(); }
  // All states of the model have their first values again.
  void reset_state() { writable().reset_state(); }
  // What the random numbers of all steps are a function of.
  std::uint64_t seed() const { return parameters_->seed.value; }
  // The optimizer whose states lie beside the parameters, as text; empty where there are none. See train/optimizer.hpp.
  std::string optimizer() const { return parameters_->identity != nullptr ? parameters_->identity() : ""; }
  // Blocks of optimizer state beside the parameters.
  int states() const { return parameters_->states(); }
  // The next step is step number `steps` of a run from a seed: what it needs beside parameters, states and settings.
  void restore(std::int64_t steps, std::uint64_t from_seed) {
    block& all = writable();
    all.steps = runs_ = steps;
    all.seed = tx::seed(from_seed);
    begins_ = true;
  }
  // Calls f(name, value) for each setting that this program has, to save them and to bring them back.
  template <class F>
  TX_COLD void for_each_setting(F&& f) {
    settings.for_each(f);
  }
  // The tensors of the model by name, writable; k > 0: optimizer state k - 1.
  auto tensors(int k = 0) const { return writable().tensors(own(k)); }
  std::span<typename block::element_type> elements(int k = 0) const { return writable().elements(own(k)); }
  auto trained_elements(int k = 0) const { return writable().trained_elements(own(k)); }
  // From the next run on each kernel adds an event to the log; null: no more. See inspect/profile.hpp.
  void profile(exec::kernel_log* log) {
    if (log_ != nullptr) std::erase(observers_, log_);
    if (log != nullptr) observers_.push_back(log);
    log_ = log;
  }
  // From the next run on it is told of each kernel, and must be told to end before it or the executor goes. See run/observer.hpp.
  void observe(exec::observer& o) { observers_.insert(observers_.begin(), &o); }
  void end_observing(exec::observer& o) { std::erase(observers_, &o); }
  // Copies of all elements, also where the host does not reach the backend's memory. Of what ranks divide among them it is whole; all of them have to call it.
  std::vector<typename block::element_type> read(int k = 0) const {
    if constexpr (exec::ranked<Backend>)
      if (parameters_->divided(own(k))) return parameters_->gather(host_ends(), own(k));
    return parameters_->read(own(k));
  }
  // As many elements as that.
  std::size_t size(int k = 0) const { return parameters_->whole_size(own(k)); }
  // As many as read() gives; of what is divided on all ranks the same, of which each keeps its own.
  void write(std::span<typename block::element_type const> values, int k = 0) {
    writable().write(values, own(k));
    begins_ = true;
  }
  bool is_first() const requires exec::ranked<Backend> { return frame_.ranks.all().rank() == 0; }
  // What the first rank has, on all of them.
  double from_first(double value) const requires(divided && exec::ranked<Backend>) {
    exec::host_end(frame_.ranks.all()).broadcast(std::span<double>(&value, 1), 0);
    return value;
  }
  // Which of the ranks that keep a portion each this one is; number -1 where one with another batch has the same as it.
  struct portion_place {
    int number, count;
  };
  portion_place portion_writer() const requires(divided && exec::ranked<Backend>) {
    across const which = parameters_->states().portions().of_work() > 0 ? across::work : across::batches;
    rank_subset const some = frame_.ranks.grid().subset(which, frame_.ranks.all().rank());
    return {some.has(0) ? some.number_of(frame_.ranks.all().rank()) : -1, some.count};
  }
  // Copies of what this rank keeps of the tensors of the model, k as above, and, where it is the first, of those that all have whole. All ranks have to call it; one whose portion another writes gets none.
  std::vector<exec::kept_tensor> portions(int k = 0) const requires(divided && exec::ranked<Backend>) {
    int const number = portion_writer().number;
    return parameters_->portions(own(k), number >= 0, number == 0, host_ends());
  }
  // Keeps the parameters that the executor made, and the memory that elements() and tensors() show, also when the executor is gone; nothing of the caller's.
  std::shared_ptr<void const> owner() const { return parameters_; }
  // The tensors of such a copy by name.
  auto tensors_of(std::span<typename block::element_type> copy, int k = 0) const { return parameters_->tensors_of(copy, own(k)); }

 private:
  template <class, class>
  friend class executor;

  static std::shared_ptr<block> fresh(tx::seed s, exec::portion_owner whose = {}) {
    auto made = std::make_shared<block>(s, Step::states, std::span<std::byte>{}, whose);
    own_states(*made);
    return made;
  }

  // States beside parameters that others made are this step's optimizer's, or nobody's yet.
  static void own_states(block& parameters) {
    if constexpr (requires { Step::optimizer_identity(); }) {
      if (parameters.identity != nullptr && Step::states > 0 && parameters.identity() != Step::optimizer_identity())
        throw value_error("executor: the states beside the parameters are those of the optimizer '" + parameters.identity() +
                          "'; the step's is '" + Step::optimizer_identity() + "'. FIX: parameters of its own, or the same optimizer");
      exec::check_laid_out(parameters.states(), Step::states);
      if (parameters.identity == nullptr) parameters.identity = Step::optimizer_identity;
      void const* const updates = exec::runs_of_update<Step> > 1 ? static_cast<void const*>(&exec::step_tag<Step>) : &block::each_run;
      if (parameters.updated_by != nullptr && parameters.updated_by != updates)
        throw value_error("executor: with tx::accumulate_runs the sums beside the parameters, and the runs that are counted, are those of one step. FIX: parameters of its own, or the same step");
      parameters.updated_by = updates;
    }
  }

  template <class OtherStep>
  static std::shared_ptr<block> parameters_of(executor<OtherStep, Backend> const& other) {
    constexpr bool same = std::is_same_v<model, typename OtherStep::model>;
    static_assert(same, "tx::executor: both programs must be of one model type. FIX: name the same model in both");
    if constexpr (same) return other.parameters_;
    else return nullptr;
  }

  executor(std::shared_ptr<block> parameters, run_options options, bool reads_only = false)
      : parameters_(std::move(parameters)),
        arena_(exec::room<Backend>(options.arena, arena_bytes, "executor")),
        reads_only_(reads_only) {
    if (options.threads < 0) throw value_error("executor: run_options::threads is " + std::to_string(options.threads) + ". FIX: 1 or more, or 0 for as many as the machine runs at once");
    frame_.threads = options.threads > 0 ? options.threads : Backend::default_threads();
    if constexpr (requires { Backend::prepare(1); }) Backend::prepare(frame_.threads);  // so that runs need not
    frame_.base[exec::base_arena] = arena_.data();
    frame_.base[exec::base_scalars] = reinterpret_cast<std::byte*>(scalars_.data());
    for (int k = 0; k <= parameters_->states(); ++k) frame_.base[exec::base_block + k] = parameters_->block(k);
    take_block(options.block);
    if constexpr (program::varies) {
      int most = 0;
      for (exec::call const& c : program::calls) most = std::max(most, c.operands);
      frame_.operands_now.reserve(static_cast<std::size_t>(most));
    }
    if constexpr (exec::trains<Step>)
      for (int g = 0; g < groups; ++g)
        settings.groups[static_cast<std::size_t>(g)] = {layout<model>::groups[g].rate, layout<model>::groups[g].decay};
  }

  void take_block(int k) {
    if (k == 0) return;
    if (exec::trains<Step>) throw value_error("executor: a program that trains takes block 0. FIX: leave run_options::block out");
    exec::check_block(parameters_->states(), k);
    if (layout<model>::trained != layout<model>::size)
      throw value_error("executor: a state has no place for parameters that are not trained. FIX: leave run_options::block out, copy the average over the first elements of read(), and write() them");
    frame_.base[exec::base_block] = parameters_->block(k);
    block_ = k;
  }
  int own(int k) const { return k == 0 ? block_ : k; }
  block& writable() const {
    if (reads_only_) throw value_error("executor: its parameters were given to it as const. FIX: change them where they are not");
    return *parameters_;
  }

  auto host_ends() const {
    return [this](across which) -> auto& { return exec::host_end(frame_.ranks.across(which)); };
  }
  template <class Communicator>
  void join(Communicator& ranks, exec::communicators<Communicator> const* shared = nullptr) {
    exec::check_ranks_of_step<Step>(ranks.size(), exec::trains<Step>);
    frame_.ranks = {ranks, grid_of<Step>(ranks.size()), shared};
    auto const& grid = frame_.ranks.grid();
    frame_.stage = grid.stage_of(ranks.rank()), frame_.product = grid.product_of(ranks.rank());
    if constexpr (requires { Step::division; }) shard_ = std::int64_t{grid.batch_of(ranks.rank())} * Step::division.shards;
    exec::check_ranks(parameters_->states(), grid);
  }

  template <int K>
  using wanted_of = std::tuple_element_t<static_cast<std::size_t>(K), arguments>;
  template <int K, class A>
  void tell_view(A const& a) {
    if constexpr (strided_view<A>) told_.by_view(K, wanted_of<K>::info, exec::extents_as<K, wanted_of<K>>(a));
  }
  template <int K, class A>
  bool tell_count(A const& a) {
    if constexpr (strided_view<A> || wanted_of<K>::dims.bounds == 0) return true;
    else return told_.by_count(K, wanted_of<K>::info, std::span(a).size());
  }
  template <int K, class A>
  void check_told(A const& a) {
    if constexpr (!strided_view<A> && wanted_of<K>::dims.bounds != 0)
      if (!told_.by_count(K, wanted_of<K>::info, std::span(a).size())) exec::told_extents::not_told(K, wanted_of<K>::info, std::span(a).size());
  }
  template <int K, class A>
  decltype(auto) argument(A const& a) {
    if constexpr (strided_view<A>) return copies_.template range<K, std::tuple_element_t<static_cast<std::size_t>(K), arguments>>(a);
    else return (a);
  }

  template <int... K, class... A>
  void run(std::integer_sequence<int, K...>, A const&... a) {
    [[maybe_unused]] auto const held = exec::alone<Backend>();
    int const slot = under_way_.next_slot();
    staging_.begin(slot, arena_.data(), under_way_.count() > 0);
    (bind<K>(std::span(a)), ...);
    for (exec::range_check const& c : program::checks) {
      [[maybe_unused]] int k = 0;
      ([&] {
        if (k++ != c.input) return;
        exec::refuse_out_of_range(std::span(a), c, frame_.extents);
      }(), ...);
    }
    if constexpr (exec::ranked<Backend> && (exec::trains<Step> || exec::ranks_of_batch<Step> > 1))
      if (begins_) {
        std::uint64_t given = 0;
        if constexpr (exec::ranks_of_batch<Step> > 1) ((given = sum_of_bytes(std::as_bytes(std::span(a)), given)), ...);
        exec::check_same_beginning<program>(frame_.ranks, parameters_->seed.value, parameters_->steps, parameters_->sum_of_what_is_alike(), given);
      }
    begins_ = false;
    settings.write_scalars(scalars_, steps_run(), exec::runs_of_update<Step>);
    if constexpr (exec::ranked<Backend> && requires { Step::division; }) scalars_[static_cast<std::size_t>(scalar::shards)] = static_cast<float>(frame_.ranks.grid().batches() * Step::division.shards);
    frame_.base[exec::base_scalars] = staging_.scalars(reinterpret_cast<std::byte*>(scalars_.data()), sizeof scalars_);
    frame_.key = philox_key::from(parameters_->seed.value);
    frame_.step = staging_.step(steps_run());
    staging_.send();
    frame_.observers = observers_;
    frame_.observed = !observers_.empty();
    static_cast<exec::loop_position&>(frame_) = {};  // an exception may have left a run in the middle of a loop
    frame_.shard = shard_;
    for (exec::observer* const o : observers_) o->before_run(frame_);
    replay_(frame_, [this] { exec::runner<program, Backend>::run(frame_); });
    if constexpr (exec::trains<Step>) ++parameters_->steps;
    else ++runs_;
    staging_.fetch(arena_.data());
    under_way_.started(slot, frame_.extents);
  }

  template <int K, class T, std::size_t N>
  void bind(std::span<T, N> values) {
    using wanted = std::tuple_element_t<static_cast<std::size_t>(K), arguments>;
    static_assert(exec::element_given_and_wanted<std::remove_const_t<T>, typename wanted::element_type>::value);
    constexpr auto full = static_cast<std::size_t>(wanted::info.count());
    if constexpr (wanted::dims.bounds == 0) {
      static_assert(N == std::dynamic_extent || N == full,
                    "tx::executor: an array has another number of elements than the step's argument. FIX: make its size the product of the argument's extents");
      if (values.size() != full)
        throw shape_error(exec::unlike(K, values.size(), wanted::info));
    }
    auto const* const first = reinterpret_cast<std::byte const*>(values.data());
    if (is_written(first, values.size_bytes()))
      throw value_error("executor: argument " + std::to_string(K) + " lies in memory that a run writes over: the executor's own, as its results do, or that of the parameters it trains. FIX: a copy");
    // Of no elements there may be no address, but kernels count from one.
    auto const* const from = values.empty() ? reinterpret_cast<std::byte const*>(scalars_.data()) : first;
    frame_.base[exec::base_input + K] = staging_.argument(K, from, values.size_bytes());
  }

  bool is_written(std::byte const* first, std::size_t bytes) const {
    auto const meets = [&](std::byte const* written, std::int64_t size) {
      auto const from = reinterpret_cast<std::uintptr_t>(first), start = reinterpret_cast<std::uintptr_t>(written);
      return from < start + static_cast<std::uintptr_t>(size) && start < from + bytes;
    };
    if (meets(arena_.data(), arena_bytes)) return true;
    return program::replaces_leaves && meets(parameters_->block(0), block::bytes_for(parameters_->states()));
  }

  std::shared_ptr<block> parameters_;
  exec::bytes<Backend> arena_;
  typename exec::frame_type<Backend>::type frame_{};  // its communicators end behind captured runs: a library waits for those to be gone
  [[no_unique_address]] exec::staging<Step, Backend> staging_;
  [[no_unique_address]] typename exec::replay_of<Backend>::type replay_;
  std::array<float, scalar_count> scalars_{};
  exec::told_extents told_{};
  std::vector<exec::observer*> observers_;
  exec::kernel_log* log_ = nullptr;  // the last of them
  std::int64_t shard_ = 0;  // of the whole batch: the first that this rank has
  std::int64_t runs_ = 0;  // of a program that does not train
  int block_ = 0;          // that it takes as parameters
  exec::runs_under_way under_way_;
  bool reads_only_ = false;
  bool begins_ = true;  // or goes on from elsewhere: ranks compare what they have before the next run
  exec::view_copies<static_cast<int>(std::tuple_size_v<arguments>)> copies_{};
};

}  // namespace tx
