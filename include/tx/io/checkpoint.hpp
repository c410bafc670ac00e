// A run of training in a folder, to go on from as if nothing had happened: parameters, optimizer state, step, seed,
// settings, and what the caller adds about its place in the data.
//
//   tx::io::save_checkpoint("run/checkpoints", run, {{"epoch", epoch}, {"batch", batch}});
//   …
//   auto const from = tx::io::load_checkpoint("run/checkpoints", run);           // another process, the same program
//   epoch = tx::io::value_of<std::int64_t>(from.position, "epoch");
//
// A run is an executor of a train_step, or anything with tensors(k) for k = 0 to states(), steps_run(), seed(),
// restore(steps, seed) and, if it has them, for_each_setting(f) and optimizer(), text that tells what its states mean.
// Memory that the host does not reach is copied.
#pragma once

#include <tx/io/checkpoint_portions.hpp>
#include <tx/io/parameters.hpp>

#include <concepts>
#include <type_traits>

namespace tx::io {

struct save_options {
  int keep = 2;                          // of the checkpoints in the folder, the newest
  std::vector<tensor_info> extra{};      // tensors of the caller's
  std::optional<std::int64_t> number{};  // of the checkpoint's name; none: the run's step
  bool writes = true;                    // false: nothing is; of several ranks that divide a run all have to save, and one of them writes
  // Of such ranks each writes what it keeps, `writes` or not, in a folder that all of them reach; none has to hold the whole (checkpoint_portions.hpp). Of ranks that have all alike the
  // first one writes.
  bool portions = false;
  std::chrono::milliseconds patience = std::chrono::minutes(1);  // with ranks that have not written their portions yet
};

struct resumed {
  std::filesystem::path path;  // of the checkpoint
  std::int64_t step;
  checkpoint_values position;        // as it was given to save_checkpoint
  safetensors extra;                 // likewise
  std::vector<std::string> skipped;  // newer checkpoints that are damaged, and why
};

namespace detail {

template <class Run>
concept remote_run = requires {
  requires std::remove_const_t<Run>::remote;
};
// Ranks divide what it keeps, so all have to take part where it is read.
template <class Run>
concept divided_run = requires {
  requires std::remove_const_t<Run>::divided;
};
// And each can tell what it keeps.
template <class Run>
concept portioned_run = divided_run<Run> && requires(Run& run) { run.portion_writer(); };
// Do ranks divide this one? A run whose type leaves that open says so by divides().
template <class Run>
bool is_divided(Run const& run) {
  if constexpr (requires { run.divides(); }) return run.divides();
  else return divided_run<Run const>;
}
// Of such a run, for a rank that does not save: one block at a time.
template <class Run>
void take_part(Run& run) {
  if constexpr (divided_run<Run>)
    for (int k = 0; is_divided(run) && k <= run.states(); ++k) static_cast<void>(run.read(k));
}
// Does another rank save what this one has too?
template <class Run>
bool is_left_to_another(Run& run, save_options const& options) {
  if constexpr (requires { run.is_first(); } && !divided_run<Run>) return options.portions && !run.is_first();
  else return false;
}
template <class Run>
concept has_settings = requires(Run& run) {
  run.for_each_setting([](auto const&, auto&) {});
};

template <class Run>
std::string optimizer_of(Run& run) {
  if constexpr (requires { run.optimizer(); })
    return run.optimizer();
  else
    return "";
}

// The parameters' names in files are their own, those of the optimizer's states say which state.
inline std::string prefix_of_block(int k) { return k == 0 ? "" : "state" + std::to_string(k) + '.'; }

// Places of a run's blocks: the parameters, then the optimizer's states. `copies` holds them where the host does not
// reach them.
template <class Run>
struct run_places {
  std::vector<tensor_place> parameters, optimizer;

  // holds: what the run has, or room for what it is to have.
  run_places(Run& run, bool holds) {
    for (int k = 0; k <= run.states(); ++k) {
      auto& to = k == 0 ? parameters : optimizer;
      std::string const prefix = prefix_of_block(k);
      if constexpr (remote_run<Run>) {
        copies.push_back(copy_of(run, k, holds));
        append_places(to, run.tensors_of(copies.back(), k), prefix);
      } else {
        append_places(to, run.tensors(k), prefix);
      }
    }
  }
  void write_back(Run& run) const {
    if constexpr (remote_run<Run>)
      for (std::size_t k = 0; k < copies.size(); ++k) run.write(copies[k], static_cast<int>(k));
  }

