// The programs of the trainer where several processes train one model, each with a batch of its own. Compiled for each kind of device.
#include "engine_on.hpp"

#include <tx/dist/data_parallel.hpp>

namespace twinbert {
namespace {

class engine_of_ranks final : command_line::process_ranks, public detail::engine_on<command_line::backend, tx::data_parallel<>> {
 public:
  engine_of_ranks(engine_options const& o, bool layers) : engine_on(o, layers, process_ranks::all()) {}
};

command_line::maker<engine, bool> const together{command_line::name_of_ranks, [](engine_options const& o, bool layers) -> std::unique_ptr<engine> { return std::make_unique<engine_of_ranks>(o, layers); }};

}  // namespace
}  // namespace twinbert
