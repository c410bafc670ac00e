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

// The events of a timeline, as text of which a trace is made; `process` is their lane, counted from 1, and named where there is a name.
// Events: name, start and seconds, iteration, rows, cols, flops, bytes, as tx::profile_of makes them. Rates are per second of the event.
template <std::ranges::input_range Events>
std::string trace_events(Events const& events, int process = 1, std::string const& name = "") {
  std::string const lane = "\"pid\": " + std::to_string(process);
  std::string text;
  if (!name.empty()) text += ",\n{\"name\": \"process_name\", \"ph\": \"M\", " + lane + ", \"args\": {\"name\": " + json_string(name) + "}}";
  for (auto const& e : events) {
    auto const rate = [&](std::int64_t count) { return detail::plain_number(e.seconds > 0 ? 1e-9 * static_cast<double>(count) / e.seconds : 0); };
    text += ",\n{\"name\": " + json_string(e.name) + ", \"ph\": \"X\", " + lane + ", \"tid\": 1, \"ts\": " + detail::plain_number(1e6 * e.start) +
            ", \"dur\": " + detail::plain_number(1e6 * e.seconds) + ", \"args\": {\"iteration\": " + std::to_string(e.iteration) + ", \"rows\": " + std::to_string(e.rows) +
            ", \"cols\": " + std::to_string(e.cols) + ", \"flops\": " + std::to_string(e.flops) + ", \"bytes\": " + std::to_string(e.bytes) +
            ", \"GFLOP/s\": " + rate(e.flops) + ", \"GB/s\": " + rate(e.bytes) + "}}";
  }
  return text;
}
// A trace of such texts, one behind the other. Throws io_error with the path and the system's reason.
inline void write_trace_of(std::filesystem::path const& path, std::string_view events) {
  write_file_atomic(path, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [" + std::string(events.substr(events.empty() ? 0 : 1)) + "\n]}\n");
}
// Of one timeline.
template <std::ranges::input_range Events>
void write_trace(std::filesystem::path const& path, Events const& events) {
  write_trace_of(path, trace_events(events));
}

}  // namespace tx::io
