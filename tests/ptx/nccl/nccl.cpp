// Stands for NCCL, of which it has what dist/device/nccl_calls.hpp asks for, between processes of one machine whose devices the runner of device code stands for.
// As with NCCL, a communicator that ends waits for captured work that it has a part in: where the program ends one before its graphs, it ends with an error here, where NCCL would hang.
// Bytes go through a socket between each two processes. What is asked for is work of its stream, captured as any other; a group is one piece of work, in which all sends
// and receives go on at the same time.
#include <nccl.h>

#include "../runner/simulated.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

struct ncclComm {
  int rank = 0, ranks = 0;
  std::vector<int> socket;  // to each other rank
  std::shared_ptr<int> asked = std::make_shared<int>();  // each piece of work that is still to be done, or to be done again, has it too
};

namespace {

struct transfer {
  bool sends;
  std::byte* data;
  std::size_t bytes;
  int other;
  std::size_t done = 0;
};
struct group {
  bool open = false;
  ncclComm* all = nullptr;
  cudaStream_t stream{};
  std::vector<transfer> transfers;
};
group& asked() {
  static group g;
  return g;
}

std::size_t size_of(ncclDataType_t t) { return t == ncclUint8 ? 1 : t == ncclFloat32 ? 4 : t == ncclFloat64 ? 8 : 2; }

// Of a name that no file has.
sockaddr_un address(ncclUniqueId const& id, int rank, socklen_t& length) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  int const n = std::snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "%.80s.%d", id.internal, rank);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  return a;
}

// Device memory that was never written may not travel, and what arrives is written.
void check_ends(transfer const& t) {
  auto& memory = ptx::simulated::get().gpu.memory;
  if (!memory.holds(t.data, t.bytes)) throw std::runtime_error("NCCL: memory that is none of the device's: " + memory.whereabouts(reinterpret_cast<std::uint64_t>(t.data)));
  if (!t.sends) return;
  ptx::record const* const r = memory.records(t.data, t.bytes);
  for (std::size_t k = 0; k < t.bytes; ++k)
    if (r[k].written.when == 0) throw std::runtime_error("NCCL: memory that nobody wrote is sent: " + memory.whereabouts(reinterpret_cast<std::uint64_t>(t.data) + k));
}

void move_all(ncclComm const& all, std::vector<transfer> transfers) {
  for (transfer const& t : transfers) check_ends(t);
  for (;;) {
    std::vector<pollfd> waits;
    std::vector<transfer*> who;
    std::vector<bool> sending(static_cast<std::size_t>(all.ranks)), receiving(sending);  // what two ranks send each other stays in order
    for (transfer& t : transfers) {
      auto const other = static_cast<std::size_t>(t.other);
      auto&& busy = t.sends ? sending[other] : receiving[other];
      if (t.done == t.bytes || busy) continue;
      busy = true;
      waits.push_back({all.socket[other], static_cast<short>(t.sends ? POLLOUT : POLLIN), 0});
      who.push_back(&t);
    }
    if (who.empty()) break;
    if (::poll(waits.data(), waits.size(), 60'000) == 0) throw std::runtime_error("NCCL: another process sends nothing");
    for (std::size_t k = 0; k < who.size(); ++k) {
      if (waits[k].revents == 0) continue;
      transfer& t = *who[k];
      auto const n = t.sends ? ::send(waits[k].fd, t.data + t.done, t.bytes - t.done, MSG_DONTWAIT | MSG_NOSIGNAL) : ::recv(waits[k].fd, t.data + t.done, t.bytes - t.done, MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno != EAGAIN)) throw std::runtime_error("NCCL: another process has ended");
      if (n > 0) t.done += static_cast<std::size_t>(n);
    }
  }
  auto& gpu = ptx::simulated::get().gpu;
  for (transfer const& t : transfers)
    if (!t.sends) gpu.memory.written(t.data, t.bytes, gpu.time.now());
}

ncclResult_t add(ncclComm_t all, cudaStream_t stream, transfer t) {
  group& g = asked();
  if (all == nullptr || t.other < 0 || t.other >= all->ranks || t.other == all->rank) return ncclInvalidArgument;
  if (!g.open) return ncclInvalidUsage;  // NCCL would wait for ever where all do this
  if (g.all != nullptr && (g.all != all || g.stream != stream)) return ncclInvalidUsage;
  g.all = all;
  g.stream = stream;
  g.transfers.push_back(t);
  return ncclSuccess;
}
void start(ncclComm_t all, cudaStream_t stream, ptx::work w) {
  ptx::simulated::get().streams.add(reinterpret_cast<ptx::stream*>(stream), [asked = all->asked, w = std::move(w)] { w(); });
}

}  // namespace

