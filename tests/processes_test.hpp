// Runs a program of examples/ as several processes that a launcher started, in a folder of their own.
#pragma once

#include "net/group.hpp"
#include "program_test.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>

// Base: a program_test.
template <class Base>
struct processes_of : Base {
  // `of_last`: what the last one is given beside the others' command
  std::vector<pid_t> start(int count, std::string const& command, std::string const& of_last = "") const {
    std::string const port = std::to_string(net::free_port());
    std::vector<pid_t> all;
    for (int r = 0; r < count; ++r) {
      this->write("errors" + std::to_string(r), "");
      this->write("out" + std::to_string(r), "");
    }
    for (int r = 0; r < count; ++r)
      all.push_back(this->started(command + (r + 1 == count ? of_last : ""), "errors" + std::to_string(r), [&] {
        tx::io::file_handle const out(this->at("out" + std::to_string(r)), O_WRONLY | O_CREAT | O_TRUNC, "write");
        ::dup2(out.get(), 1);
        ::setenv("RANK", std::to_string(r).c_str(), 1);
        ::setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
        ::setenv("MASTER_PORT", port.c_str(), 1);
        for (int const s : {SIGINT, SIGTERM}) std::signal(s, SIG_DFL);  // not the test framework's
      }));
    return all;
  }
  std::vector<int> codes(std::vector<pid_t> const& all) const {
    std::vector<int> out;
    for (pid_t const p : all) out.push_back(wait_for(p));
    return out;
  }
  std::vector<int> run(int count, std::string const& command) const { return codes(start(count, command)); }
  std::string error(int rank) const { return this->read("errors" + std::to_string(rank)); }
  std::string out(int rank) const { return this->read("out" + std::to_string(rank)); }

  bool some_saved(std::string const& name) const {
    std::error_code none;
    for (std::filesystem::directory_iterator at(this->path / name / "checkpoints", none), end; !none && at != end; at.increment(none))
      if (at->path().filename().string().starts_with("checkpoint-")) return true;
    return false;
  }
  std::string model(std::string const& name) const { return this->read(name + "/model.safetensors"); }
};
