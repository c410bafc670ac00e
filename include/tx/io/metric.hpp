// A number or a text of a run under its name, and what takes them: sinks. JSON lines (metrics.hpp), event files of
// TensorBoard (tensorboard.hpp) and a progress line (progress.hpp) are sinks; so is a type of your own with a `write`.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/utf8.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tx::io {

// Numbers keep the digits needed to read the same value back; as JSON, which lacks NaN and the infinities, those are
// null.
struct metric {
  std::string key;
  std::string json;                // the value
  std::string text;                // where it is one
  std::optional<double> number{};  // where it is one; a bool is 0 or 1

  template <class T>
  requires std::floating_point<T> || std::integral<T> metric(std::string_view name, T value)
      : key(name), json(format(value)), number(static_cast<double>(value)) {}
  metric(std::string_view name, std::string_view value) : key(name), json(json_string(value)), text(value) {}
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

// Takes what was measured after `step` steps. Throws io_error where it cannot be written, value_error for a key given
// twice; the next write goes on.
template <class S>
concept metric_sink = requires(S& sink, std::int64_t step, std::span<metric const> values) {
  sink.write(step, values);
};

// Throws value_error for a key given twice.
inline void check_keys(std::span<metric const> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (values[j].key == values[i].key)
        throw value_error("the metric " + shown(values[i].key) +
                          " is given twice. FIX: one value a name in each write");
}

}  // namespace tx::io
