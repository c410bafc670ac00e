// A timeline of kernels as a Chrome trace (Trace Event Format, complete events), to open in chrome://tracing or Perfetto.
#pragma once

#include <tx/io/files.hpp>
#include <tx/io/utf8.hpp>

#include <charconv>
#include <ranges>

namespace tx::io {

namespace detail {
inline std::string plain_number(double value) {
  char text[48];
  return std::string(text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 3).ptr);
}
}  // namespace detail

// Events: name, start and seconds, iteration, rows, cols, flops, bytes, as tx::profile_of makes them. Rates are per second of the event.
// Throws io_error with the path and the system's reason.
template <std::ranges::input_range Events>
void write_trace(std::filesystem::path const& path, Events const& events) {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  bool first = true;
  for (auto const& e : events) {
    auto const rate = [&](std::int64_t count) { return detail::plain_number(e.seconds > 0 ? 1e-9 * static_cast<double>(count) / e.seconds : 0); };
    text += std::string(first ? "\n" : ",\n") + "{\"name\": " + json_string(e.name) + ", \"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": " + detail::plain_number(1e6 * e.start) +
            ", \"dur\": " + detail::plain_number(1e6 * e.seconds) + ", \"args\": {\"iteration\": " + std::to_string(e.iteration) + ", \"rows\": " + std::to_string(e.rows) +
            ", \"cols\": " + std::to_string(e.cols) + ", \"flops\": " + std::to_string(e.flops) + ", \"bytes\": " + std::to_string(e.bytes) +
            ", \"GFLOP/s\": " + rate(e.flops) + ", \"GB/s\": " + rate(e.bytes) + "}}";
    first = false;
  }
  write_file_atomic(path, text + "\n]}\n");
}

}  // namespace tx::io
