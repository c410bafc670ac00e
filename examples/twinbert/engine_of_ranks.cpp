// The programs of the trainer where several processes train one model, each with a batch of its own.
#include "../command_line/processes.hpp"
#include "engine_on.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>

namespace twinbert {

std::unique_ptr<engine> make_engine_of_ranks(engine_options const& options, command_line::processes& ranks) {
  using backend = tx::distributed<tx::cpu, command_line::processes::communicator>;
  return std::make_unique<detail::engine_on<backend, tx::data_parallel<>>>(options, ranks.all());
}

}  // namespace twinbert
