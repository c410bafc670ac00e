#include <tx/io/standard_streams.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>

#include "temp_folder.hpp"

namespace {

// What a process of its own says, after `begin` has been done to its descriptors. It says so by its exit code: a program
// with its standard error closed can say it no other way.
template <class Work>
int exit_code(Work work) {
  std::fflush(nullptr);
  pid_t const child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

}  // namespace

TEST_CASE("no file gets the number of a standard descriptor that was closed") {
  for (int closed = 0; closed < 8; ++closed) {
    INFO("closed: " << closed);
    CHECK(exit_code([&] {
            for (int fd = 0; fd < 3; ++fd)
              if ((closed >> fd) % 2 == 1) ::close(fd);
            tx::io::open_standard_streams();
            int const next = ::open("/dev/null", O_RDONLY);
            return next > 2 ? 42 : next;
          }) == 42);
  }
}

TEST_CASE("standard error that was closed takes anything, standard output and input nothing") {
  CHECK(exit_code([] {
          for (int fd = 0; fd < 3; ++fd) ::close(fd);
          tx::io::open_standard_streams();
          char c = 'x';
          if (::write(2, &c, 1) != 1) return 1;
          if (::write(1, &c, 1) >= 0 || errno != EBADF) return 2;
          if (::read(0, &c, 1) >= 0 || errno != EBADF) return 3;
          try {
            tx::io::print("text");
            return 4;
          } catch (tx::io_error const& e) {
            return std::string(e.what()) == "cannot write to standard output: Bad file descriptor" ? 42 : 5;
          }
        }) == 42);
}

TEST_CASE("descriptors that are open stay what they are") {
  temp_folder folder;
  CHECK(exit_code([&] {
          int const file = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
          ::dup2(file, 1);
          tx::io::open_standard_streams();
          tx::io::print("one ");
          tx::io::print("two\n");
          return 42;
        }) == 42);
  CHECK(tx::io::read_text(folder / "out") == "one two\n");
}
