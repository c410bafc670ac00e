// Runs the program as from a shell, and makes what it needs.
#pragma once

#include "../../examples/twinbert/commands.hpp"
#include "../io/temp_folder.hpp"

#include <tx/io/files.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

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

class twinbert_test : public temp_folder {
 public:
  twinbert_test() {
    // Pairs that share a word of their own among common ones.
    std::string text;
    for (int i = 0; i < 64; ++i) text += sentence(i, 4) + '\t' + sentence(i, 9 + i % 12) + '\n';
    write("pairs.tsv", text);
    text.clear();
    for (int i = 0; i < 32; ++i) {
      text += sentence(i, 4) + '\t' + sentence(i, 9) + "\t1\n";
      text += sentence(i, 4) + '\t' + sentence((i * 5 + 3) % 32 == i ? i + 1 : (i * 5 + 3) % 32, 9) + "\t0\n";
    }
    write("labelled.tsv", text);
  }

  std::string at(std::string const& name) const { return (path / name).string(); }
  void write(std::string const& name, std::string const& text) const { tx::io::write_file_atomic(at(name), text); }
  std::string read(std::string const& name) const { return tx::io::read_text(at(name)); }

  // Words separated by spaces; `@name` stands for a path in the folder.
  ran operator()(std::string const& command) const {
    redirected out(stdout, at(".out")), error(stderr, at(".err"));
    int const code = twinbert::run_program(words(command));
    out.end();
    error.end();
    return {code, read(".out"), read(".err")};
  }
  // In a process of its own, once `before` has done there what a shell does, with one thread: it inherits no others.
  // Returns the exit code; standard error goes to a file.
  template <class Before>
  int alone(std::string const& command, Before before) const {
    std::fflush(nullptr);
    pid_t const child = ::fork();
    if (child == 0) {
      tx::io::file_handle const error(at(".err"), O_WRONLY | O_CREAT | O_TRUNC, "write");
      ::dup2(error.get(), 2);
      before();
      ::_exit(twinbert::run_program(words(command + " --threads 1")));
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
  }
  ran trained(std::string const& options = "") const {
    return (*this)("train --pairs @pairs.tsv --out @model --threads 2 --vocabulary 300 " + options);
  }

 private:
  std::vector<std::string> words(std::string const& command) const {
    std::vector<std::string> all;
    std::istringstream in(command);
    for (std::string word; in >> word;) all.push_back(word[0] == '@' ? at(word.substr(1)) : word);
    return all;
  }
  static std::string sentence(int i, int words) {
    std::string out = "alpha" + std::to_string(i);
    for (int w = 1; w < words; ++w) out += " word" + std::to_string((i * 7 + w * 3) % 20);
    return out;
  }

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
};
