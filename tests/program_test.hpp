// Runs a program of examples/ as from a shell, in a folder of its own.
#pragma once

#include "io/temp_folder.hpp"

#include <tx/io/files.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <vector>

inline bool ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

// How a process ended: its exit code, or minus the signal that killed it.
inline int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

struct ran {
  int code;
  std::string out, error;

  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream in(out);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
};

class program_test : public temp_folder {
 public:
  using program = int (*)(std::span<std::string const> arguments);
  explicit program_test(program p) : run_(p) {}

  std::string at(std::string const& name) const { return (path / name).string(); }
  void write(std::string const& name, std::string const& text) const { tx::io::write_file_atomic(at(name), text); }
  std::string read(std::string const& name) const { return tx::io::read_text(at(name)); }

  // Words separated by spaces; `@name` stands for a path in the folder.
  ran operator()(std::string const& command) const {
    redirected out(stdout, at(".out")), error(stderr, at(".err"));
    int const code = run_(words(command));
    out.end();
    error.end();
    return {code, read(".out"), read(".err")};
  }
  // In a process of its own, once `before` has done there what a shell does, with one thread: it inherits no others.
  // Returns the exit code; standard error goes to a file.
  template <class Before>
  int alone(std::string const& command, Before before) const {
    pid_t const child = started(command, ".err", before);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
  }

  // The same, which the caller waits for; `errors` is the file that standard error goes to.
  template <class Before>
  pid_t started(std::string const& command, std::string const& errors, Before before) const {
    std::fflush(nullptr);
    pid_t const child = ::fork();
    if (child == 0) {
      tx::io::file_handle const error(at(errors), O_WRONLY | O_CREAT | O_TRUNC, "write");
      ::dup2(error.get(), 2);
      before();
      ::_exit(run_(words(command + " --threads 1")));
    }
    REQUIRE(child > 0);
    return child;
  }

  // The program in a process of its own, with one thread: it inherits no others. It gets the signal once `ready` says
  // so, and a random part of two milliseconds later; or it ends before.
  template <class Ready>
  int signalled(std::string const& command, int signal, Ready ready) {
    std::fflush(nullptr);
    sigset_t all, before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    pid_t const child = ::fork();
    if (child == 0) {
      for (int const s : {SIGINT, SIGTERM}) std::signal(s, SIG_DFL);  // not the test framework's
      ::sigprocmask(SIG_SETMASK, &before, nullptr);
      ::_exit((*this)(command + " --threads 1").code);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    REQUIRE(child >= 0);
    while (!ended(child) && !ready()) ::usleep(500);
    ::usleep(static_cast<useconds_t>(draw(2000)));
    ::kill(child, signal);
    return wait_for(child);
  }
  std::size_t draw(std::size_t below) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return (random_ >> 33) % below;
  }

 protected:
  std::vector<std::string> words(std::string const& command) const {
    std::vector<std::string> all;
    std::istringstream in(command);
    for (std::string word; in >> word;) all.push_back(word[0] == '@' ? at(word.substr(1)) : word);
    return all;
  }

 private:
  // Sends a stream to a file until end().
  class redirected {
   public:
    redirected(std::FILE* stream, std::string const& path) : stream_(stream), saved_(::dup(::fileno(stream))) {
      std::fflush(stream);
      tx::io::file_handle const file(path, O_WRONLY | O_CREAT | O_TRUNC, "write");
      ::dup2(file.get(), ::fileno(stream));
    }
    ~redirected() { end(); }
    void end() {
      if (saved_ < 0) return;
      std::fflush(stream_);
      ::dup2(saved_, ::fileno(stream_));
      ::close(std::exchange(saved_, -1));
    }

   private:
    std::FILE* stream_;
    int saved_;
  };

  program run_;
  std::uint64_t random_ = 3;
};
