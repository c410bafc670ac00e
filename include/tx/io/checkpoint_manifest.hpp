// checkpoint.json, which makes a folder of tensors a checkpoint: step, seed, optimizer, settings, place in the data, and
// the size and checksum of each file beside it. Its last line is the checksum of the lines before.
#pragma once

#include <tx/config.hpp>
#include <tx/core/error.hpp>
#include <tx/io/crc64.hpp>
#include <tx/io/utf8.hpp>

#include <charconv>
#include <concepts>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tx::io {

// Names and values of a caller's choosing, such as the epoch and the place in it.
using checkpoint_value = std::variant<std::int64_t, double, std::string>;
using checkpoint_values = std::map<std::string, checkpoint_value>;

// A checkpoint that was cut short while it was written, or changed since.
struct damaged_checkpoint : format_error {
  using format_error::format_error;
};

struct checkpoint_manifest {
  static constexpr std::int64_t version = 2;  // 1 did not name the optimizer

  std::int64_t step = 0;
  std::uint64_t seed = 0;
  std::string optimizer;  // what its states mean, in its own words
  checkpoint_values settings, position;
  std::map<std::string, file_sum> files;  // by name
};

// The value of a name, as an integer, a floating-point number or a string; throws format_error if there is none, if it is of another kind
// or, an integer, out of T's range.
template <class T>
  requires std::integral<T> || std::floating_point<T> || std::same_as<T, std::string>
T value_of(checkpoint_values const& values, std::string const& name) {
  constexpr bool whole = std::integral<T>, text = std::same_as<T, std::string>;
  using held = std::conditional_t<whole, std::int64_t, std::conditional_t<text, std::string, double>>;
  auto const at = values.find(name);
  if (at == values.end()) throw format_error("the checkpoint lacks " + shown(name));
  held const* const v = std::get_if<held>(&at->second);
  if (v == nullptr) throw format_error("the checkpoint's " + shown(name) + " is no " + (text ? "text" : whole ? "integer" : "number"));
  if constexpr (whole)
    if (static_cast<std::int64_t>(static_cast<T>(*v)) != *v || (*v < 0) != (static_cast<T>(*v) < T{}))
      throw format_error("the checkpoint's " + shown(name) + " is out of range");
  return static_cast<T>(*v);
}

