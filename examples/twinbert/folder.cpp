#include "folder.hpp"

#include <tx/io/safetensors.hpp>

#include <cstring>
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

// The members of a JSON object without nested values, as they are spelt. All that config.json needs; a JSON library
// would double the time this file takes to compile.
std::map<std::string, std::string> read_flat_json(std::string const& path) {
  std::string const text = tx::io::read_text(path);
  std::size_t at = 0;
  auto const fail = [&](char const* what) -> void {
    throw tx::format_error(path + ": " + what + " at byte " + std::to_string(at) + "; it holds one flat JSON object");
  };
  auto const peek = [&] {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    return at < text.size() ? text[at] : '\0';
  };
  auto const expect = [&](char c) {
    if (peek() != c) fail((std::string("no '") + c + "'").c_str());
    ++at;
  };
  auto const value = [&] {
    peek();
    std::size_t const first = at;
    if (at < text.size() && text[at] == '"') {
      while (++at < text.size() && text[at] != '"') at += text[at] == '\\';
      ++at;
    } else {
      at = std::min(text.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", at), text.size());
    }
    if (at == first || at > text.size()) fail("no value");
    return text.substr(first, at - first);
  };
  std::map<std::string, std::string> members;
  expect('{');
  while (peek() != '}') {
    if (!members.empty()) expect(',');
    if (peek() != '"') fail("no key");
    std::string const key = value();
    expect(':');
    members[key.substr(1, key.size() - 2)] = value();
  }
  expect('}');
  if (peek() != '\0') fail("more than one value");
  return members;
}

std::string shown(std::vector<std::int64_t> const& shape) {
  std::string out = "[";
  for (std::int64_t const size : shape) {
    if (out.size() > 1) out += ", ";
    out += std::to_string(size);
  }
  return out + ']';
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
  std::vector<tx::io::tensor_info> tensors;
  for (auto const& t : e.tensors())
    tensors.push_back({t.name, tx::dtype::f32, t.shape, std::as_bytes(std::span<float const>(t.data))});
  tx::io::write_safetensors(folder + "/model.safetensors", tensors, {{"format", "pt"}});
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
  std::string const path = folder + "/model.safetensors";
  auto const file = tx::io::safetensors::read(path);
  auto const wanted = e.tensors();
  for (auto const& t : wanted) {
    auto const* found = file.find(t.name);
    if (found == nullptr) throw tx::format_error(path + " lacks the tensor " + t.name);
    if (found->shape != t.shape || found->type != tx::dtype::f32) {
      throw tx::shape_error(path + ": tensor " + t.name + " is " + tx::name_of(found->type) + shown(found->shape) +
                            "; this program was compiled for f32" + shown(t.shape));
    }
    std::memcpy(t.data.data(), found->bytes.data(), found->bytes.size());
  }
  for (auto const& t : file.tensors()) {
    if (std::ranges::find(wanted, t.name, &named_tensor::name) == wanted.end())
      throw tx::format_error(path + " has the tensor " + tx::io::shown(t.name) + ", which this program's model lacks");
  }
}

}  // namespace twinbert
