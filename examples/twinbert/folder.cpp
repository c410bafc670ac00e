#include "folder.hpp"

#include "config_file.hpp"

#include <tx/io/parameters.hpp>

#include <filesystem>

namespace twinbert {
namespace {

namespace fs = std::filesystem;

}  // namespace

void prepare_folder(std::string const& folder, bool force) {
  std::error_code ignored;
  if (!force && fs::exists(folder, ignored) && !fs::is_empty(folder, ignored))
    throw tx::io_error(folder +
                       " exists and is not empty. FIX: another --out, --set-aside to rename it first, or "
                       "--force to write over the model in it");
  tx::io::ensure_directory(folder);
}

std::string set_aside(std::string const& folder) {
  std::error_code code;
  std::string from = folder;
  while (from.size() > 1 && from.back() == '/') from.pop_back();
  if (!fs::exists(from, code) || (fs::is_directory(from, code) && fs::is_empty(from, code))) return "";
  for (int n = 1;; ++n) {
    std::string const to = from + '.' + std::to_string(n);
    if (fs::exists(to, code)) continue;
    fs::rename(from, to, code);
    if (code) tx::io::throw_io_error("rename", from, code.value());
    return to;
  }
}

void write_config(std::string const& folder, description const& d, bool layers) {
  tx::io::write_file_atomic(folder + "/config.json", config_text(d, layers));
}

void write_parameters(std::string const& folder, engine const& e) {
  tx::io::save_parameters(folder + "/model.safetensors", e.tensors(), {{"format", "pt"}});
}

bool read_config(std::string const& folder, description const& d) {
  std::string const path = folder + "/config.json";
  std::error_code none;  // reading says more
  if (auto const size = fs::file_size(path, none); !none && size > max_config)
    throw tx::format_error(path + ": " + std::to_string(size) + " bytes; a config.json has at most " +
                           std::to_string(max_config));
  return parse_config(tx::io::read_text(path), path, d);
}

void read_parameters(std::string const& folder, engine const& e) {
  tx::io::load_parameters(folder + "/model.safetensors", e.tensors());
}

}  // namespace twinbert