 private:
  static auto copy_of(Run& run, int k, [[maybe_unused]] bool holds) {
    using copy = decltype(run.read(k));
    if constexpr (requires { run.size(k); })
      if (!holds) return copy(run.size(k));  // no rank has to read what it is about to write
    return run.read(k);
  }
  static auto no_copies() {
    if constexpr (remote_run<Run>)
      return std::vector<decltype(std::declval<Run&>().read(0))>{};
    else
      return 0;
  }
  decltype(no_copies()) copies{};
};

template <class T>
checkpoint_value saved_setting(T value) {
  if constexpr (std::floating_point<T>)
    return static_cast<double>(value);
  else
    return static_cast<std::int64_t>(value);
}

// All that a checkpoint of a run holds but the tensors.
template <class Run>
checkpoint_contents contents_without_tensors(Run& run, checkpoint_values const& position, save_options const& options) {
  checkpoint_contents what{run.steps_run(), run.seed(), optimizer_of(run), {}, position, {}, {}, {}, options.number};
  if constexpr (has_settings<Run>)
    run.for_each_setting([&](std::string const& name, auto& value) { what.settings[name] = saved_setting(value); });
  return what;
}

template <class T>
T setting_of(checkpoint_values const& settings, std::string const& name) {
  using wide = std::conditional_t<std::floating_point<T>, double, std::int64_t>;
  wide const value = value_of<wide>(settings, name);
  auto const narrow = static_cast<T>(value);
  bool same = static_cast<wide>(narrow) == value;
  if constexpr (std::floating_point<T>) same = same || std::isnan(value);
  if (!same) throw format_error("the checkpoint's setting " + shown(name) + " is out of range");
  return narrow;
}

// What this rank writes of a run that ranks divide. All of them have to call it. One copy of what it keeps, in `copies`.
template <class Run>
checkpoint_portion portion_of_run(Run& run, checkpoint_values const& position, save_options const& options, std::vector<std::vector<std::byte>>& copies) {
  auto const writer = run.portion_writer();
  checkpoint_portion own{writer.number, writer.count, saving_name_of(run.from_first(drawn_key())), contents_without_tensors(run, position, options), {}, {}};
  copies.clear();
  for (int k = 0; k <= run.states(); ++k)
    for (auto& t : run.portions(k)) {
      std::string const name = prefix_of_block(k) + t.name;
      copies.push_back(std::move(t.bytes));
      (k == 0 ? own.what.parameters : own.what.optimizer).push_back({name, t.type, t.shape, copies.back()});
      if (t.axis >= 0) (k == 0 ? own.parameter_rows : own.optimizer_rows)[std::string(portion_key) + name] = text_of({t.axis, t.first, t.extent});
    }
  return own;
}

}  // namespace detail

// Saves a run in a folder of its own, which is made if need be. It is complete on the disk when this returns; if it
// throws (io_error, value_error), or the process ends before, the checkpoints that were there are there still. One
// process at a time; of several ranks with the same parameters, one saves; of ranks that divide them (zero) all do, all but one with `writes` = false.
template <class Run>
void save_checkpoint(std::filesystem::path const& folder, Run& run, checkpoint_values const& position = {},
                     save_options const& options = {}) {
  if constexpr (detail::portioned_run<Run>)
    if (options.portions) {
      std::vector<std::vector<std::byte>> copies;
      auto own = detail::portion_of_run(run, position, options, copies);
      own.what.extra = options.extra;
      write_checkpoint_portion(folder, own, options.keep, options.patience, [] { return false; });
      static_cast<void>(run.from_first(0));  // the others wait until it is complete
      return;
    }
  if (detail::is_left_to_another(run, options)) return;
  if (!options.writes) return detail::take_part(run);
  detail::run_places<Run> const places(run, true);
  checkpoint_contents what = detail::contents_without_tensors(run, position, options);
  what.parameters = detail::infos_of(places.parameters);
  what.optimizer = detail::infos_of(places.optimizer);
  what.extra = options.extra;
  write_checkpoint(folder, what, options.keep);
}

struct resume_options {
  bool finite = false;  // a NaN or an infinity in a tensor is a value_error
};

// Brings a run to the newest complete checkpoint of a folder. Whatever it throws, the run is as it was: format_error if
// there is no complete checkpoint, or if it has another optimizer, other tensors or settings than the run or is of
// another version; shape_error for tensors of other shapes or types; value_error for what the options refuse; io_error
// for files that cannot be read.
template <class Run>
resumed load_checkpoint(std::filesystem::path const& folder, Run& run, resume_options options = {}) {
  checkpoint saved = newest_checkpoint(folder);
  checkpoint_values const& settings = saved.about.settings;
  if (std::string const own = detail::optimizer_of(run); own != saved.about.optimizer)
    throw format_error(saved.path.string() + " holds states of the optimizer " + shown(saved.about.optimizer, 200) +
                       "; the run's is " + shown(own, 200) +
                       ". FIX: resume with that optimizer, or begin anew from its weights: load_parameters of its "
                       "parameters.safetensors");
  detail::run_places<Run> const places(run, false);
  load_options const exactly{.finite = options.finite, .rename = {}, .ignore = {}};
  auto const find = [&](safetensors const& in, char const* name, std::vector<detail::tensor_place> const& wanted) {
    detail::tensor_list all;
    for (tensor_info const& t : in.tensors()) all.push_back(&t);
    return detail::match_tensors(all, (saved.path / name).string(), wanted, exactly);
  };
  auto const parameters = find(saved.parameters, "parameters.safetensors", places.parameters);
  auto const optimizer = find(saved.optimizer, "optimizer.safetensors", places.optimizer);
  std::size_t known = 0;
  if constexpr (detail::has_settings<Run>)
    run.for_each_setting([&]<class T>(std::string const& name, T const&) {
      static_cast<void>(detail::setting_of<T>(settings, name));
      ++known;
    });
  if (known != settings.size())
    throw format_error(saved.path.string() + " has " + std::to_string(settings.size()) + " settings; the run has " +
                       std::to_string(known) + ". FIX: load it with the program that saved it");
  detail::fill(places.parameters, parameters);
  detail::fill(places.optimizer, optimizer);
  places.write_back(run);
  if constexpr (detail::has_settings<Run>)
    run.for_each_setting(
        [&]<class T>(std::string const& name, T& value) { value = detail::setting_of<T>(settings, name); });
  run.restore(saved.about.step, saved.about.seed);
  return {std::move(saved.path), saved.about.step, std::move(saved.about.position), std::move(saved.extra),
          std::move(saved.skipped)};
}

}  // namespace tx::io
