// What stands for NCCL between threads: bytes that ranks send each other lie in queues until they are asked for.
#pragma once

#include <tx/core/error.hpp>
#include <tx/dist/tree_sum.hpp>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

class between_threads {
 public:
  using key = std::uint64_t;

  static key fresh() {
    static std::atomic<key> last = 0;
    return ++last;
  }
  between_threads(key k, int ranks, int rank) : all_(joined(k)), ranks_(ranks), rank_(rank) {}

  void begin() { begun_ = true; }
  void send(std::byte const* first, std::size_t bytes, int to) {
    must_be_in_group();
    std::scoped_lock const lock(all_->mutex);
    all_->on_the_way[{rank_, to}].emplace_back(first, first + bytes);
    all_->changed.notify_all();
  }
  void receive(std::byte* first, std::size_t bytes, int from) {
    must_be_in_group();
    wanted_.push_back({first, bytes, from});
  }
  void end() {
    must_be_in_group();
    begun_ = false;
    for (auto const& w : wanted_) {
      std::unique_lock lock(all_->mutex);
      auto& queue = all_->on_the_way[{w.from, rank_}];
      all_->changed.wait(lock, [&] { return !queue.empty() || all_->broken; });
      if (queue.empty()) throw tx::error("given up");
      if (queue.front().size() != w.bytes) throw tx::error("another rank sends " + std::to_string(queue.front().size()) + " bytes, not " + std::to_string(w.bytes));
      std::memcpy(w.to, queue.front().data(), w.bytes);
      queue.pop_front();
    }
    wanted_.clear();
  }
  void all_gather(std::byte const* from, std::byte* to, std::size_t bytes) {
    if (from != to + static_cast<std::size_t>(rank_) * bytes) std::memcpy(to + static_cast<std::size_t>(rank_) * bytes, from, bytes);
    begin();
    for (int r = 0; r < ranks_; ++r) {
      if (r == rank_) continue;
      send(from, bytes, r);
      receive(to + static_cast<std::size_t>(r) * bytes, bytes, r);
    }
    end();
  }
  void broadcast(std::byte* first, std::size_t bytes, int root) {
    begin();
    for (int r = 0; r < ranks_; ++r)
      if (rank_ == root && r != root) send(first, bytes, r);
    if (rank_ != root) receive(first, bytes, root);
    end();
  }
  // One rank after the other, which is not the order of the tree.
  template <class T>
  void all_reduce(T const* from, T* to, std::size_t count) {
    std::vector<T> parts(static_cast<std::size_t>(ranks_) * count);
    all_gather(reinterpret_cast<std::byte const*>(from), reinterpret_cast<std::byte*>(parts.data()), count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
      tx::dist::sum_type<T> sum{};
      for (int r = 0; r < ranks_; ++r) sum += tx::dist::detail::widened(parts[static_cast<std::size_t>(r) * count + i]);
      to[i] = tx::dist::rounded<T>(sum);
    }
  }
  template <class T>
  void reduce_scatter(T const* from, T* to, std::size_t count) {
    std::vector<T> sums(static_cast<std::size_t>(ranks_) * count);
    all_reduce(from, sums.data(), sums.size());
    std::memcpy(to, sums.data() + static_cast<std::size_t>(rank_) * count, count * sizeof(T));
  }
  void check() const {
    std::scoped_lock const lock(all_->mutex);
    if (all_->broken) throw tx::error("a rank has given up");
  }
  void abort() {
    std::scoped_lock const lock(all_->mutex);
    all_->broken = true;
    all_->changed.notify_all();
  }

 private:
  struct group {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> on_the_way;  // from, to
    bool broken = false;
  };
  struct wanted {
    std::byte* to;
    std::size_t bytes;
    int from;
  };
  static std::shared_ptr<group> joined(key k) {
    static std::mutex mutex;
    static std::map<key, std::weak_ptr<group>> groups;
    std::scoped_lock const lock(mutex);
    auto g = groups[k].lock();
    if (g == nullptr) groups[k] = g = std::make_shared<group>();
    return g;
  }
  void must_be_in_group() const {
    if (!begun_) throw tx::error("outside a group, where ranks that wait for each other would hang");
  }

  std::shared_ptr<group> all_;
  int ranks_, rank_;
  bool begun_ = false;
  std::vector<wanted> wanted_;
};
