// A progress line: rewritten in place on a terminal, now and then a plain line in a log file.
#pragma once

#include <tx/io/metric.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tx::io {

// Four significant digits; from ten thousand to a quadrillion with k, M, G or T.
inline std::string format_number(double value) {
  char const* suffix = "";
  if (std::isfinite(value) && std::abs(value) >= 9999.5 && std::abs(value) < 1e15) {
    for (char const* next : {"k", "M", "G", "T"}) {
      value /= 1000;
      suffix = next;
      if (std::abs(value) < 999.95) break;
    }
  }
  char buffer[64];
  auto const end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 4).ptr;
  return std::string(buffer, end) + suffix;
}

// `h:mm:ss`, with the days before it from one day on.
inline std::string format_duration(std::chrono::seconds time) {
  auto const two = [](std::int64_t n) { return std::string(n < 10 ? "0" : "").append(std::to_string(n)); };
  std::int64_t const s = std::max<std::int64_t>(time.count(), 0);
  std::string const days = s >= 86400 ? std::to_string(s / 86400) + "d " : "";
  return days + std::to_string(s / 3600 % 24) + ':' + two(s / 60 % 60) + ':' + two(s % 60);
}

struct progress_field {
  std::string label;
  std::string value;

  template <class T>
  requires std::floating_point<T> || std::integral<T> progress_field(std::string_view name, T number)
      : label(name), value(format_number(static_cast<double>(number))) {}
  progress_field(std::string_view name, std::string_view text) : label(name), value(text) {}
  progress_field(std::string_view name, char const* text) : label(name), value(text) {}
  explicit progress_field(metric const& m) : label(m.key), value(m.number ? format_number(*m.number) : m.text) {}
};

struct progress_options {
  using clock = std::chrono::steady_clock;

  int fd = STDERR_FILENO;    // not closed
  std::optional<bool> live;  // rewrite one line; when not set, where fd is a terminal
  clock::duration live_every = std::chrono::milliseconds(100);
  clock::duration plain_every = std::chrono::seconds(10);
  std::function<clock::time_point()> now = [] { return clock::now(); };
};

// Shows `step done/total  label value ...  left h:mm:ss`. Failing to write never throws: a closed terminal must not end
// a training run. Not for several threads at once. A sink of metrics, too, of which it shows those that come on time.
class progress {
 public:
  using clock = progress_options::clock;

  // `first`: steps done before this run, as after a resume; the time left counts only what this run did.
  explicit progress(std::int64_t total, std::int64_t first = 0, progress_options options = {})
      : options_(std::move(options)), total_(total), first_(first), begin_(options_.now()) {
    live_ = options_.live.value_or(::isatty(options_.fd) == 1);
  }
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() {
    try {
      finish();
    } catch (...) {  // out of memory: the line is lost, nothing else
    }
  }

  // Returns whether it is time for a line, so that a caller can leave costly fields uncomputed.
  bool due() const {
    return !shown_ || options_.now() - *shown_ >= (live_ ? options_.live_every : options_.plain_every);
  }

  void update(std::int64_t done, std::span<progress_field const> fields) {
    auto const now = options_.now();
    bool const on_time = !shown_ || now - *shown_ >= (live_ ? options_.live_every : options_.plain_every);
    if (!on_time) {
      pending_ = {done, {fields.begin(), fields.end()}};
      return;
    }
    show(done, fields, now);
  }
  void update(std::int64_t done, std::initializer_list<progress_field> fields) {
    update(done, std::span(fields.begin(), fields.size()));
  }

  void write(std::int64_t step, std::span<metric const> values) {
    update(step, std::vector<progress_field>(values.begin(), values.end()));
  }
  void write(std::int64_t step, std::initializer_list<metric> values) {
    write(step, std::span(values.begin(), values.size()));
  }

  // Prints a line of its own without disturbing the live one.
  void note(std::string_view text) {
    if (live_ && width_ > 0) emit('\r' + std::string(width_, ' ') + '\r');
    emit(std::string(text) + '\n');
    if (live_ && width_ > 0) emit(line_);
  }

  // Shows the last update if it was held back, and ends the line. Safe to call twice.
  void finish() {
    if (pending_) {
      auto const last = std::move(*pending_);
      show(last.done, last.fields, options_.now());
    }
    if (live_ && width_ > 0) emit("\n");
    width_ = 0;
  }

 private:
  struct held {
    std::int64_t done;
    std::vector<progress_field> fields;
  };

  void show(std::int64_t done, std::span<progress_field const> fields, clock::time_point now) {
    pending_.reset();
    shown_ = now;
    line_ = "step " + std::to_string(done) + '/' + std::to_string(total_);
    for (auto const& field : fields) line_ += "  " + field.label + ' ' + field.value;
    if (done > first_ && done < total_) {
      double const each = std::chrono::duration<double>(now - begin_).count() / static_cast<double>(done - first_);
      double const left = std::min(each * static_cast<double>(total_ - done), 1e9);
      line_ += "  left " + format_duration(std::chrono::seconds(std::llround(left)));
    }
    if (!live_) {
      emit(line_ + '\n');
      return;
    }
    shorten();
    std::size_t const old = width_;
    width_ = line_.size();
    emit('\r' + line_ + std::string(old > width_ ? old - width_ : 0, ' '));
  }

  // A line that wraps could not be rewritten.
  void shorten() {
    winsize size{};
    if (::ioctl(options_.fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return;
    std::size_t cut = size.ws_col - 1u;
    if (line_.size() <= cut) return;
    while (cut > 0 && (static_cast<unsigned char>(line_[cut]) & 0xC0u) == 0x80u) --cut;
    line_.resize(cut);
  }

  void emit(std::string_view text) {
    while (!text.empty()) {
      ssize_t const put = ::write(options_.fd, text.data(), text.size());
      if (put <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(put));
    }
  }

  progress_options options_;
  std::int64_t total_;
  std::int64_t first_;
  clock::time_point begin_;
  bool live_ = false;
  std::optional<clock::time_point> shown_;
  std::optional<held> pending_;
  std::string line_;
  std::size_t width_ = 0;  // bytes the live line takes up
};

}  // namespace tx::io
