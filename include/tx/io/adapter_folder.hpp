// Adapters of low rank (nn/lora.hpp) in folders as PEFT lays them out: adapter_config.json and adapter_model.safetensors, whose tensors are
// called "base_model.model.NAME"; and merged into the weights they stand beside.
//
//   tx::io::load_pretrained(base, tx::io::base_parameters(run.tensors()), "bert");
//   tx::io::save_adapter("adapter", run.tensors(), {.rank = 8, .alpha = 16, .base = "bert-base-uncased", .task = "SEQ_CLS", .trained = {"classifier"}});
//   tx::io::load_adapter("adapter", run.tensors(), {.rank = 8, .alpha = 16, .trained = {"classifier"}});
//   tx::io::save_model_folder("merged", tx::io::merged_parameters(run.tensors(), 16.0 / 8), base, {});
#pragma once

#include <tx/io/json.hpp>
#include <tx/io/parameters.hpp>

#include <set>

namespace tx::io {

struct adapter_description {
  int rank = 8;
  double alpha = 8, dropout = 0;
  std::string base{};                  // the folder or name of the model it was trained on; empty: not told
  std::string task{};                  // what PEFT calls the kind of head, as "SEQ_CLS"; empty: not told
  std::vector<std::string> trained{};  // modules that were trained whole, as "classifier"
};

namespace detail {

inline constexpr std::string_view down_ending = ".lora_A.weight", up_ending = ".lora_B.weight", adapter_prefix = "base_model.model.";

inline bool is_adapter(std::string_view name) { return name.ends_with(down_ending) || name.ends_with(up_ending); }
// What PEFT writes: the adapters, and modules that were trained whole.
inline bool belongs_to_adapter(std::string_view name, std::vector<std::string> const& trained) {
  return is_adapter(name) || std::ranges::any_of(trained, [&](std::string const& m) { return name.starts_with(m + '.') || name.find('.' + m + '.') != name.npos; });
}

template <class Parameters, class Wanted>
auto parameters_that(Parameters const& parameters, Wanted wanted) {
  std::vector<std::remove_cvref_t<decltype(*std::begin(parameters))>> out;
  for (auto const& p : parameters)
    if (wanted(p.name)) out.push_back(p);
  return out;
}
template <class Parameters>
auto adapter_parameters(Parameters const& parameters, adapter_description const& d) {
  auto out = parameters_that(parameters, [&](std::string const& name) { return belongs_to_adapter(name, d.trained); });
  if (!std::ranges::any_of(out, [](auto const& p) { return is_adapter(p.name); }))
    throw value_error("adapter: the parameters are those of a model without adapters. FIX: a model tx::nn::lora<...>");
  for (std::string const& module : d.trained)
    if (!std::ranges::any_of(out, [&](auto const& p) { return !is_adapter(p.name) && belongs_to_adapter(p.name, {module}); }))
      throw value_error("adapter: the model has no module " + shown(module) + ". FIX: a name as in run.tensors(), without what stands around it");
  for (auto const& p : out)
    if (p.name.ends_with(down_ending) && shape_of(p)[0] != d.rank)
      throw value_error("adapter: " + p.name + " is of rank " + std::to_string(shape_of(p)[0]) + ", not " + std::to_string(d.rank) + ". FIX: the rank of the model's lora_options");
  return out;
}

// "query" for all modules "....query" where all of that name are adapted, else their whole names: what PEFT looks for by its end.
template <class Parameters>
std::set<std::string> target_modules(Parameters const& parameters) {
  std::set<std::string> adapted, others, last;
  auto const end_of = [](std::string const& name) { return name.substr(name.rfind('.') + 1); };
  for (auto const& p : parameters)
    if (p.name.ends_with(down_ending)) adapted.insert(p.name.substr(0, p.name.size() - down_ending.size()));
  for (auto const& p : parameters)
    if (std::string const module = p.name.substr(0, p.name.rfind('.')); !is_adapter(p.name) && !adapted.contains(module)) others.insert(end_of(module));
  for (std::string const& module : adapted) last.insert(end_of(module));
  return std::ranges::any_of(last, [&](std::string const& end) { return others.contains(end); }) ? adapted : last;
}

inline nlohmann::json adapter_config(adapter_description const& d, std::set<std::string> const& targets) {
  auto const or_null = [](auto const& x) { return x.empty() ? nlohmann::json() : nlohmann::json(x); };
  return {{"base_model_name_or_path", or_null(d.base)}, {"bias", "none"},        {"fan_in_fan_out", false}, {"inference_mode", true},
          {"init_lora_weights", true},                  {"lora_alpha", d.alpha}, {"lora_dropout", d.dropout}, {"modules_to_save", or_null(d.trained)},
          {"peft_type", "LORA"},                        {"r", d.rank},           {"target_modules", targets}, {"task_type", or_null(d.task)},
          {"use_dora", false},                          {"use_rslora", false}};
}

// What a folder's configuration must say of the adapters that the program has.
inline void check_adapter_config(nlohmann::json const& config, std::string const& source, adapter_description const& d) {
  if (!config.is_object()) throw format_error(source + " is no JSON object");
  auto const is = [&](char const* name, nlohmann::json const& wanted, bool required) {
    auto const at = config.find(name);
    bool const there = at != config.end() && !at->is_null();
    if (there ? *at == wanted : !required) return;
    throw format_error(source + ": " + name + " is " + (there ? shown_value(*at) : "not given") + ", and " + shown_value(wanted) + " in the program. FIX: lora_options of that, or another adapter");
  };
  is("peft_type", "LORA", true);
  is("r", d.rank, true);
  is("lora_alpha", d.alpha, true);
  is("bias", "none", false);
  for (char const* const kind : {"use_dora", "use_rslora", "fan_in_fan_out", "lora_bias", "use_qalora"}) is(kind, false, false);
  for (char const* const by_name : {"rank_pattern", "alpha_pattern"})
    if (auto const at = config.find(by_name); at != config.end() && !at->is_null() && !at->empty())
      throw format_error(source + ": " + by_name + " gives layers a rank or an alpha of their own, which the program's have not. FIX: an adapter of one rank and one alpha");
}

}  // namespace detail

// The model's own parameters, without the adapters beside them.
template <class Parameters>
auto base_parameters(Parameters const& parameters) {
  return detail::parameters_that(parameters, [](std::string const& name) { return !detail::is_adapter(name); });
}

// Makes the folder, or writes over what is in it. A folder with a configuration is whole: that is written last, and another one that was there goes first.
// Throws value_error where the parameters are not as described.
template <class Parameters>
void save_adapter(std::filesystem::path const& to, Parameters const& parameters, adapter_description const& d) {
  auto const own = detail::adapter_parameters(parameters, d);
  std::vector<detail::tensor_place> places;
  detail::append_places(places, own, std::string(detail::adapter_prefix));
  ensure_directory(to);
  std::string const config = detail::adapter_config(d, detail::target_modules(parameters)).dump(2) + '\n';
  if (!detail::has_text(to / "adapter_config.json", config)) detail::remove_file(to / "adapter_config.json");
  write_safetensors(to / "adapter_model.safetensors", detail::infos_of(places), {{"format", "pt"}});
  write_file_atomic(to / "adapter_config.json", config);
}

// Fills the adapters, and what was trained whole, from a folder. Throws format_error for another rank, alpha or kind of adapter, and what
// load_parameters throws, before anything is written.
template <class Parameters>
void load_adapter(std::filesystem::path const& from, Parameters const& parameters, adapter_description const& d) {
  auto const own = detail::adapter_parameters(parameters, d);
  std::filesystem::path const config = from / "adapter_config.json";
  detail::check_adapter_config(read_json(config), config.string(), d);
  load_parameters(from / "adapter_model.safetensors", own, {.finite = true, .convert = true, .prefix = std::string(detail::adapter_prefix), .rename = {}});
}

// A parameter with numbers of its own.
struct merged_parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> data;
};

