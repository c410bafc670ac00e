// Ranks whose memory the host does not reach.
// expect: tx::distributed: a communicator of hosts does not reach this backend's memory
#include <tx/backends/reference.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>

struct device : tx::reference {
  static void clear(std::byte*, std::int64_t);
  static void upload(std::byte*, std::byte const*, std::int64_t);
  static void download(std::byte*, std::byte const*, std::int64_t);
};
static_assert(sizeof(tx::distributed<device, tx::dist::local>) > 0);
