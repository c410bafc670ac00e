// Starts a program several times, as torchrun does, each told its rank.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

// What the first of them returns that does not return 0.
inline int in_processes(char const* program, int ranks) {
  std::string const job = std::to_string(::getpid());
  for (int r = 0; r < ranks; ++r) {
    if (::fork() != 0) continue;
    for (auto const& [name, value] : {std::pair{"RANK", r}, {"WORLD_SIZE", ranks}, {"LOCAL_RANK", r}, {"LOCAL_WORLD_SIZE", ranks}}) ::setenv(name, std::to_string(value).c_str(), 1);
    ::setenv("TORCHELASTIC_RUN_ID", job.c_str(), 1);  // from which a port is drawn
    ::execl(program, program, nullptr);
    std::_Exit(127);
  }
  int first = 0;
  for (int r = 0; r < ranks; ++r) {
    int status = 0;
    ::wait(&status);
    int const code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (first == 0) first = code;
  }
  return first;
}