// The model without adapters that gives the same: W + scale B A in place of W, where scale = alpha / rank. A copy of all.
template <class Parameters>
std::vector<merged_parameter> merged_parameters(Parameters const& parameters, double scale) {
  static_assert(std::is_same_v<std::remove_cv_t<typename std::remove_cvref_t<decltype(std::begin(parameters)->data)>::element_type>, float>,
                "tx::io::merged_parameters: the parameters are not all of f32. FIX: a model of one type");
  auto const find = [&](std::string const& name) {
    return std::ranges::find_if(parameters, [&](auto const& p) { return p.name == name; });
  };
  std::vector<merged_parameter> out;
  for (auto const& p : base_parameters(parameters)) {
    merged_parameter& own = out.emplace_back(merged_parameter{p.name, detail::shape_of(p), {p.data.begin(), p.data.end()}});
    std::string const module = p.name.substr(0, p.name.size() - std::min<std::size_t>(p.name.size(), 7));
    auto const a = find(module + std::string(detail::down_ending)), b = find(module + std::string(detail::up_ending));
    if (!p.name.ends_with(".weight") || a == std::end(parameters) || b == std::end(parameters)) continue;
    auto const rows = static_cast<std::size_t>(own.shape[0]), cols = static_cast<std::size_t>(own.shape[1]), rank = static_cast<std::size_t>(detail::shape_of(*a)[0]);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < cols; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < rank; ++k) sum += static_cast<double>(b->data[i * rank + k]) * static_cast<double>(a->data[k * cols + j]);
        own.data[i * cols + j] = static_cast<float>(static_cast<double>(own.data[i * cols + j]) + scale * sum);
      }
  }
  return out;
}

}  // namespace tx::io
