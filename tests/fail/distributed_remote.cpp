// Ranks whose memory the host does not reach.
// expect: tx::distributed: the communicator does not reach this backend's memory. FIX: for a device tx::dist::nccl<backend, hosts> or rccl, else one of hosts
#include <tx/backends/reference.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>

struct device : tx::reference {
  static void clear(std::byte*, std::int64_t);
  static void upload(std::byte*, std::byte const*, std::int64_t);
  static void download(std::byte*, std::byte const*, std::int64_t);
};
static_assert(sizeof(tx::distributed<device, tx::dist::local>) > 0);
