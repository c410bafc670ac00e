#include "config_file.hpp"

#include <tx/core/error.hpp>
#include <tx/io/utf8.hpp>

#include <nlohmann/json.hpp>

#include <vector>

namespace twinbert {
namespace {

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

// Handler of nlohmann's SAX interface. (A tree of the document would hide a key given twice, and add a tenth to the
// time that this program takes to compile.)
struct flat_object {
  std::string const& source;
  std::map<std::string, std::string> members{};
  std::string at{};
  bool open = false;

  [[noreturn]] void fail(std::string const& what) const { throw tx::format_error(source + ": " + what); }

  bool put(std::string value) {
    if (!open) fail("not a JSON object");
    if (!members.emplace(at, std::move(value)).second) fail(tx::io::shown(at) + " is given twice");
    return true;
  }
  bool nested() const {
    if (!open) fail("not a JSON object");
    fail(tx::io::shown(at) + " is nested; it holds one flat JSON object");
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
    if (open) return nested();
    return open = true;
  }
  bool end_object() { return true; }
  bool start_array(std::size_t) { return nested(); }
  bool end_array() { return true; }
  bool parse_error(std::size_t position, std::string const&, nlohmann::detail::exception const&) {
    fail("not JSON: error at byte " + std::to_string(position));
  }
};

// A value in a message: cut, without control characters.
std::string brief(std::string const& json) {
  std::string const text = tx::io::shown(json);
  return text.substr(1, text.size() - 2);
}

std::string vocabulary_sum(std::map<std::string, std::string> const& given, std::string const& source) {
  auto const at = given.find("vocabulary_crc64");
  if (at == given.end()) return "";
  std::string const& json = at->second;
  bool const digits = json.size() == 18 && json[0] == '"' && json.find_first_not_of("0123456789abcdef", 1) == 17;
  if (!digits) throw tx::format_error(source + ": vocabulary_crc64 is " + brief(json) + ", which is no checksum: 16 hexadecimal digits");
  return json.substr(1, 16);
}

}  // namespace

std::map<std::string, std::string> parse_flat_json(std::string_view text, std::string const& source) {
  flat_object object{source};
  // nlohmann takes a NUL byte for the end of the text and would leave what follows unread.
  if (text.find('\0') != std::string_view::npos) object.fail("it holds a NUL byte");
  nlohmann::json::sax_parse(text, &object);
  return std::move(object.members);
}

std::string config_text(description const& d, model_config const& c) {
  std::string text = "{";
  auto entries = describe(d, c.layers);
  if (!c.vocabulary.empty()) entries.push_back({"vocabulary_crc64", tx::io::json_string(c.vocabulary)});
  for (auto const& e : entries) text += (text.size() > 1 ? ",\n  \"" : "\n  \"") + e.key + "\": " + e.value;
  return text + "\n}\n";
}

model_config parse_config(std::string_view text, std::string const& source, description const& d) {
  auto const given = parse_flat_json(text, source);
  auto const layers = given.find("num_hidden_layers");
  bool const has_layers = d.layers > 0 && (layers == given.end() || layers->second != "0");
  for (auto const& e : describe(d, has_layers)) {
    auto const at = given.find(e.key);
    if (at == given.end()) throw tx::format_error(source + " lacks " + e.key);
    // Of sizes that tensors have, the tensors' own messages say more.
    if (at->second != e.value && !e.in_shapes)
      throw tx::value_error(source + ": " + e.key + " is " + brief(at->second) + "; this program was compiled for " +
                            e.value);
  }
  return {has_layers, vocabulary_sum(given, source)};
}

}  // namespace twinbert