char const* ncclGetErrorString(ncclResult_t r) {
  return r == ncclSuccess ? "no error" : r == ncclInvalidUsage ? "invalid usage" : r == ncclInvalidArgument ? "invalid argument" : "an error of what stands for NCCL";
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "stands-for-nccl-%d-%lld", static_cast<int>(::getpid()), static_cast<long long>(std::chrono::steady_clock::now().time_since_epoch().count()));
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* to, int ranks, ncclUniqueId id, int rank) {
  auto* const all = new ncclComm{rank, ranks, std::vector<int>(static_cast<std::size_t>(ranks), -1)};
  socklen_t length = 0;
  sockaddr_un const own = address(id, rank, length);
  int const listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::bind(listener, reinterpret_cast<sockaddr const*>(&own), length) != 0 || ::listen(listener, ranks) != 0) return ncclSystemError;
  for (int r = 0; r < rank; ++r) {  // those before this one are called, the others call
    sockaddr_un const there = address(id, r, length);
    int s = -1;
    for (int turn = 0; turn < 3000; ++turn) {
      s = ::socket(AF_UNIX, SOCK_STREAM, 0);
      if (::connect(s, reinterpret_cast<sockaddr const*>(&there), length) == 0) break;
      ::close(s);
      s = -1;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (s < 0 || ::send(s, &rank, sizeof rank, MSG_NOSIGNAL) != sizeof rank) return ncclSystemError;
    all->socket[static_cast<std::size_t>(r)] = s;
  }
  for (int k = rank + 1; k < ranks; ++k) {
    int const s = ::accept(listener, nullptr, nullptr);
    int who = -1;
    if (s < 0 || ::recv(s, &who, sizeof who, MSG_WAITALL) != sizeof who || who <= rank || who >= ranks) return ncclSystemError;
    all->socket[static_cast<std::size_t>(who)] = s;
  }
  ::close(listener);
  *to = all;
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t all) {
  if (all->asked.use_count() > 1) ptx::simulated::get().streams.finish_all();
  if (all->asked.use_count() > 1) {
    std::fputs("NCCL: a communicator is ended before the graphs that have its work\n", stderr);
    std::abort();
  }
  for (int const s : all->socket)
    if (s >= 0) ::close(s);
  delete all;
  return ncclSuccess;
}
// What goes on ends at once; who else asks for this communicator's work is another thread, which may destroy its graphs meanwhile.
ncclResult_t ncclCommAbort(ncclComm_t all) {
  for (int const s : all->socket)
    if (s >= 0) ::shutdown(s, SHUT_RDWR);
  for (int turn = 0; all->asked.use_count() > 1; ++turn) {
    if (turn == 30'000) {
      std::fputs("NCCL: an abort waits for graphs that nobody destroys\n", stderr);
      std::abort();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ncclCommDestroy(all);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* found) {
  *found = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  if (asked().open) return ncclInvalidUsage;
  asked() = {.open = true, .all = nullptr, .stream = {}, .transfers = {}};
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  group const g = std::exchange(asked(), {});
  if (!g.open) return ncclInvalidUsage;
  if (g.all != nullptr) start(g.all, g.stream, [all = g.all, transfers = g.transfers] { move_all(*all, transfers); });
  return ncclSuccess;
}
ncclResult_t ncclSend(void const* from, std::size_t count, ncclDataType_t t, int to, ncclComm_t all, cudaStream_t stream) {
  return add(all, stream, {true, static_cast<std::byte*>(const_cast<void*>(from)), count * size_of(t), to});
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t t, int from, ncclComm_t all, cudaStream_t stream) {
  return add(all, stream, {false, static_cast<std::byte*>(to), count * size_of(t), from});
}
ncclResult_t ncclAllGather(void const* from, void* to, std::size_t count, ncclDataType_t t, ncclComm_t all, cudaStream_t stream) {
  std::size_t const bytes = count * size_of(t);
  start(all, stream, [=] {
    auto* const first = static_cast<std::byte*>(to);
    std::byte* const own = first + static_cast<std::size_t>(all->rank) * bytes;
    std::vector<transfer> transfers;
    auto* const source = static_cast<std::byte*>(const_cast<void*>(from));
    check_ends({true, source, bytes, 0});
    for (int r = 0; r < all->ranks; ++r) {
      if (r == all->rank) continue;
      transfers.push_back({true, source, bytes, r});
      transfers.push_back({false, first + static_cast<std::size_t>(r) * bytes, bytes, r});
    }
    move_all(*all, transfers);
    if (own != source) std::memcpy(own, source, bytes);
    auto& gpu = ptx::simulated::get().gpu;
    gpu.memory.written(own, bytes, gpu.time.now());
  });
  return ncclSuccess;
}
ncclResult_t ncclBroadcast(void const* from, void* to, std::size_t count, ncclDataType_t t, int root, ncclComm_t all, cudaStream_t stream) {
  if (from != to) return ncclInvalidUsage;  // tx asks for no other
  std::size_t const bytes = count * size_of(t);
  start(all, stream, [=] {
    std::vector<transfer> transfers;
    for (int r = 0; r < all->ranks; ++r) {
      if (r == all->rank || (all->rank != root && r != root)) continue;
      transfers.push_back({all->rank == root, static_cast<std::byte*>(to), bytes, r});
    }
    move_all(*all, transfers);
  });
  return ncclSuccess;
}

namespace {

// Sums one rank after the other, of floats: what tx asks NCCL's own order for, it asks by name.
ncclResult_t sum(void const* from, void* to, std::size_t count, ncclDataType_t t, ncclComm_t all, cudaStream_t stream, std::size_t first, std::size_t kept) {
  if (t != ncclFloat32) return ncclInvalidUsage;
  start(all, stream, [=] {
    auto& gpu = ptx::simulated::get().gpu;
    std::byte* const room = gpu.memory.allocate(static_cast<std::size_t>(all->ranks) * count * 4);
    std::vector<transfer> transfers;
    auto* const source = static_cast<std::byte*>(const_cast<void*>(from));
    for (int r = 0; r < all->ranks; ++r) {
      if (r == all->rank) continue;
      transfers.push_back({true, source, count * 4, r});
      transfers.push_back({false, room + static_cast<std::size_t>(r) * count * 4, count * 4, r});
    }
    move_all(*all, transfers);
    std::memcpy(room + static_cast<std::size_t>(all->rank) * count * 4, source, count * 4);
    for (std::size_t i = 0; i < kept; ++i) {
      float total = 0;
      for (int r = 0; r < all->ranks; ++r) total += reinterpret_cast<float const*>(room)[static_cast<std::size_t>(r) * count + first + i];
      static_cast<float*>(to)[i] = total;
    }
    gpu.memory.written(to, kept * 4, gpu.time.now());
    gpu.memory.release(room);
  });
  return ncclSuccess;
}

}  // namespace

ncclResult_t ncclAllReduce(void const* from, void* to, std::size_t count, ncclDataType_t t, ncclRedOp_t, ncclComm_t all, cudaStream_t stream) { return sum(from, to, count, t, all, stream, 0, count); }
ncclResult_t ncclReduceScatter(void const* from, void* to, std::size_t count, ncclDataType_t t, ncclRedOp_t, ncclComm_t all, cudaStream_t stream) {
  return sum(from, to, count * static_cast<std::size_t>(all->ranks), t, all, stream, count * static_cast<std::size_t>(all->rank), count);
}
