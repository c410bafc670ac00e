// Ranks as threads of one process.
//
//   tx::dist::local_group two(2);
//   two.run([&](tx::dist::local& rank) {
//     tx::executor<step, tx::distributed<tx::cpu, tx::dist::local>> run{tx::seed(0), rank};
//     ...
//   });
//
// run() returns when all ranks have. If one throws, or returns while others wait for it, they get a rank_error, and
// run() throws what was thrown first. Ranks share the machine: give each its share in run_options::threads.
#pragma once

#include <tx/dist/communicator.hpp>
#include <tx/dist/tree_sum.hpp>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace tx::dist {

class local;

class local_group {
 public:
  explicit local_group(int ranks) : posts_(static_cast<std::size_t>(ranks > 0 ? ranks : 1)) {
    if (ranks < 1) throw value_error("local_group: " + std::to_string(ranks) + " ranks. FIX: at least one");
  }
  local_group(local_group const&) = delete;
  local_group& operator=(local_group const&) = delete;

  int size() const { return static_cast<int>(posts_.size()); }

  // f(local&) on each rank, in a thread of its own.
  template <class F>
  void run(F const& f);

  // Ends every wait of this run, now and later, with a rank_error that gives the reason. From any thread.
  void fail(std::string const& why) { end({why, -1}); }

 private:
  friend class local;

  // Some of the ranks, which meet each other alone.
  local_group& subset(rank_subset const& those) {
    std::scoped_lock const lock(mutex_);
    auto& some = subsets_[{those.first, those.stride, those.count}];
    if (some == nullptr) some = std::make_unique<local_group>(those.count);
    some->those_ = those_.within(those);
    for (ending const& e : endings_) some->end(e);
    return *some;
  }

  // Why ranks wait for nobody any more: one of them has ended, which concerns those alone that meet it, or something failed, rank -1.
  struct ending {
    std::string why;
    int rank;
  };
  void end(ending const& e) {
    {
      std::scoped_lock const lock(mutex_);
      if (e.rank >= 0 && !those_.has(e.rank)) return;
      if (broken_.empty()) broken_ = e.why;
      endings_.push_back(e);
      for (auto const& [which, some] : subsets_) some->end(e);
    }
    changed_.notify_all();
  }
  // What a rank brings to a meeting: written before it comes, read when all are there.
  struct post {
    char const* asks_for = "";
    void const* from = nullptr;
    void* to = nullptr;
    std::size_t count = 0;
    std::size_t element = 0;  // bytes
    std::size_t part = 0;     // elements of what has another length than `count`
  };

  // All ranks ask for the same, of as many elements. Throws rank_error in each where they do not, before anything is read or written.
  void meet(int rank, post const& own) {
    posts_[static_cast<std::size_t>(rank)] = own;
    meet();
    post const& first = posts_[0];
    bool same = true, alike = true;
    for (post const& p : posts_) {
      same = same && std::strcmp(p.asks_for, first.asks_for) == 0;
      alike = alike && p.count == first.count && p.element == first.element && p.part == first.part;
    }
    if (same && alike) return;
    part();  // nobody writes another post while this one is read
    if (!same) throw rank_error("rank " + std::to_string(those_[rank]) + " asks for " + own.asks_for + ", another one for something else. FIX: run one program on all");
    throw rank_error(std::string(own.asks_for) + ": the ranks bring different numbers or types of elements. FIX: run one program on all");
  }
  // Either all ranks pass or all throw: once the last has come, nothing can stop those that still wake up.
  void meet() {
    std::unique_lock lock(mutex_);
    if (!broken_.empty()) throw rank_error(broken_);
    if (!pass(lock, [&] { return !broken_.empty(); })) throw rank_error(broken_);
  }
  // The same where every rank is sure to come: between meeting and parting they only compute.
  void part() {
    std::unique_lock lock(mutex_);
    pass(lock, [] { return false; });
  }
  template <class Stop>
  bool pass(std::unique_lock<std::mutex>& lock, Stop const& stop) {
    std::uint64_t const mine = round_;
    if (++here_ == size()) {
      here_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return round_ != mine || stop(); });
    return round_ != mine;
  }

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<post> posts_;
  rank_subset those_{0, 1, size()};  // of the ranks of a run
  std::map<std::array<int, 3>, std::unique_ptr<local_group>> subsets_{};
  std::vector<ending> endings_{};
  std::string broken_{};     // the first of them's reason: why no meeting can be held any more
  std::uint64_t round_ = 0;  // meetings held
  int here_ = 0;             // ranks that wait for the next one
};

// One rank's end.
class local {
 public:
  local(local_group& group, int rank) : group_(group), rank_(rank) {}

  int rank() const { return rank_; }
  int size() const { return group_.size(); }
  // Others get a rank_error with the reason, whatever they wait for. From any thread.
  void give_up(std::string const& why) { group_.fail("rank " + std::to_string(rank_) + ": " + why); }
  std::shared_ptr<local> subset(rank_subset const& those) {
    detail::check_subset(those, rank(), size());
    return std::make_shared<local>(group_.subset(those), those.number_of(rank()));
  }
  void barrier() {
    group_.meet(rank_, {.asks_for = "barrier"});
    group_.part();
  }

