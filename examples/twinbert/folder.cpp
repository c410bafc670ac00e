#include "folder.hpp"

#include <tx/io/crc64.hpp>
#include <tx/io/parameters.hpp>
#include <tx/io/writable.hpp>

#include <filesystem>

namespace twinbert {
namespace {

namespace fs = std::filesystem;

bool holds_something(std::string const& folder) {
  for (auto const& entry : fs::directory_iterator(folder))
    if (entry.path().filename() != tx::io::run_lock::file_name) return true;
  return false;
}

}  // namespace

output_folder::output_folder(std::string const& path, existing what) : path_(path) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  make();
  if (!holds_something(path_)) return;
  if (what == existing::refuse)
    throw tx::io_error(path_ +
                       " exists and is not empty. FIX: another --out, --set-aside to rename it first, or "
                       "--force to write over the model in it");
  aside_ = what == existing::set_aside;
  if (aside_) {
    tx::io::check_writable_folder(fs::path(path_).parent_path());
    below_ = tx::io::locks_below(path_);
    return;
  }
  for (std::string const& name : {vocabulary_file(compiled()), std::string("config.json"), std::string("model.safetensors"), std::string("metrics.jsonl")})
    tx::io::check_writable(path_ + '/' + name);
}

output_folder::~output_folder() {
  below_.clear();
  lock_.reset();
  if (made_) ::rmdir(path_.c_str());
}

void output_folder::make() {
  std::error_code none;
  made_ = !fs::exists(path_, none);
  tx::io::ensure_directory(path_);
  try {
    lock_.emplace(path_);
  } catch (...) {
    if (made_) ::rmdir(path_.c_str());  // not if another run has come first, and holds it
    throw;
  }
}

std::string output_folder::begin() {
  if (!aside_) return "";
  std::error_code code;
  for (int n = 1;; ++n) {
    std::string const to = path_ + '.' + std::to_string(n);
    if (fs::exists(to, code)) continue;
    fs::rename(path_, to, code);
    if (code) tx::io::throw_io_error("rename", path_, code.value());
    // What was renamed stays held until the new folder is.
    auto const old = std::move(lock_);
    make();
    below_.clear();
    return to;
  }
}

void write_config(std::string const& folder, description const& d, bool layers) {
  auto const sum = tx::io::sum_file(folder + '/' + vocabulary_file(d));
  tx::io::write_file_atomic(folder + "/config.json", config_text(d, {layers, tx::io::hex_digits(sum.crc64)}));
}

void write_parameters(std::string const& folder, engine const& e) {
  tx::io::save_parameters(folder + "/model.safetensors", e.tensors(), {{"format", "pt"}});
}

model_config read_config(std::string const& folder, description const& d) {
  std::string const path = folder + "/config.json";
  std::error_code none;  // reading says more
  if (auto const size = fs::file_size(path, none); !none && size > max_config)
    throw tx::format_error(path + ": " + std::to_string(size) + " bytes; a config.json has at most " +
                           std::to_string(max_config));
  return parse_config(tx::io::read_text(path), path, d);
}

tokenizer load_vocabulary(std::string const& folder, description const& d, model_config const& c) {
  auto loaded = tokenizer::load(d, folder);  // first: of a damaged file it says more
  std::string const path = folder + '/' + vocabulary_file(d);
  std::string const sum = tx::io::hex_digits(tx::io::sum_file(path).crc64);
  if (!c.vocabulary.empty() && sum != c.vocabulary)
    throw tx::value_error(path + " is not the vocabulary that the model was trained with: its CRC-64 is " + sum +
                          ", config.json says " + c.vocabulary + ". FIX: bring back the file that training wrote");
  return loaded;
}

void read_parameters(std::string const& folder, engine const& e) {
  tx::io::load_parameters(folder + "/model.safetensors", e.tensors());
}

}  // namespace twinbert
