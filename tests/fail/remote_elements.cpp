// Elements of a parameter block that the host does not reach.
// expect: tx: the host does not reach this backend's memory. FIX: read(k) and write(values, k) copy it
#include <tx/backends/reference.hpp>
#include <tx/run/parameter_memory.hpp>

struct far : tx::reference {
  static void clear(std::byte*, std::int64_t) {}
  static void upload(std::byte*, std::byte const*, std::int64_t) {}
  static void download(std::byte*, std::byte const*, std::int64_t) {}
};
struct model {
  tx::param<tx::tensor<float, 8>> w;
};
auto elements(tx::parameter_block<model, far> const& block) { return block.elements(); }
