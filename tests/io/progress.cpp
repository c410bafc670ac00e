#include <tx/io/progress.hpp>

#include <catch2/catch.hpp>

#include <fcntl.h>

#include <tx/io/files.hpp>

#include "temp_folder.hpp"

using namespace std::chrono_literals;
using tx::io::progress;
using tx::io::progress_options;

namespace {

struct screen {
  temp_folder folder;
  int fd = ::open((folder / "out").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  progress_options::clock::time_point time{};

  ~screen() { ::close(fd); }
  progress_options options(bool live) {
    progress_options o;
    o.fd = fd;
    o.live = live;
    o.now = [this] { return time; };
    return o;
  }
  std::string text() const { return tx::io::read_text(folder / "out"); }
};

}  // namespace

TEST_CASE("numbers and times are short") {
  using tx::io::format_number;
  CHECK(format_number(0) == "0");
  CHECK(format_number(0.123456) == "0.1235");
  CHECK(format_number(1e-5) == "1e-05");
  CHECK(format_number(9999) == "9999");
  CHECK(format_number(9999.9) == "10k");
  CHECK(format_number(12345) == "12.35k");
  CHECK(format_number(-1.5e6) == "-1.5M");
  CHECK(format_number(999'960'000) == "1G");
  CHECK(format_number(1e15) == "1e+15");
  CHECK(format_number(std::nan("")) == "nan");
  using tx::io::format_duration;
  CHECK(format_duration(0s) == "0:00:00");
  CHECK(format_duration(3661s) == "1:01:01");
  CHECK(format_duration(90061s) == "1d 1:01:01");
  CHECK(format_duration(-5s) == "0:00:00");
}

TEST_CASE("off a terminal there is a plain line now and then") {
  screen s;
  {
    progress p(100, 0, s.options(false));
    for (int i = 1; i <= 25; ++i) {
      s.time += 1s;
      p.update(i, {{"loss", 0.5}, {"phase", "train"}});
    }
  }
  CHECK(s.text() ==
        "step 1/100  loss 0.5  phase train  left 0:01:39\n"
        "step 11/100  loss 0.5  phase train  left 0:01:29\n"
        "step 21/100  loss 0.5  phase train  left 0:01:19\n"
        "step 25/100  loss 0.5  phase train  left 0:01:15\n");
}

TEST_CASE("on a terminal one line is rewritten, at most ten times a second") {
  screen s;
  progress p(10, 0, s.options(true));
  p.update(1, {{"loss", "a long value"}});
  s.time += 50ms;
  CHECK_FALSE(p.due());
  p.update(2, {{"loss", 2}});
  CHECK(s.text() == "\rstep 1/10  loss a long value  left 0:00:00");
  s.time += 50ms;
  CHECK(p.due());
  p.update(10, {{"loss", 3}});
  p.finish();
  p.finish();
  std::string const first = "step 1/10  loss a long value  left 0:00:00";
  std::string const last = "step 10/10  loss 3";
  CHECK(s.text() == '\r' + first + '\r' + last + std::string(first.size() - last.size(), ' ') + '\n');
}

TEST_CASE("the last state is shown even if it came too early") {
  screen s;
  {
    progress p(2, 0, s.options(true));
    p.update(1, {});
    p.update(2, {});
  }
  CHECK(s.text() == "\rstep 1/2  left 0:00:00\rstep 2/2" + std::string(14, ' ') + "\n");
}

TEST_CASE("a resumed run does not count the steps before it") {
  screen s;
  progress p(100, 90, s.options(false));
  s.time += 10s;
  p.update(95, {});
  CHECK(s.text() == "step 95/100  left 0:00:10\n");
}

TEST_CASE("a note stands on its own line") {
  screen s;
  progress p(2, 0, s.options(true));
  p.update(2, {});
  p.note("saved");
  CHECK(s.text() == "\rstep 2/2\r        \rsaved\nstep 2/2");
}

TEST_CASE("nothing is thrown when the output is gone") {
  screen s;
  auto options = s.options(true);
  options.fd = -1;
  progress p(2, 0, options);
  CHECK_NOTHROW(p.update(1, {{"loss", 1}}));
  CHECK_NOTHROW(p.finish());
}
