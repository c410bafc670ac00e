// A file of algorithms that were measured, a line for each shape of a product on each machine: what the machine is, the shape, the algorithm's bytes, microseconds and
// a checksum of all that. Processes may share it, at the same time too: who does not find a shape measures it while the others wait, so all that can measure have the same
// algorithms. Lines of other machines are left alone, and so are lines that are damaged: their shapes are measured again.
#pragma once

#include <tx/core/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tx::backends::device {

// As the library hands one out, which may be kept and used again with the same version of it on the same kind of device.
using algorithm_bytes = std::array<unsigned char, 64>;

class kept_algorithms {
 public:
  struct measured {
    algorithm_bytes bytes;
    double seconds;
  };
  static constexpr std::string_view header = "tx: algorithms of products, measured; version 1\n";

  // `machine`: the device and the library, in words. A file that may not be written, or can not be any more, is only read.
  kept_algorithms(std::string file, std::string machine) : file_(std::move(file)), machine_(std::move(machine)) {
    opened_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (opened_ < 0 && (errno == EACCES || errno == EROFS || errno == EPERM)) {
      opened_ = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
      only_read_ = true;
    }
    if (opened_ < 0) fail("cannot be opened");
    try {
      lock const alone(opened_);
      read_on();
    } catch (...) {
      ::close(opened_);
      throw;
    }
  }
  kept_algorithms(kept_algorithms const&) = delete;
  kept_algorithms& operator=(kept_algorithms const&) = delete;
  ~kept_algorithms() { ::close(opened_); }

  // What was read for a shape so far, and accepts(bytes).
  template <class Accepts>
  std::optional<algorithm_bytes> kept(std::string const& shape, Accepts const& accepts) const {
    auto const lines = known_.find(shape);
    if (lines == known_.end()) return std::nullopt;
    for (algorithm_bytes const& bytes : lines->second)
      if (accepts(bytes)) return bytes;
    return std::nullopt;
  }
  // That, or what measure() finds, if it finds one, which is kept then. measure() must not wait for other processes.
  template <class Accepts, class Measure>
  std::optional<algorithm_bytes> of(std::string const& shape, Accepts const& accepts, Measure const& measure) {
    if (auto const found = kept(shape, accepts)) return found;
    if (only_read_) return std::nullopt;
    lock const alone(opened_);
    read_on();  // what others have measured meanwhile
    if (auto const found = kept(shape, accepts)) return found;
    std::optional<measured> const now = measure();
    if (!now) return std::nullopt;
    keep(shape, *now);
    return now->bytes;
  }

  int damaged() const { return damaged_; }  // lines that were passed over

 private:
  // Of all processes that have the file open. Where its file system knows no locks, lines are still written whole.
  struct lock {
    explicit lock(int file) : of(file) {
      while (::flock(of, LOCK_EX) != 0 && errno == EINTR) {}
    }
    lock(lock const&) = delete;
    lock& operator=(lock const&) = delete;
    ~lock() { ::flock(of, LOCK_UN); }
    int of;
  };

  [[noreturn]] void fail(char const* what) const { throw io_error("TX_CUDA_ALGORITHMS: " + file_ + " " + what + ": " + std::strerror(errno) + ". FIX: name a file that can be read and written"); }

  // Lines from where reading has ended; one that has no end yet is read when it has.
  void read_on() {
    struct stat now{};
    if (::fstat(opened_, &now) == 0 && static_cast<std::size_t>(now.st_size) < read_to_) read_to_ = 0;  // somebody has cut it
    std::string text;
    char some[1 << 14];
    for (;;) {
      ssize_t const count = ::pread(opened_, some, sizeof some, static_cast<off_t>(read_to_) + static_cast<off_t>(text.size()));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("cannot be read");
      if (count == 0) break;
      text.append(some, static_cast<std::size_t>(count));
      if (read_to_ == 0 && text.size() >= header.size() && !text.starts_with(header)) refuse();
    }
    if (read_to_ == 0 && text.size() < header.size() && header.starts_with(text)) {  // nothing, or what a full disk has left of the first line
      if (!text.empty() && !only_read_) only_read_ = ::ftruncate(opened_, 0) != 0;
      return;
    }
    if (read_to_ == 0 && !text.starts_with(header)) refuse();
    std::size_t at = read_to_ == 0 ? header.size() : 0;
    for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) take(std::string_view(text).substr(at, end - at));
    read_to_ += at;
    ends_within_line_ = at < text.size();
  }
  [[noreturn]] void refuse() const {
    throw format_error("TX_CUDA_ALGORITHMS: " + file_ + " is no file of algorithms. FIX: name one that tx has written, or one that is not there, which it will write");
  }

  void take(std::string_view line) {
    std::vector<std::string_view> fields;
    for (std::size_t begin = 0;;) {
      std::size_t const end = line.find('\t', begin);
      fields.push_back(line.substr(begin, end == std::string_view::npos ? end : end - begin));
      if (end == std::string_view::npos) break;
      begin = end + 1;
    }
    algorithm_bytes bytes{};
    bool const whole = fields.size() == 5 && fields[4] == checksum(line.substr(0, line.size() - fields[4].size())) && from_hex(fields[2], bytes);
    if (!whole) ++damaged_;
    else if (fields[0] == machine_) known_[std::string(fields[1])].push_back(bytes);
  }

  void keep(std::string const& shape, measured const& m) {
    char took[32];
    std::snprintf(took, sizeof took, "%.2f", 1e6 * m.seconds);
    std::string line = machine_ + "\t" + shape + "\t" + to_hex(m.bytes) + "\t" + took + "\t";
    line += checksum(line);
    line += "\n";
    std::string const text = std::string(read_to_ == 0 ? header : ends_within_line_ ? std::string_view("\n") : std::string_view()) + line;
    for (std::size_t done = 0; done < text.size();) {  // at once, but on a full disk
      ssize_t const count = ::write(opened_, text.data() + done, text.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {  // what was measured serves this process all the same
        only_read_ = true;
        return;
      }
      done += static_cast<std::size_t>(count);
    }
  }  // and is read like those of others

  // FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv).
  static std::string checksum(std::string_view text) {
    std::uint64_t sum = 0xcbf29ce484222325u;
    for (char const c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(sum));
    return hex;
  }
  static constexpr std::string_view digits = "0123456789abcdef";
  static std::string to_hex(algorithm_bytes const& bytes) {
    std::string s;
    for (unsigned const b : bytes) (s += digits[b >> 4]) += digits[b & 15u];
    return s;
  }
  static bool from_hex(std::string_view text, algorithm_bytes& to) {
    if (text.size() != 2 * to.size()) return false;
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::size_t const high = digits.find(text[2 * i]), low = digits.find(text[2 * i + 1]);
      if (high == std::string_view::npos || low == std::string_view::npos) return false;
      to[i] = static_cast<unsigned char>(high << 4 | low);
    }
    return true;
  }

  std::string file_, machine_;
  int opened_ = -1;
  bool only_read_ = false, ends_within_line_ = false;
  std::size_t read_to_ = 0;
  int damaged_ = 0;
  std::map<std::string, std::vector<algorithm_bytes>> known_;
};

}  // namespace tx::backends::device
