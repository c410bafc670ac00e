// What device_ranks asks NCCL for, or RCCL, which has the same calls: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html. Included behind the library's own header.
#pragma once

#include <tx/core/dtype.hpp>
#include <tx/core/error.hpp>

#include <cstddef>
#include <string>
#include <thread>
#include <utility>

namespace tx::dist {

// One rank's end; all it starts goes to the stream of Device.
template <class Device>
class nccl_calls {
 public:
  using key = ncclUniqueId;

  static key fresh() {
    key id{};
    must(ncclGetUniqueId(&id));
    return id;
  }
  nccl_calls(key const& id, int ranks, int rank) { must(ncclCommInitRank(&all_, ranks, id, rank)); }
  nccl_calls(nccl_calls const&) = delete;
  nccl_calls& operator=(nccl_calls const&) = delete;
  // Captured runs that have work of it are gone by then.
  ~nccl_calls() {
    if (all_ != nullptr) ncclCommDestroy(all_);
    if (ends_.joinable()) ends_.join();
  }

  void begin() { must(ncclGroupStart()); }
  void end() { must(ncclGroupEnd()); }
  void send(std::byte const* values, std::size_t bytes, int to) { must(ncclSend(values, bytes, ncclUint8, to, usable(), Device::stream())); }
  void receive(std::byte* values, std::size_t bytes, int from) { must(ncclRecv(values, bytes, ncclUint8, from, usable(), Device::stream())); }
  void all_gather(std::byte const* from, std::byte* to, std::size_t bytes) { must(ncclAllGather(from, to, bytes, ncclUint8, usable(), Device::stream())); }
  void broadcast(std::byte* values, std::size_t bytes, int root) { must(ncclBroadcast(values, values, bytes, ncclUint8, root, usable(), Device::stream())); }
  template <class T>
  void all_reduce(T const* from, T* to, std::size_t count) {
    must(ncclAllReduce(from, to, count, named<T>(), ncclSum, usable(), Device::stream()));
  }
  template <class T>
  void reduce_scatter(T const* from, T* to, std::size_t count) {
    must(ncclReduceScatter(from, to, count, named<T>(), ncclSum, usable(), Device::stream()));
  }

  // What it has found out since, such as a rank whose process has ended.
  void check() {
    ncclResult_t found = ncclSuccess;
    must(ncclCommGetAsyncError(usable(), &found));
    must(found);
  }
  // What hangs ends soon. NCCL itself returns once no captured run has work of it any more, which executors keep: so it is asked in a thread beside.
  void abort() {
    if (all_ != nullptr) ends_ = std::thread([all = std::exchange(all_, nullptr)] { ncclCommAbort(all); });
  }

 private:
  template <class T>
  static constexpr ncclDataType_t named() {
    constexpr dtype d = dtype_v<T>;
    static_assert(is_float(d) && d != dtype::e4m3, "tx::dist: between devices sums are of floating-point numbers, but not of E4M3");
    return d == dtype::f64 ? ncclFloat64 : d == dtype::f32 ? ncclFloat32 : d == dtype::bf16 ? ncclBfloat16 : ncclFloat16;
  }
  static void must(ncclResult_t status) {
    if (status != ncclSuccess && status != ncclInProgress) throw error(std::string("NCCL: ") + ncclGetErrorString(status) + ". FIX: NCCL_DEBUG=INFO in the environment tells more");
  }
  ncclComm_t usable() const {
    if (all_ == nullptr) throw error("another rank failed before");
    return all_;
  }

  ncclComm_t all_ = nullptr;
  std::thread ends_{};  // an abort that is under way
};

}  // namespace tx::dist
