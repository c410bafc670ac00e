// Training metrics as JSON lines: one flat object a line, which any notebook or `jq` reads while the run goes on.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/files.hpp>
#include <tx/io/utf8.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace tx::io {

// One key and its value, already as JSON. Numbers keep the digits needed to read the same value back; NaN and the
// infinities, which JSON lacks, become null.
struct metric {
  std::string key;
  std::string json;

  template <class T>
  requires std::floating_point<T> || std::integral<T> metric(std::string_view name, T value)
      : key(name), json(format(value)) {}
  metric(std::string_view name, std::string_view value) : key(name), json(json_string(value)) {}
  metric(std::string_view name, char const* value) : metric(name, std::string_view(value)) {}

 private:
  template <class T>
  static std::string format(T value) {
    if constexpr (std::same_as<T, bool>)
      return value ? "true" : "false";
    else {
      if constexpr (std::floating_point<T>) {
        if (!std::isfinite(value)) return "null";
      }
      char buffer[64];
      auto const end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
      return std::string(buffer, end);
    }
  }
};

// Appends lines to a file, creating it where absent; one write a line, so lines of several processes do not mix. A line
// that a crash or a full disk cut short is ended first, so that it spoils no other. Not for several threads at once.
// Throws io_error when the file cannot be opened or written, value_error for a key used twice in a line.
class metrics_log {
 public:
  explicit metrics_log(std::filesystem::path const& path) : file_(path, O_RDWR | O_APPEND | O_CREAT, "append to") {
    off_t const size = ::lseek(file_.get(), 0, SEEK_END);
    char last = '\n';
    if (size > 0 && ::pread(file_.get(), &last, 1, size - 1) == 1) cut_ = last != '\n';
  }

  void write(std::span<metric const> values) {
    std::string line = cut_ ? "\n{" : "{";
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (values[j].key == values[i].key) throw value_error("the metric " + shown(values[i].key) + " is given twice");
      }
      if (i > 0) line += ',';
      line += json_string(values[i].key) + ':' + values[i].json;
    }
    line += "}\n";
    cut_ = true;
    file_.write_all(std::as_bytes(std::span(line)));
    cut_ = false;
  }
  void write(std::initializer_list<metric> values) { write(std::span(values.begin(), values.size())); }

 private:
  file_handle file_;
  bool cut_ = false;
};

}  // namespace tx::io
