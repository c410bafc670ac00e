// A checkpoint that several ranks write together, each what it keeps: none has to hold the whole, or to wait for what others have.
//
//   checkpoint-000240/parameters-00001-of-00004.safetensors ... 00004-of-00004, optimizer-... of each, extra.safetensors, checkpoint.json
//
// All ranks reach one folder. They agree on a name for the folder that they write in; each leaves there its files and their sums, and the first, when the sums of all are there,
// makes a checkpoint of them. It is read as any other (tensor_portions.hpp), by any number of ranks that divide the tensors in any way.
#pragma once

#include <tx/io/checkpoint_saving.hpp>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

namespace tx::io {

// What one rank writes of a checkpoint.
struct checkpoint_portion {
  int number = 0, count = 1;  // among those that write; a negative number: others have the same, and this one writes nothing
  std::string name;           // of the folder that all write in
  checkpoint_contents what;   // extra is the first rank's
  std::map<std::string, std::string> parameter_rows, optimizer_rows;  // metadata of the two files
};

namespace detail {

// A number that no other save has drawn, exact as a double.
inline double drawn_key() {
  std::random_device random;
  return static_cast<double>((std::uint64_t{random()} << 21 | random() >> 11) & ((std::uint64_t{1} << 53) - 1));
}
inline std::string saving_name_of(double key) { return std::string(saving_name) + '-' + std::to_string(static_cast<std::uint64_t>(key)); }

inline std::string sums_file(int number) { return "portion-" + std::to_string(number) + ".json"; }

// Files of this rank's tensors, and last the sums of these.
TX_COLD inline void write_own_files(std::filesystem::path const& in, checkpoint_portion const& own) {
  ensure_directory(in);
  checkpoint_manifest sums;
  auto const write = [&](char const* list, std::vector<tensor_info> const& tensors, std::map<std::string, std::string> const& rows) {
    std::string const name = checkpoint_file(list, own.number, own.count);
    sums.files[name] = write_summed_safetensors(in / name, tensors, rows);
  };
  write("parameters", own.what.parameters, own.parameter_rows);
  write("optimizer", own.what.optimizer, own.optimizer_rows);
  write_file_atomic(in / sums_file(own.number), json_of(sums));
}

// Waits for the sums of rank `number`, and takes them away.
template <class GivenUp>
checkpoint_manifest sums_of(std::filesystem::path const& in, int number, std::chrono::steady_clock::time_point until, GivenUp const& given_up) {
  auto const file = in / sums_file(number);
  std::error_code code;
  for (auto pause = std::chrono::milliseconds(1); !std::filesystem::exists(file, code); pause = std::min(2 * pause, std::chrono::milliseconds(50))) {
    if (given_up()) throw io_error(in.string() + ": the checkpoint is given up, as the run ends");
    if (std::chrono::steady_clock::now() > until)
      throw io_error(in.string() + ": the rank that writes portion " + std::to_string(number + 1) + " has not done so. FIX: a folder that all ranks reach, or save_options::patience");
    std::this_thread::sleep_for(pause);
  }
  checkpoint_manifest const sums = parse_manifest(read_text(file), file.string());
  remove_file(file);
  return sums;
}

}  // namespace detail

// This rank's part of adding a checkpoint; of the first rank all of it, with waiting for the others for so long from when it has written its own. Throws what write_checkpoint does,
// and an io_error where another rank has written nothing.
template <class GivenUp>
TX_COLD void write_checkpoint_portion(std::filesystem::path const& folder, checkpoint_portion const& own, int keep, std::chrono::milliseconds patience, GivenUp const& given_up) {
  detail::check_saving(own.what, keep);
  if (own.number < 0) return;
  if (own.number > 0) return detail::write_own_files(folder / own.name, own);
  detail::new_checkpoint made(folder, own.what.number.value_or(own.what.step), own.name);
  checkpoint_manifest about = detail::manifest_of(own.what);
  std::string const extra = detail::checkpoint_file("extra");
  about.files[extra] = detail::write_summed_safetensors(made.path() / extra, own.what.extra);
  detail::write_own_files(made.path(), own);
  auto const until = std::chrono::steady_clock::now() + patience;
  for (int k = 0; k < own.count; ++k) about.files.merge(detail::sums_of(made.path(), k, until, given_up).files);
  made.finish(about, keep);
}

}  // namespace tx::io
