#include "processes.hpp"

#include <tx/io/crc64.hpp>
#include <tx/train/loop/options.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace command_line {
namespace {

// While it lives nothing that the process says is seen.
class silence {
 public:
  explicit silence(bool wanted) {
    if (!wanted) return;
    int const nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    for (int const stream : {STDOUT_FILENO, STDERR_FILENO}) {
      std::fflush(stream == STDOUT_FILENO ? stdout : stderr);
      said_[stream - STDOUT_FILENO] = ::fcntl(stream, F_DUPFD_CLOEXEC, 3);
      ::dup2(nowhere, stream);
    }
    ::close(nowhere);
  }
  silence(silence const&) = delete;
  silence& operator=(silence const&) = delete;
  ~silence() {
    for (int const stream : {STDOUT_FILENO, STDERR_FILENO}) {
      int const before = said_[stream - STDOUT_FILENO];
      if (before < 0) continue;
      std::fflush(stream == STDOUT_FILENO ? stdout : stderr);
      ::dup2(before, stream);
      ::close(before);
    }
  }

 private:
  int said_[2] = {-1, -1};
};

}  // namespace

processes::processes(int of_batch) : processes(tx::dist::launched(), of_batch) {}

processes& processes::now() {
  static processes alone{tx::dist::place{}, 1};
  return running_ != nullptr ? *running_ : alone;
}

int processes::threads(int asked) const {
  if (asked > 0 || !several()) return asked;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / std::max(1, where_.local_size));
}

double processes::from_first(double value) {
  all_.broadcast(std::span(&value, 1), 0);
  return value;
}

double processes::sum(double value) {
  if (several()) all_.all_reduce(std::span<double const>(&value, 1), std::span(&value, 1));
  return value / of_batch_;
}

void processes::check_same(std::map<std::string, std::string> const& values) {
  for (auto const& [name, value] : values) {
    std::vector<double> own, of_first;
    tx::io::crc64 sum;
    sum.add(std::string_view(value));
    own = of_first = {static_cast<double>(sum.value() & 0xffffffff), static_cast<double>(sum.value() >> 32)};
    all_.broadcast(std::span(of_first), 0);
    if (own != of_first) throw tx::value_error(name + " is another than the first process has. FIX: the same options and files for all");
  }
}

std::pair<std::size_t, std::size_t> processes::part(std::size_t items) const {
  auto const of = static_cast<std::size_t>(count()), own = static_cast<std::size_t>(number());
  return {items * own / of, items * (own + 1) / of};
}

template <class T>
std::vector<T> processes::gathered_elements(std::span<T const> own) {
  if (!several()) return {own.begin(), own.end()};
  std::vector<double> counts(static_cast<std::size_t>(count()));
  double const here = static_cast<double>(own.size());
  all_.all_gather(std::span(&here, 1), std::span(counts));
  std::vector<T> out;
  if (!first() && !own.empty()) all_.send(own, 0);
  for (int r = 0; first() && r < count(); ++r) {
    std::vector<T> theirs(static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]));
    if (r == 0) theirs.assign(own.begin(), own.end());
    else if (!theirs.empty()) all_.receive(std::span(theirs), r);
    out.insert(out.end(), theirs.begin(), theirs.end());
  }
  return out;
}
std::string processes::gathered(std::string const& own) {
  auto const all = gathered_elements(std::span(own.data(), own.size()));
  return {all.begin(), all.end()};
}
std::vector<float> processes::gathered(std::vector<float> const& own) { return gathered_elements(std::span(own)); }

std::string processes::communication_in(double seconds) const {
  if (!several() || seconds <= 0) return "";
  char text[60];
  std::snprintf(text, sizeof text, ", %.1f%% of it in communication", 100 * (all_.seconds() - before_) / seconds);
  return text;
}

void processes::share(tx::train::loop_options& o, std::function<void()> helps) {
  o.common["the number of processes"] = std::to_string(count());
  if (!several()) return;
  check_same(o.common);
  before_ = all_.seconds();
  o.agreed = [this](int signal) { return agreed(signal); };
  if (o.validate) o.validate = [this, measured = o.validate, all = helps != nullptr] { return from_first(first() || all ? measured() : 0); };
  if (first()) return;
  o.checkpoints.reads_only = true;
  o.report = {.line = false};
  o.improved = std::move(helps);
}

int processes::agreed(int signal) { return static_cast<int>(from_first(signal)); }

void processes::together(std::function<void()> const& run) {
  silence const while_running(!first());
  struct as_running {
    processes* const before = running_;
    explicit as_running(processes* now) { running_ = now; }
    ~as_running() { running_ = before; }
  } const here(this);
  try {
    run();
  } catch (tx::train::stopped const& s) {
    // All have stopped after one step, once the first has saved: before that none ends, or a launcher would end the first too.
    if (several()) {
      all_.barrier();
      connections_.leave();
    }
    if (!first()) throw tx::train::stopped(s.signal, s.step, "");
    throw;
  } catch (tx::dist::rank_error const&) {
    throw;
  } catch (std::exception const& e) {
    if (several()) connections_.fail(std::string("failed: ") + e.what());
    throw;
  }
}

}  // namespace command_line
