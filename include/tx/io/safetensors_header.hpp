// The JSON header of a safetensors file, parsed event by event: a document tree would hide a key given twice.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/safetensors_format.hpp>
#include <tx/io/utf8.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tx::io::detail {

struct safetensors_entry {
  std::string name;
  tx::dtype type{};
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // bytes from the end of the header
  std::uint64_t end = 0;
};

// Handler of nlohmann's SAX interface. Anything but the three levels the format has (header, tensor or metadata, shape
// or offsets) is refused where it begins, which bounds the depth as well.
class safetensors_header {
 public:
  std::vector<safetensors_entry> entries;  // in the header's order; names may still repeat
  std::map<std::string, std::string> metadata;

  explicit safetensors_header(std::string_view source) : source_(source) {}

  void parse(std::string_view text) {
    if (text.empty() || text.front() != '{') fail("the header does not begin with '{'");
    // nlohmann takes a NUL byte for the end of the text and would leave what follows unread.
    if (text.find('\0') != std::string_view::npos) fail("the header holds a NUL byte");
    if (!is_utf8(text)) fail("the header is not UTF-8");
    text.remove_suffix(text.size() - 1 - text.find_last_not_of(' '));
    if (text.back() != '}') fail("the header ends neither with '}' nor with spaces after it");
    nlohmann::json::sax_parse(text, this);
  }

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("a boolean"); }
  bool number_integer(std::int64_t) { return unexpected("a negative number"); }
  bool number_float(double, std::string const& text) { return unexpected("the number " + shown(text)); }
  bool binary(std::vector<std::uint8_t> const&) { return unexpected("binary data"); }

  bool number_unsigned(std::uint64_t value) {
    if (place_ != place::list) return unexpected("a number");
    if (key_ == field::shape) {
      if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
        fail_tensor("a size in its shape is too large");
      entries.back().shape.push_back(static_cast<std::int64_t>(value));
    } else {
      if (offsets_ == 2) fail_tensor("data_offsets has more than two numbers");
      (offsets_ == 0 ? entries.back().begin : entries.back().end) = value;
      ++offsets_;
    }
    return true;
  }

  bool string(std::string& value) {
    if (place_ == place::metadata) {
      metadata[std::move(metadata_key_)] = std::move(value);
      return true;
    }
    if (place_ != place::tensor || key_ != field::dtype) return unexpected("a string");
    auto const type = safetensors_type(value);
    if (!type) fail_tensor("unknown dtype " + shown(value));
    entries.back().type = *type;
    return true;
  }

  bool key(std::string& name) {
    if (place_ == place::top) {
      in_metadata_ = name == "__metadata__";
      if (!in_metadata_)
        entries.emplace_back().name = name;
      else if (std::exchange(metadata_seen_, true))
        fail("__metadata__ is given twice");
    } else if (place_ == place::metadata) {
      if (metadata.contains(name)) fail("the metadata key " + shown(name) + " is given twice");
      metadata_key_ = name;
    } else {
      key_ = name == "dtype" ? field::dtype : name == "shape" ? field::shape : field::data_offsets;
      if (key_ == field::data_offsets && name != "data_offsets") fail_tensor("unknown key " + shown(name));
      if (std::exchange(seen_[static_cast<std::size_t>(key_)], true)) fail_tensor(name + " is given twice");
    }
    return true;
  }

  bool start_object(std::size_t) {
    if (place_ == place::outside) {
      place_ = place::top;
    } else if (place_ == place::top) {
      place_ = in_metadata_ ? place::metadata : place::tensor;
      for (bool& seen : seen_) seen = false;
    } else {
      return unexpected("an object");
    }
    return true;
  }

  bool end_object() {
    if (place_ == place::tensor) {
      for (field const f : {field::dtype, field::shape, field::data_offsets}) {
        constexpr char const* names[] = {"dtype", "shape", "data_offsets"};
        auto const i = static_cast<std::size_t>(f);
        if (!seen_[i]) fail_tensor(std::string(names[i]) + " is missing");
      }
    }
    place_ = place_ == place::top ? place::outside : place::top;
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ != place::tensor || key_ == field::dtype) return unexpected("an array");
    place_ = place::list;
    offsets_ = 0;
    return true;
  }

  bool end_array() {
    if (key_ == field::data_offsets && offsets_ != 2) fail_tensor("data_offsets has fewer than two numbers");
    place_ = place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, std::string const&, std::exception const&) {
    fail("the header is not JSON: error at byte " + std::to_string(position) + " of it");
  }

 private:
  enum class place { outside, top, metadata, tensor, list };
  enum class field : std::size_t { dtype, shape, data_offsets };

  [[noreturn]] void fail(std::string const& what) const { throw format_error(source_ + ": " + what); }
  [[noreturn]] void fail_tensor(std::string const& what) const {
    fail("tensor " + shown(entries.back().name) + ": " + what);
  }

  bool unexpected(std::string const& what) const {
    constexpr char const* wants[] = {"a string", "a list of sizes", "a list of two numbers"};
    auto const i = static_cast<std::size_t>(key_);
    switch (place_) {
      case place::metadata: fail("the metadata key " + shown(metadata_key_) + " holds " + what + ", not a string");
      case place::tensor: fail_tensor(what + " where " + wants[i] + " belongs");
      case place::list: fail_tensor(what + " in its " + (key_ == field::shape ? "shape" : "data_offsets"));
      case place::top:
        if (!in_metadata_) fail_tensor(what + " where its description belongs");
        [[fallthrough]];
      default: fail(what + " where an object belongs");
    }
  }

  std::string source_;
  place place_ = place::outside;
  field key_ = field::dtype;
  bool seen_[3] = {};
  int offsets_ = 0;
  bool in_metadata_ = false;
  bool metadata_seen_ = false;
  std::string metadata_key_;
};

}  // namespace tx::io::detail
