// Instantiates every program of the trainer: one file, so that they share their kernels. Compiled for each kind of device.
#include "engine_on.hpp"

#include <tx/backends/chosen.hpp>

namespace twinbert {
namespace {

constexpr command_line::engine_name name[] = {{tx::chosen_device, false}};
command_line::maker<engine, bool> const trains{
    name, [](engine_options const& o, bool layers) -> std::unique_ptr<engine> { return std::make_unique<detail::engine_on<tx::chosen_backend>>(o, layers); }};

}  // namespace
}  // namespace twinbert
