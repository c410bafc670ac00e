// Instantiates every program of the trainer: one file, so that they share their kernels. Compiled for each kind of device.
#include "engine_on.hpp"

#include <tx/backends/chosen.hpp>

namespace twinbert {

std::unique_ptr<engine> TX_ON_CHOSEN(make_engine)(engine_options const& options) { return std::make_unique<detail::engine_on<tx::chosen_backend>>(options); }

}  // namespace twinbert
