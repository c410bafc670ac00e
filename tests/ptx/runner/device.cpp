#include "device.hpp"

#include "fault.hpp"
#include "parse.hpp"

namespace ptx {

loaded const& device::load(std::string_view text) {
  loaded& m = modules_.emplace_back(loaded{parse(text), {}});
  for (auto const& [name, v] : m.code.variables) {
    std::byte* const at = memory.allocate(v.bytes.size());
    std::memcpy(at, v.bytes.data(), v.bytes.size());
    memory.written(at, v.bytes.size(), time.now());
    m.variables[name] = at;
  }
  return m;
}

void device::launch(loaded const& m, kernel const& k, dim3 grid, dim3 threads, int dynamic_shared,
                    void const* const* arguments, int without, pace* paced) {
  if (threads.count() == 0 || static_cast<int>(threads.count()) > k.most_threads)
    throw fault(k.name, "it is for blocks of up to " + std::to_string(k.most_threads) + " threads, not of " +
                            std::to_string(threads.count()));
  if (k.required_threads != 0 && static_cast<int>(threads.count()) != k.required_threads)
    throw fault(k.name, "it is for blocks of " + std::to_string(k.required_threads) + " threads, not of " +
                            std::to_string(threads.count()));
  if (grid.count() == 0) throw fault(k.name, "a launch without blocks");
  if (grid.y > 65535 || grid.z > 65535 || threads.z > 64)
    throw fault(k.name, "a launch of more along an axis than a device takes");
  if (grid.count() >= record::most_blocks)
    throw fault(k.name, "more blocks than the runner tells apart: " + std::to_string(grid.count()));
  int const most_shared = m.code.target == "sm_80" ? 163 << 10 : 227 << 10;
  if (k.shared_bytes + dynamic_shared > most_shared)
    throw fault(k.name,
                "a block asks for " + std::to_string(k.shared_bytes + dynamic_shared) + " bytes of shared memory");
  std::vector<std::byte> parameters(static_cast<std::size_t>(k.parameter_bytes() + 16));
  for (std::size_t p = 0; p < k.parameters.size(); ++p)
    std::memcpy(parameters.data() + k.parameters[p].at, arguments[p], static_cast<std::size_t>(k.parameters[p].bytes));
  ptx::launch how{&k,  &m.code,     &m.variables, grid, threads, dynamic_shared, parameters.data(),
                  in_, time.tick(), paced, without};
  if (paced != nullptr) paced->begin_launch();
  for (unsigned n = 0; n < grid.count(); ++n) {
    unsigned const at = in_ == order::forwards ? n : grid.count() - 1 - n;
    block_.run(how, {at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y}, at);
  }
  time.tick();
}

}  // namespace ptx
