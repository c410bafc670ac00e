#include "folder.hpp"

#include <tx/io/metrics.hpp>
#include <tx/io/parameters.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>

namespace twinbert {
namespace {

namespace fs = std::filesystem;
// A key of config.json with its value as JSON.
struct entry {
  std::string key, value;
  bool in_shapes = false;  // tensors' shapes repeat it
};

std::vector<entry> describe(description const& d, bool layers) {
  auto const number = [](int n) { return std::to_string(n); };
  auto const text = [](std::string_view t) { return tx::io::json_string(t); };
  return {{"model_type", text("twinbert")},
          {"num_hidden_layers", number(layers ? d.layers : 0)},
          {"hidden_size", number(d.hidden), true},
          {"num_attention_heads", number(d.heads)},
          {"intermediate_size", number(d.ffn), true},
          {"vocab_size", number(d.vocabulary), true},
          {"query_words", number(d.query_words)},
          {"document_words", number(d.document_words)},
          {"input", text(d.letters > 0 ? "tri-letter" : "wordpiece")},
          {"letters", number(d.letters)},
          {"shared", d.shared ? "true" : "false"},
          {"pooler", text(d.pooler)},
          {"crossing", text(d.crossing)},
          {"block", text(d.block)},
          {"loss", text(d.loss)}};
}

// Handler of nlohmann's SAX interface: the members of a JSON object without nested values, as JSON text. (A tree of the
// document would add a tenth to the time that this program takes to compile.)
struct flat_object {
  std::string const& path;
  std::map<std::string, std::string> members{};
  std::string at{};
  bool open = false;

  bool put(std::string value) {
    if (!open) throw tx::format_error(path + ": not a JSON object");
    members[at] = std::move(value);
    return true;
  }
  bool null() { return put("null"); }
  bool boolean(bool v) { return put(v ? "true" : "false"); }
  bool number_integer(std::int64_t v) { return put(std::to_string(v)); }
  bool number_unsigned(std::uint64_t v) { return put(std::to_string(v)); }
  bool number_float(double, std::string const& text) { return put(text); }
  bool string(std::string const& v) { return put(tx::io::json_string(v)); }
  bool binary(std::vector<std::uint8_t> const&) { return false; }
  bool key(std::string const& k) {
    at = k;
    return true;
  }
  bool start_object(std::size_t) {
    if (open) throw tx::format_error(path + ": " + tx::io::shown(at) + " is nested; it holds one flat JSON object");
    return open = true;
  }
  bool end_object() { return true; }
  bool start_array(std::size_t) { return put("") && start_object(0); }
  bool end_array() { return true; }
  bool parse_error(std::size_t, std::string const&, nlohmann::detail::exception const& e) {
    throw tx::format_error(path + ": " + e.what());
  }
};

std::map<std::string, std::string> read_flat_json(std::string const& path) {
  flat_object object{path};
  nlohmann::json::sax_parse(std::string_view(tx::io::read_text(path)), &object);
  return object.members;
}

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
  std::string text = "{";
  for (auto const& e : describe(d, layers)) text += (text.size() > 1 ? ",\n  \"" : "\n  \"") + e.key + "\": " + e.value;
  tx::io::write_file_atomic(folder + "/config.json", text + "\n}\n");
}

void write_parameters(std::string const& folder, engine const& e) {
  tx::io::save_parameters(folder + "/model.safetensors", e.tensors(), {{"format", "pt"}});
}

bool read_config(std::string const& folder, description const& d) {
  std::string const path = folder + "/config.json";
  auto const given = read_flat_json(path);
  auto const layers = given.find("num_hidden_layers");
  bool const has_layers = d.layers > 0 && (layers == given.end() || layers->second != "0");
  for (auto const& e : describe(d, has_layers)) {
    auto const at = given.find(e.key);
    if (at == given.end()) throw tx::format_error(path + " lacks " + e.key);
    // Of sizes that tensors have, the tensors' own messages say more.
    if (at->second != e.value && !e.in_shapes)
      throw tx::value_error(path + ": " + e.key + " is " + at->second + "; this program was compiled for " + e.value);
  }
  return has_layers;
}

void read_parameters(std::string const& folder, engine const& e) {
  tx::io::load_parameters(folder + "/model.safetensors", e.tensors());
}

}  // namespace twinbert
