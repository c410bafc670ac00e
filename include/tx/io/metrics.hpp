// Training metrics as JSON lines: one flat object a line, which any notebook or `jq` reads while the run goes on.
#pragma once

#include <tx/config.hpp>
#include <tx/io/files.hpp>
#include <tx/io/metric.hpp>

#include <charconv>
#include <initializer_list>
#include <vector>

namespace tx::io {

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

  // A line {"step": step, ...}.
  void write(std::int64_t step, std::span<metric const> values) {
    std::vector<metric> line{{"step", step}};
    line.insert(line.end(), values.begin(), values.end());
    write(line);
  }
  void write(std::int64_t step, std::initializer_list<metric> values) {
    write(step, std::span(values.begin(), values.size()));
  }
  // A line of these alone.
  void write(std::span<metric const> values) {
    check_keys(values);
    std::string line = cut_ ? "\n{" : "{";
    for (std::size_t i = 0; i < values.size(); ++i) {
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

// For a run that goes on from `step`: takes back what the file says of later steps, as they come again, and a last line that was cut short.
// A file that is not there has nothing to take back.
TX_COLD inline void cut_metrics(std::filesystem::path const& path, std::int64_t step) {
  constexpr std::string_view head = "{\"step\":";
  std::error_code code;
  if (!std::filesystem::exists(path, code)) return;
  std::string const text = read_text(path);
  std::size_t kept = 0;
  for (std::size_t end; (end = text.find('\n', kept)) != std::string::npos; kept = end + 1) {
    std::string_view const line(text.data() + kept, end - kept);
    std::int64_t number = step;
    if (line.starts_with(head)) std::from_chars(line.data() + head.size(), line.data() + line.size(), number);
    if (number > step) break;
  }
  if (kept == text.size()) return;
  std::filesystem::resize_file(path, kept, code);
  if (code) throw_io_error("shorten", path, code.value());
}

}  // namespace tx::io
