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

  // A command that learns into "cut" on some processes, of which all are stopped or one is killed at drawn moments, until each has happened so often; then it goes on
  // to its end.
  struct interruptions {
    int stops, kills, save_every, turns;
    std::size_t milliseconds;  // that it is left alone, at most
    int processes = 2;
  };
  void interrupted(std::string const& command, interruptions const& wanted) {
    auto const onwards = [&] {
      if (!some_saved("cut")) std::filesystem::remove_all(this->path / "cut");  // a run that has ended leaves no state, and is begun anew
      return start(wanted.processes, command + "--out @cut --save-every " + std::to_string(wanted.save_every) + (some_saved("cut") ? " --resume" : ""));
    };
    int stops = 0, kills = 0;
    for (int turn = 0; (stops < wanted.stops || kills < wanted.kills) && turn < wanted.turns; ++turn) {
      auto const all = onwards();
      while (!ended(all[0]) && error(0).find("for validation") == std::string::npos) ::usleep(1000);  // both are there
      for (std::size_t wait = this->draw(wanted.milliseconds); wait > 0 && !ended(all[0]); --wait) ::usleep(1000);
      bool const kill = turn % 2 == 1;
      ::kill(kill ? all[this->draw(static_cast<std::size_t>(wanted.processes))] : all[0], kill ? SIGKILL : SIGTERM);  // the first says when all stop
      auto const ends = codes(all);
      CAPTURE(turn, ends, error(0), error(1));
      stops += std::ranges::count(ends, 128 + SIGTERM) == wanted.processes;
      kills += std::ranges::count(ends, -SIGKILL) == 1 && std::ranges::count(ends, 1) == wanted.processes - 1;
      for (int const code : ends) CHECK((code == 128 + SIGTERM || code == -SIGTERM || code == -SIGKILL || code == 1 || code == 0));
    }
    CHECK(stops >= wanted.stops);
    CHECK(kills >= wanted.kills);
    REQUIRE(codes(onwards()) == std::vector<int>(static_cast<std::size_t>(wanted.processes), 0));
  }

  bool some_saved(std::string const& name) const {
    std::error_code none;
    for (std::filesystem::directory_iterator at(this->path / name / "checkpoints", none), end; !none && at != end; at.increment(none))
      if (at->path().filename().string().starts_with("checkpoint-")) return true;
    return false;
  }
  std::string model(std::string const& name) const { return this->read(name + "/model.safetensors"); }
};
