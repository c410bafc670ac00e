// Which rank a process is: what a launcher told it.
//
//   RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT          as torchrun has them
//   mpirun (Open MPI, MPICH's hydra)                                its own variables
//   srun                                                            SLURM's
//
// A process that nobody launched as one of several is rank 0 of 1. Where ranks meet is MASTER_ADDR and MASTER_PORT; without these 127.0.0.1, if all ranks are
// on this machine, and a port drawn from the job's name.
#pragma once

#include <tx/core/error.hpp>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace tx::dist {

struct place {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  // among those on this machine
  std::string address = "127.0.0.1";  // rank 0's
  int port = 29'500;
};

namespace detail {

inline std::string_view variable(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

inline std::optional<int> number_in(char const* name) {
  std::string_view const text = variable(name);
  if (text.empty()) return std::nullopt;
  int value = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0)
    throw value_error("launch: " + std::string(name) + " is '" + std::string(text) + "'. FIX: a number from 0 on, as launchers set it");
  return value;
}

// What a launcher calls the rank, how many there are, the rank on this machine, how many are on it, and the job; and what it sets for those that it starts alone.
struct launcher {
  char const *rank, *size, *local_rank, *local_size, *job, *started;
};
inline constexpr launcher launchers[] = {{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID", "RANK"},
                                         {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_RANK"},
                                         {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_JOBID", "PMI_RANK"},
                                         {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", "SLURM_JOB_ID", "SLURM_STEP_ID"}};  // a batch script has the other variables too

// FNV-1a, to a port that neither systems nor their users' programs begin with.
inline int port_of(std::string_view job) {
  std::uint32_t sum = 2'166'136'261u;
  for (char const c : job) sum = (sum ^ static_cast<unsigned char>(c)) * 16'777'619u;
  return 20'000 + static_cast<int>(sum % 10'000);
}

}  // namespace detail

// Throws value_error for variables that contradict each other, and where ranks are on several machines and nobody says which is rank 0's.
inline place launched() {
  using detail::number_in, detail::variable;
  place out;
  for (detail::launcher const& l : detail::launchers) {
    auto const rank = number_in(l.rank), size = number_in(l.size);
    if (!rank || !size || variable(l.started).empty()) continue;
    if (*rank >= *size) throw value_error("launch: " + std::string(l.rank) + " is " + std::to_string(*rank) + " of " + std::to_string(*size) + " ranks. FIX: ranks are counted from 0");
    out.rank = *rank, out.size = *size;
    out.local_rank = number_in(l.local_rank).value_or(0);
    std::string_view const address = variable("MASTER_ADDR");
    auto const here = number_in(l.local_size);
    out.local_size = here.value_or(address.empty() ? out.size : 1);
    bool const of_slurm = l.started == std::string_view("SLURM_STEP_ID");
    if (!address.empty()) out.address = address;
    else if (of_slurm && number_in("SLURM_STEP_NUM_NODES").value_or(1) > 1)
      throw value_error("launch: ranks are on " + std::string(variable("SLURM_STEP_NUM_NODES")) + " machines. FIX: MASTER_ADDR=ADDRESS of rank 0's, and MASTER_PORT=PORT");
    else if (out.size > 1 && here && *here < out.size)
      throw value_error("launch: " + std::to_string(*here) + " of " + std::to_string(out.size) + " ranks are on this machine. FIX: MASTER_ADDR=ADDRESS of rank 0's, and MASTER_PORT=PORT");
    if (auto const port = number_in("MASTER_PORT")) out.port = *port;
    else if (!variable(l.job).empty()) out.port = detail::port_of(variable(l.job));
    if (out.port < 1 || out.port > 65'535) throw value_error("launch: MASTER_PORT is " + std::to_string(out.port) + ". FIX: a port from 1 to 65535");
    return out;
  }
  return out;
}

}  // namespace tx::dist
