// Collectives between AMD's devices, a process for each: see device_ranks.hpp. For programs that link RCCL.
#pragma once

#include <tx/dist/device/device_ranks.hpp>

#include <rccl/rccl.h>

#include <tx/dist/device/nccl_calls.hpp>

namespace tx::dist {

template <class Backend, communicator Host>
using rccl = device_ranks<Backend, nccl_calls<typename Backend::device>, Host>;

}  // namespace tx::dist