// A value as JSON. A number has a point or an exponent, which tells it from an integer, and all digits it needs; those
// that JSON lacks are objects.
TX_COLD inline std::string json_of(checkpoint_value const& value) {
  if (auto const* const i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (auto const* const s = std::get_if<std::string>(&value)) return json_string(*s);
  double const v = std::get<double>(value);
  if (std::isnan(v)) return R"({"number": "nan"})";
  if (std::isinf(v)) return v > 0 ? R"({"number": "inf"})" : R"({"number": "-inf"})";
  char text[32];
  std::string digits(text, std::to_chars(text, text + sizeof text, v).ptr);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

namespace detail {

// `{}`, or a line for each name.
TX_COLD inline std::string json_object(std::map<std::string, std::string> const& members) {
  std::string out = "{";
  for (auto const& [name, json] : members)
    out += (out.size() > 1 ? ",\n    " : "\n    ") + json_string(name) + ": " + json;
  return out + (members.empty() ? "}" : "\n  }");
}

inline constexpr std::string_view manifest_head = "{\n  \"format\": \"tx checkpoint\",\n  \"version\": ";
inline constexpr std::string_view manifest_sum = ",\n  \"checksum\": \"";
inline constexpr std::string_view manifest_tail = "\"\n}\n";

inline std::string with_checksum(std::string text) {
  std::string const sum = hex_digits(crc64_of(std::string_view(text)));
  return text.append(manifest_sum).append(sum).append(manifest_tail);
}

// Reads what json_of writes, and nothing else: every member in its place.
class manifest_scanner {
 public:
  manifest_scanner(std::string_view text, std::string_view source) : rest_(text), source_(source) {}

  [[noreturn]] TX_COLD void fail(std::string const& what) const {
    throw format_error(std::string(source_) + ": " + what);
  }

  bool skip(std::string_view literal) {
    bool const there = rest_.starts_with(literal);
    if (there) rest_.remove_prefix(literal.size());
    return there;
  }
  void expect(std::string_view literal) {
    if (!skip(literal)) fail("no checkpoint.json as this version writes it, near " + shown(rest_.substr(0, 30)));
  }
  template <class T>
  T number() {
    T value{};
    auto const [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (code != std::errc{}) fail("no number near " + shown(rest_.substr(0, 30)));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::uint64_t hex() {
    std::uint64_t value = 0;
    auto const [end, code] =
        std::from_chars(rest_.data(), rest_.data() + std::min<std::size_t>(16, rest_.size()), value, 16);
    if (code != std::errc{} || end != rest_.data() + 16) fail("no checksum near " + shown(rest_.substr(0, 30)));
    rest_.remove_prefix(16);
    return value;
  }
  TX_COLD std::string string() {
    expect("\"");
    std::string out;
    for (;;) {
      if (rest_.empty()) fail("a text has no end");
      char const c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return out;
      if (c == '\\')
        out += escaped();
      else
        out += c;
    }
  }
  // A line for each name, read by member(name).
  template <class F>
  void object(F member) {
    expect("{");
    if (skip("}")) return;
    do {
      expect("\n    ");
      std::string const name = string();
      expect(": ");
      member(name);
    } while (skip(","));
    expect("\n  }");
  }
  TX_COLD checkpoint_value value() {
    if (rest_.starts_with('"')) return string();
    if (skip(R"({"number": )")) {
      std::string const name = string();
      expect("}");
      return name == "nan" ? std::nan("") : name == "inf" ? HUGE_VAL : -HUGE_VAL;
    }
    auto const digits = rest_.substr(0, rest_.find_first_not_of("0123456789+-.e"));
    if (digits.find_first_of(".e") == std::string_view::npos) return number<std::int64_t>();
    return number<double>();
  }
  checkpoint_values values() {
    checkpoint_values out;
    object([&](std::string const& name) { out[name] = value(); });
    return out;
  }

 private:
  char escaped() {
    if (skip("\"")) return '"';
    if (skip("\\")) return '\\';
    expect("u00");
    unsigned code = 0;
    auto const [end, error] =
        std::from_chars(rest_.data(), rest_.data() + std::min<std::size_t>(2, rest_.size()), code, 16);
    if (error != std::errc{}) fail("a text has an escape that is none");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return static_cast<char>(code);
  }

  std::string_view rest_;
  std::string_view source_;
};

}  // namespace detail

// Throws value_error for texts that are not UTF-8, which JSON cannot hold.
TX_COLD inline std::string json_of(checkpoint_manifest const& m) {
  auto const check = [](std::string_view text) {
    if (!is_utf8(text))
      throw value_error("checkpoint: the text " + shown(text) + " is not UTF-8. FIX: another name or value");
  };
  auto const object = [&](checkpoint_values const& values) {
    std::map<std::string, std::string> members;
    for (auto const& [name, value] : values) {
      check(name);
      if (auto const* const text = std::get_if<std::string>(&value)) check(*text);
      members[name] = json_of(value);
    }
    return detail::json_object(members);
  };
  std::map<std::string, std::string> files;
  for (auto const& [name, sum] : m.files) {
    check(name);
    files[name] =
        "{\"bytes\": " + std::to_string(sum.bytes) + ", \"crc64\": \"" + hex_digits(sum.crc64) + "\"}";
  }
  check(m.optimizer);
  return detail::with_checksum(std::string(detail::manifest_head) + std::to_string(checkpoint_manifest::version) +
                               ",\n  \"step\": " + std::to_string(m.step) + ",\n  \"seed\": " + std::to_string(m.seed) +
                               ",\n  \"optimizer\": " + json_string(m.optimizer) + ",\n  \"settings\": " + object(m.settings) +
                               ",\n  \"position\": " + object(m.position) + ",\n  \"files\": " + detail::json_object(files));
}

// Throws damaged_checkpoint if the text is not what its last line promises, format_error for another version and for
// everything that json_of would write otherwise. `source` stands for the file's name in messages.
TX_COLD inline checkpoint_manifest parse_manifest(std::string_view text, std::string_view source) {
  auto const end = detail::manifest_sum.size() + 16 + detail::manifest_tail.size();
  if (text.size() < end || text != detail::with_checksum(std::string(text.substr(0, text.size() - end))))
    throw damaged_checkpoint(std::string(source) + " is damaged or cut short: its last line is not its checksum");
  detail::manifest_scanner scan(text, source);
  scan.expect(detail::manifest_head);
  if (auto const version = scan.number<std::int64_t>(); version != checkpoint_manifest::version)
    scan.fail("version " + std::to_string(version) + " of the format; this program reads version " +
              std::to_string(checkpoint_manifest::version) + ". FIX: resume with the program that saved it");
  checkpoint_manifest m;
  scan.expect(",\n  \"step\": ");
  m.step = scan.number<std::int64_t>();
  scan.expect(",\n  \"seed\": ");
  m.seed = scan.number<std::uint64_t>();
  scan.expect(",\n  \"optimizer\": ");
  m.optimizer = scan.string();
  scan.expect(",\n  \"settings\": ");
  m.settings = scan.values();
  scan.expect(",\n  \"position\": ");
  m.position = scan.values();
  scan.expect(",\n  \"files\": ");
  scan.object([&](std::string const& name) {
    file_sum& file = m.files[name];
    scan.expect("{\"bytes\": ");
    file.bytes = scan.number<std::uint64_t>();
    scan.expect(", \"crc64\": \"");
    file.crc64 = scan.hex();
    scan.expect("\"}");
  });
  if (m.step < 0) scan.fail("its step is negative");
  // Names twice or out of order, digits too many, unneeded escapes: all that is left.
  std::optional<std::string> again;
  try {
    again = json_of(m);
  } catch (value_error const&) {
  }
  if (again != text) scan.fail("no checkpoint.json as this version writes it");
  return m;
}

}  // namespace tx::io
