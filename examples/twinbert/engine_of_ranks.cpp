// The programs of the trainer where several processes train one model, each with a batch of its own.
#include "engine_on.hpp"

#include <tx/dist/data_parallel.hpp>

namespace twinbert {
namespace {

command_line::maker<engine, bool, command_line::processes&> const together{
    "cpu", [](engine_options const& o, bool layers, command_line::processes& ranks) -> std::unique_ptr<engine> {
      return std::make_unique<detail::engine_on<command_line::backend, tx::data_parallel<>>>(o, layers, ranks.all());
    }};

}  // namespace
}  // namespace twinbert