  // Each rank adds a share of the elements and hands the sums to all. f32 and f64, and halves, which are added in f32 and rounded once.
  template <class T>
  void all_reduce(std::span<T const> from, std::span<T> to) {
    check(from.size() == to.size(), "all_reduce: from and to differ in length");
    if (size() == 1) return copy(from.data(), to.data(), from.size_bytes());
    group_.meet(rank_, {"all_reduce", from.data(), to.data(), to.size(), sizeof(T)});
    auto const count = static_cast<std::int64_t>(to.size());
    add<T>(count * rank_ / size(), count * (rank_ + 1) / size(), [&](std::int64_t at, int n, T const* sum) {
      for (auto const& p : group_.posts_) std::memcpy(static_cast<T*>(p.to) + at, sum, static_cast<std::size_t>(n) * sizeof(T));
    });
    group_.part();
  }
  template <class T>
  void reduce_scatter(std::span<T const> from, std::span<T> to) {
    check(from.size() <= to.size() * static_cast<std::size_t>(size()), "reduce_scatter: from may be at most size() times as long as to");
    group_.meet(rank_, {"reduce_scatter", from.data(), to.data(), from.size(), sizeof(T), to.size()});
    portion const own = portion_of(static_cast<std::int64_t>(from.size()), static_cast<std::int64_t>(to.size()), rank_);
    add<T>(own.first, own.first + own.count,
           [&](std::int64_t at, int n, T const* sum) { std::memcpy(to.data() + (at - own.first), sum, static_cast<std::size_t>(n) * sizeof(T)); });
    std::fill(to.begin() + own.count, to.end(), T{});
    group_.part();
  }
  template <class T>
  void all_gather(std::span<T const> from, std::span<T> to) {
    check(to.size() <= from.size() * static_cast<std::size_t>(size()), "all_gather: to may be at most size() times as long as from");
    group_.meet(rank_, {"all_gather", from.data(), to.data(), to.size(), sizeof(T), from.size()});
    for (int r = 0; r < size(); ++r) {
      portion const own = portion_of(static_cast<std::int64_t>(to.size()), static_cast<std::int64_t>(from.size()), r);
      copy(group_.posts_[static_cast<std::size_t>(r)].from, to.data() + own.first, static_cast<std::size_t>(own.count) * sizeof(T));
    }
    group_.part();
  }
  template <class T>
  void all_to_all(std::span<T const> from, std::span<T> to) {
    check(from.size() == to.size() && from.size() % group_.posts_.size() == 0, "all_to_all: from and to have to be of one length, a multiple of size()");
    group_.meet(rank_, {"all_to_all", from.data(), to.data(), to.size(), sizeof(T)});
    std::size_t const each = from.size() / group_.posts_.size();
    for (std::size_t r = 0; r < group_.posts_.size(); ++r)
      copy(static_cast<T const*>(group_.posts_[r].from) + each * static_cast<std::size_t>(rank_), to.data() + r * each, each * sizeof(T));
    group_.part();
  }
  // The two of them meet each other alone.
  template <class T>
  void swap_with(std::span<T const> from, std::span<T> to, int other) {
    check(other >= 0 && other < size() && other != rank_, "swap_with: there is no such other rank");
    check(from.size() == to.size(), "swap_with: from and to differ in length");
    bool const first = rank_ < other;
    local_group& both = group_.subset({first ? rank_ : other, first ? other - rank_ : rank_ - other, 2});
    both.meet(first ? 0 : 1, {"swap_with", from.data(), to.data(), to.size(), sizeof(T)});
    copy(both.posts_[first ? 1 : 0].from, to.data(), to.size_bytes());
    both.part();
  }
  template <class T>
  void broadcast(std::span<T> x, int root) {
    check(root >= 0 && root < size(), "broadcast: there is no such root");
    group_.meet(rank_, {"broadcast", x.data(), x.data(), x.size(), sizeof(T)});
    copy(group_.posts_[static_cast<std::size_t>(root)].from, x.data(), x.size_bytes());
    group_.part();
  }

 private:
  static void check(bool right, char const* what) {
    if (!right) throw rank_error(what);
  }
  static void copy(void const* from, void* to, std::size_t bytes) {
    if (bytes > 0 && from != to) std::memcpy(to, from, bytes);
  }
  // store(at, count, sums) for the elements begin .. end of all ranks' `from`
  template <class T, class Store>
  void add(std::int64_t begin, std::int64_t end, Store const& store) const {
    auto const part = [&](int r) { return static_cast<T const*>(group_.posts_[static_cast<std::size_t>(r)].from); };
    tree_sum<sum_type<T>>(part, size(), begin, end, [&](std::int64_t at, int n, sum_type<T> const* sums) {
      if constexpr (std::is_same_v<T, sum_type<T>>) {
        store(at, n, sums);
      } else {
        T halves[detail::tree_chunk];
        for (int i = 0; i < n; ++i) halves[i] = rounded<T>(sums[i]);
        store(at, n, halves);
      }
    });
  }

  local_group& group_;
  int rank_;
};
static_assert(communicator<local>);

template <class F>
void local_group::run(F const& f) {
  broken_.clear();
  endings_.clear();
  subsets_.clear();
  here_ = 0;
  std::exception_ptr first{};
  auto failed = [&](std::string const& why) {  // with an exception at hand
    {
      std::scoped_lock const lock(mutex_);
      if (first == nullptr) first = std::current_exception();
    }
    fail(why);
  };
  auto one = [&](int rank) {
    std::string const name = "rank " + std::to_string(rank);
    try {
      local end(*this, rank);
      f(end);
      this->end({name + " has ended and meets the others no more", rank});
    } catch (std::exception const& e) {
      failed(name + " failed: " + e.what());
    } catch (...) {
      failed(name + " failed");
    }
  };
  std::vector<std::thread> threads;
  try {
    for (int rank = 0; rank < size(); ++rank) threads.emplace_back(one, rank);
  } catch (...) {
    failed("a rank could not be started");
  }
  for (auto& t : threads) t.join();
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace tx::dist
