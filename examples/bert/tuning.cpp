#include "tuning.hpp"

#include "training.hpp"

#include <tx/io/adapter_folder.hpp>
#include <tx/io/pretrained.hpp>
#include <tx/io/save_model_folder.hpp>

#include <cstdio>
#include <set>

namespace bert {
namespace {

std::string list(std::vector<std::string> const& names) {
  std::string out;
  for (auto const& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// Names of what is trained.
std::set<std::string> trained_names(trained_run const& run) {
  std::set<std::string> names;
  std::vector<float> any(run.size(1));  // whatever they are: this is about who has a state of the optimizer
  for (auto const& t : run.tensors_of(any, 1)) names.insert(t.name);
  return names;
}

// The modules beside adapters that are trained whole: a head by its name, "classifier", a part of the encoder by its path, "bert.pooler.dense".
std::vector<std::string> whole_modules(std::set<std::string> const& trained) {
  std::set<std::string> modules;
  for (auto const& name : trained)
    if (!tx::io::detail::is_adapter(name)) modules.insert(name.substr(0, name.starts_with(compiled().family + '.') ? name.rfind('.') : name.find('.')));
  return {modules.begin(), modules.end()};
}

// What PEFT calls a task.
std::string peft_task(std::string const& task) {
  return task == "SequenceClassification" ? "SEQ_CLS" : task == "TokenClassification" ? "TOKEN_CLS" : task == "QuestionAnswering" ? "QUESTION_ANS" : "FEATURE_EXTRACTION";
}

// A model with adapters as PEFT's folder is to have it.
struct as_adapter {
  std::vector<named_tensor> tensors;
  tx::io::adapter_description described;

  as_adapter(trained_run const& run, std::vector<named_tensor> of, std::string const& base, std::string const& task) : tensors(std::move(of)) {
    auto const& d = compiled();
    described = {.rank = d.tuning.rank, .alpha = d.tuning.alpha, .dropout = d.tuning.dropout, .base = base, .task = peft_task(task), .trained = whole_modules(trained_names(run))};
    if (task != "Model") return;
    auto const alone = [&](std::string& name) { name.erase(0, d.family.size() + 1); };  // an encoder by itself has nothing in front of its tensors' names
    for (auto& t : tensors) alone(t.name);
    for (auto& module : described.trained) alone(module);
  }
};

}  // namespace

std::string description::training::text() const {
  std::string out = rank > 0           ? "adapters of rank " + std::to_string(rank) + ", alpha " + exact(alpha) + (dropout > 0 ? ", dropout " + exact(dropout) : "") + ", beside " + list(adapted) + ", and " + (trained.empty() ? "the head" : list(trained))
                    : !trained.empty() ? list(trained) + " alone"
                    : !frozen.empty()  ? "all but " + list(frozen)
                                       : "all";
  return out + (layer_decay ? "; --layer-decay" : "") + updates();
}
std::string description::training::updates() const {
  return (accumulate > 1 ? "; an update every " + std::to_string(accumulate) + " steps" : "") + (optimizer.empty() ? "" : "; by " + optimizer) +
         (average > 0 ? "; judged and saved is a moving average of decay " + exact(average) : "");
}

std::string with_tuning(std::string usage) { return called(std::move(usage)) + "This program trains " + compiled().tuning.text() + ".\n\n"; }
std::string with_updates(std::string usage) { return called(std::move(usage)) + "This program trains all" + compiled().tuning.updates() + ".\n\n"; }

std::vector<command_line::option> with_tuning_options(std::vector<command_line::option> own) {
  own.push_back({"layer-decay", "D", "each layer has D times the rate of the one above it, the embeddings of the lowest, for a program compiled with LAYER_DECAY (default: 1)"});
  own.push_back({"adapter", "DIR", "a folder of PEFT's, whose adapters it begins with, for a program compiled with LORA"});
  return own;
}
void check_tuning_options(command_line::options const& given, description::training const& of) {
  if (given.has("adapter") && of.rank == 0) throw tx::value_error("--adapter: this program has no adapters. FIX: tx_add_bert(... LORA 8 16)");
  if (given.has("layer-decay") && !of.layer_decay) throw tx::value_error("--layer-decay: all layers of this program have one rate. FIX: tx_add_bert(... LAYER_DECAY)");
}

void begin_with(tx::io::model_folder const& folder, trained_run& run, command_line::options const& given, std::string const& task) {
  auto const trained = trained_names(run);
  run.change([&](std::vector<named_tensor> const& tensors) {
    for (auto const& name : tx::io::load_pretrained(folder, tx::io::base_parameters(tensors), compiled().family).fresh) {
      if (!trained.contains(name))
        throw tx::format_error(folder.path().string() + " lacks " + name + ", and this program does not train it. FIX: a folder that has it, or a program that trains it: tx_add_bert(... TRAINED, or without FROZEN)");
      if (!given.has("adapter")) std::fprintf(stderr, "fresh: %s\n", name.c_str());
    }
    if (given.has("adapter")) {
      as_adapter const a(run, tensors, folder.path().string(), task);
      tx::io::load_adapter(given.text("adapter"), a.tensors, a.described);  // with it what is trained beside adapters
    }
  });
}

void save_trained(std::filesystem::path const& to, trained_run const& run, tx::io::model_folder const& from, std::string const& task, nlohmann::json const& changes) {
  auto const& d = compiled();
  auto const kept = run.held_kept();
  auto const& tensors = kept.tensors;
  if (d.tuning.rank == 0) return tx::io::save_model_folder(to, tensors, from, changes);
  auto const merged = tx::io::merged_parameters(tensors, d.tuning.alpha / d.tuning.rank);
  as_adapter const a(run, tensors, from.path().string(), task);
  tx::io::save_adapter(to / "adapter", a.tensors, a.described);
  tx::io::save_model_folder(to, merged, from, changes);
}

}  // namespace bert
