#include "training.hpp"

#include "dataset.hpp"
#include "../command_line/makers.hpp"
#include "engine.hpp"

#include <tx/io/checkpoint_folder.hpp>
#include <tx/io/crc64.hpp>
#include <tx/text/write_token_shards.hpp>

#include <charconv>

namespace bert {

std::vector<command_line::option> with_common_options(std::vector<command_line::option> own) {
  std::vector<command_line::option> const common{
      {"seed", "S", "same seed, options and data: same model, bit by bit, on any number of threads (default: 1)"},
      {"save-every", "N", "save the state after every N steps (default: at Ctrl-C and SIGTERM alone)"},
      {"profile", "FILE", "write a Chrome trace of one step's kernels, with FLOPs, bytes and rates"},
      {"tensorboard", "", "write an event file for TensorBoard into DIR/events, beside metrics.jsonl"},
      {"resume", "", "go on from the state saved in DIR, with the same options and files; --threads may differ"},
      fewer_ids_option,
      command_line::device_option,
      command_line::threads_option,
      {"help", "", "print this"}};
  own.insert(own.end(), common.begin(), common.end());
  return own;
}

tx::train::run_folder_options folder_options(command_line::options const& given) {
  std::string const& out = given.text("out");
  bool const resume = given.has("resume"), some = tx::io::has_checkpoint(std::filesystem::path(out) / "checkpoints");
  if (resume && !some) throw tx::value_error("--resume: there is no saved state in " + out + ", as of a run that has ended or has not begun. FIX: leave out --resume, or another --out");
  return {.what = resume ? tx::train::existing::resume : tx::train::existing::refuse,
          .refusal = std::string("exists and is not empty. FIX: another --out") + (some ? ", or --resume" : "")};
}

std::optional<tx::train::run_folder> held_folder(command_line::options const& given) {
  auto const how = folder_options(given);
  if (!command_line::processes::now().first()) return std::nullopt;
  return std::optional<tx::train::run_folder>(std::in_place, given.text("out"), how);
}

tx::train::loop_options loop_options(command_line::options const& given, std::filesystem::path const& out) {
  if (given.has("profile") && command_line::device_of(given) != "cpu") throw tx::value_error("--profile: of kernels of the CPU alone. FIX: --device cpu");
  tx::train::loop_options o{.resume = given.has("resume"),
                            .checkpoints = {.folder = out / "checkpoints", .every = given.integer("save-every", 0, 1), .at_end = tx::train::at_end::remove},
                            .report = {.metrics = out / "metrics.jsonl"},
                            .resume_by = "--resume"};
  if (given.has("tensorboard")) o.report.events = out / "events";
  return o;
}

std::string trace_of(command_line::options const& given, tx::train::moment const& now) {
  return given.has("profile") && now.is_to_profile() ? given.text("profile") : "";
}

std::int64_t whole_updates(std::int64_t steps) {
  std::int64_t const each = compiled().tuning.accumulate;
  return (steps + each - 1) / each * each;
}
double share_done(std::int64_t done, std::int64_t steps) {
  std::int64_t const each = compiled().tuning.accumulate;
  return steps > 0 ? (static_cast<double>(done / each) + 0.5) / static_cast<double>(whole_updates(steps) / each) : 0;
}
std::function<void()> helps_to_save(command_line::trained_run& run) {
  if (!run.divides_parameters()) return nullptr;
  return [&run] { static_cast<void>(run.held_kept()); };
}
command_line::option rate_option(std::string const& of, double recipe) {
  std::string const optimizer = compiled().tuning.optimizer;
  if (optimizer.empty()) return {"rate", "R", "learning rate" + of + " at its highest (default: " + exact(recipe) + ")"};
  return {"rate", "R", "learning rate of " + optimizer + " at its highest; has to be said"};
}
double rate_of(command_line::options const& given, double recipe) {
  if (!given.has("rate") && !compiled().tuning.optimizer.empty())
    throw tx::value_error("--rate is missing: this program trains by " + compiled().tuning.optimizer + ", whose rates are not those of the recipe. FIX: --rate R");
  return given.number("rate", recipe, 0, 1);
}

std::string sum_of(std::string const& file) { return std::to_string(tx::io::sum_file(file).crc64); }

std::string sum_of(tx::io::model_folder const& folder) { return sum_of(folder.config_path().string()) + ' ' + tx::io::hex_digits(tx::text::tokenizer_fingerprint(folder.path())); }

std::string exact(double x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

}  // namespace bert
