// Collectives over a transport, for memory of the host. Sums are added in the order of tree_sum.hpp whatever the transport, so they are those of `local`, bit for bit.
//
//   tx::dist::sockets connections(tx::dist::launched());            // or tx::dist::mpi
//   tx::dist::ranks all(connections);
//   tx::executor<step, tx::distributed<tx::cpu, tx::dist::ranks<tx::dist::sockets>>> run{tx::seed(0), all};
//
// all_reduce sends each rank the part of the elements that it adds up, and the sums to all: 2 (R - 1) / R of the bytes go out of each rank and come in, as
// much as with a ring (Patarasu and Yuan 2009), in two hops in place of 2 (R - 1), and the order of additions is the tree's. It is cut into pieces, so that one
// travels while another is added up; room is for two pieces of each rank.
#pragma once

#include <tx/core/dtype.hpp>
#include <tx/dist/communicator.hpp>
#include <tx/dist/net/transport.hpp>
#include <tx/dist/tree_sum.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

namespace tx::dist {

template <transport Transport>
class ranks {
 public:
  explicit ranks(Transport& over) : over_(over), those_{0, 1, over.size()} {}
  ranks(ranks const&) = delete;
  ranks& operator=(ranks const&) = delete;

  int rank() const { return those_.number_of(over_.rank()); }
  int size() const { return those_.count; }
  std::shared_ptr<ranks> subset(rank_subset const& those) {
    detail::check_subset(those, rank(), size());
    std::shared_ptr<ranks> some(new ranks(over_));
    some->those_ = those_.within(those);
    some->spent_ = spent_;
    return some;
  }
  Transport& over() { return over_; }
  // From any thread: ends what the rank waits for, and the others get the reason.
  void give_up(std::string const& why)
    requires requires(Transport& t) { t.give_up(why); }
  {
    over_.give_up(why);
  }

  // On all ranks the sum of `from` over them; `from` may be `to`. f32 and f64, and halves, which are added in f32 and rounded once.
  template <class T>
  void all_reduce(std::span<T const> from, std::span<T> to) {
    check(from.size() == to.size(), "all_reduce: from and to differ in length");
    if (size() == 1) return copy_elements(*this, from, to);
    span_of_time const measured(*spent_);
    auto const count = static_cast<std::int64_t>(to.size());
    if (count * static_cast<std::int64_t>(sizeof(T)) * size() <= at_once) return sum_at_once(from, to);
    auto const begin = [&](int r) { return count * r / size(); };
    reduce(asked::all_reduce, from.data(), begin, to.data() + begin(rank()), [&](subject s, auto const& piece, std::int64_t round) {
      auto const own = piece(rank(), round);
      each_other([&](int r) {
        auto const theirs = piece(r, round);
        receive(r, to.data() + theirs.first, theirs.count, s);
        send(r, to.data() + own.first, own.count, s);
      });
    });
  }

  // Of `from`, in parts as long as `to` of which the last may be shorter or of nothing, the one of this rank's number, summed over all ranks, and zeros behind it.
  // `to` may be that part of `from`.
  template <class T>
  void reduce_scatter(std::span<T const> from, std::span<T> to) {
    check(from.size() <= to.size() * static_cast<std::size_t>(size()), "reduce_scatter: from may be at most size() times as long as to");
    span_of_time const measured(*spent_);
    auto const each = static_cast<std::int64_t>(to.size()), count = static_cast<std::int64_t>(from.size());
    reduce(asked::reduce_scatter, from.data(), [&](int r) { return std::min(count, each * r); }, to.data(), [](subject, auto const&, std::int64_t) {});
    std::fill(to.begin() + portion_of(count, each, rank()).count, to.end(), T{});
  }

  // The ranks' `from`, one behind the other, as far as `to` reaches. `from` may be this rank's part of `to`.
  template <class T>
  void all_gather(std::span<T const> from, std::span<T> to) {
    check(to.size() <= from.size() * static_cast<std::size_t>(size()), "all_gather: to may be at most size() times as long as from");
    span_of_time const measured(*spent_);
    subject const s = next(asked::all_gather);
    auto const part = [&](int r) { return portion_of(static_cast<std::int64_t>(to.size()), static_cast<std::int64_t>(from.size()), r); };
    portion const own = part(rank());
    T* const here = to.data() + own.first;
    if (here != from.data() && own.count > 0) std::memcpy(here, from.data(), static_cast<std::size_t>(own.count) * sizeof(T));
    each_other([&](int r) {
      receive(r, to.data() + part(r).first, part(r).count, s);
      send(r, here, own.count, s);
    });
    over_.wait(last_);
  }

  // What rank `root` has, on all: along a tree of pairs, from the farthest on.
  template <class T>
  void broadcast(std::span<T> values, int root) {
    check(root >= 0 && root < size(), "broadcast: there is no such root");
    span_of_time const measured(*spent_);
    subject const s = next(asked::broadcast);
    auto const count = static_cast<std::int64_t>(values.size());
    int const own = (rank() - root + size()) % size();  // counted from the root
    auto const counted = [&](int k) { return (k + root) % size(); };
    int below = detail::tree_width(size());
    if (own != 0) {
      below = own & -own;  // the rank that many before this one has it first
      receive(counted(own - below), values.data(), count, s);
      over_.wait(last_);
    }
    for (int step = below / 2; step > 0; step /= 2)
      if (own + step < size()) send(counted(own + step), values.data(), count, s);
    over_.wait(last_);
  }

  // Part r of `from` goes to rank r, which has it as part rank(). They do not overlap.
  template <class T>
  void all_to_all(std::span<T const> from, std::span<T> to) {
    check(from.size() == to.size() && from.size() % static_cast<std::size_t>(size()) == 0, "all_to_all: from and to have to be of one length, a multiple of size()");
    span_of_time const measured(*spent_);
    subject const s = next(asked::all_to_all);
    auto const each = static_cast<std::int64_t>(from.size()) / size();
    if (each > 0) std::memcpy(to.data() + each * rank(), from.data() + each * rank(), static_cast<std::size_t>(each) * sizeof(T));
    each_other([&](int r) {
      receive(r, to.data() + each * r, each, s);
      send(r, from.data() + each * r, each, s);
    });
    over_.wait(last_);
  }

  // What rank `other` has, which gets what this one has. Only these two take part, so it is not counted among collectives.
  template <class T>
  void swap_with(std::span<T const> from, std::span<T> to, int other) {
    check(other >= 0 && other < size() && other != rank(), "swap_with: there is no such other rank");
    check(from.size() == to.size(), "swap_with: from and to differ in length");
    span_of_time const measured(*spent_);
    receive(other, to.data(), static_cast<std::int64_t>(to.size()), {asked::swap_with});
    send(other, from.data(), static_cast<std::int64_t>(from.size()), {asked::swap_with});
    over_.wait(last_);
  }

  // Between two ranks, in order; the other end has to ask for as much.
  template <class T>
  void send(std::span<T const> values, int to) {
    check(to >= 0 && to < size() && to != rank(), "send: there is no such other rank");
    over_.wait(over_.send(those_[to], std::as_bytes(values), {}));
  }
  template <class T>
  void receive(std::span<T> values, int from) {
    check(from >= 0 && from < size() && from != rank(), "receive: there is no such other rank");
    over_.wait(over_.receive(those_[from], std::as_writable_bytes(values), {}));
  }

  // Seconds that this rank has spent in collectives so far, of subsets too: nothing of a step is computed meanwhile.
  double seconds() const { return spent_->count(); }

  // Throws where another rank has failed by now, as far as the transport can tell without waiting.
  void check() {
    if constexpr (requires { over_.check(); }) over_.check();
  }

  void barrier() {
    span_of_time const measured(*spent_);
    subject const s = next(asked::barrier);
    std::vector<std::byte> here(static_cast<std::size_t>(size()));
    std::byte const own{};
    each_other([&](int r) {
      last_ = over_.receive(those_[r], std::span(here).subspan(static_cast<std::size_t>(r), 1), s);
      last_ = over_.send(those_[r], std::span(&own, 1), s);
    });
    over_.wait(last_);
  }

 private:
  static constexpr std::int64_t at_once = 64 * 1024;      // bytes of all ranks, up to which each adds all
  static constexpr std::int64_t piece_bytes = 256 * 1024;

  struct range {
    std::int64_t first, count;
  };
  class span_of_time {
   public:
    explicit span_of_time(std::chrono::duration<double>& sum) : sum_(sum) {}
    span_of_time(span_of_time const&) = delete;
    span_of_time& operator=(span_of_time const&) = delete;
    ~span_of_time() { sum_ += std::chrono::steady_clock::now() - begun_; }

   private:
    std::chrono::duration<double>& sum_;
    std::chrono::steady_clock::time_point const begun_ = std::chrono::steady_clock::now();
  };

  static void check(bool right, char const* what) {
    if (!right) throw rank_error(what);
  }
  subject next(asked what) { return {what, ++number_ == 0 ? ++number_ : number_}; }

  // Each begins with the one behind it, so that not all speak to one at a time.
  template <class F>
  void each_other(F const& f) const {
    for (int k = 1; k < size(); ++k) f((rank() + k) % size());
  }
  template <class T>
  void send(int to, T const* values, std::int64_t count, subject s) {
    if (count > 0) last_ = over_.send(those_[to], std::as_bytes(std::span(values, static_cast<std::size_t>(count))), s);
  }
  template <class T>
  void receive(int from, T* values, std::int64_t count, subject s) {
    if (count > 0) last_ = over_.receive(those_[from], std::as_writable_bytes(std::span(values, static_cast<std::size_t>(count))), s);
  }

  template <class T>
  T* room(std::int64_t count) {
    auto const bytes = static_cast<std::size_t>(count) * sizeof(T);
    room_.resize(std::max(room_.size(), (bytes + sizeof(double) - 1) / sizeof(double)));
    return reinterpret_cast<T*>(room_.data());
  }

  template <class T>
  void sum_at_once(std::span<T const> from, std::span<T> to) {
    subject const s = next(asked::all_reduce);
    auto const count = static_cast<std::int64_t>(to.size());
    T* const parts = room<T>(count * size());
    each_other([&](int r) {
      receive(r, parts + count * r, count, s);
      send(r, from.data(), count, s);
    });
    over_.wait(last_);
    add([&](int r) { return r == rank() ? from.data() : parts + count * r; }, count, to.data());
  }

  template <class T, class Part>
  void add(Part const& part, std::int64_t count, T* to) {
    tree_sum<sum_type<T>>(part, size(), 0, count, [&](std::int64_t at, int n, sum_type<T> const* sums) {
      for (int i = 0; i < n; ++i) to[at + i] = rounded<T>(sums[i]);
    });
  }

  // The sum of this rank's elements, `from + begin(rank())` on, at `own`, piece by piece; hand_on(subject, piece, round) is called when one is there.
  template <class T, class Begin, class HandOn>
  void reduce(asked what, T const* from, Begin const& begin, T* own, HandOn const& hand_on) {
    subject const s = next(what);
    std::int64_t const most = piece_bytes / static_cast<std::int64_t>(sizeof(T));
    auto const piece = [&](int r, std::int64_t round) {
      std::int64_t const first = begin(r) + round * most, end = begin(r + 1);
      return range{first, std::clamp<std::int64_t>(end - first, 0, most)};
    };
    std::int64_t longest = 0;
    for (int r = 0; r < size(); ++r) longest = std::max(longest, begin(r + 1) - begin(r));
    std::int64_t const rounds = (longest + most - 1) / most;
    T* const all = room<T>(2 * size() * most);
    auto const parts = [&](std::int64_t round, int r) { return all + (round % 2 * size() + r) * most; };
    ticket there[2]{};
    auto const begin_round = [&](std::int64_t round) {
      each_other([&](int r) {
        receive(r, parts(round, r), piece(rank(), round).count, s);
        send(r, from + piece(r, round).first, piece(r, round).count, s);
      });
      there[round % 2] = last_;
    };
    if (rounds > 0) begin_round(0);
    for (std::int64_t round = 0; round < rounds; ++round) {
      if (round + 1 < rounds) begin_round(round + 1);
      over_.wait(there[round % 2]);  // with it what was sent of this round, so that sums may be written over it
      range const mine = piece(rank(), round);
      if (mine.count > 0)
        add([&](int r) { return r == rank() ? from + mine.first : parts(round, r); }, mine.count, own + (mine.first - begin(rank())));
      hand_on(s, piece, round);
    }
    over_.wait(last_);
  }

  Transport& over_;
  rank_subset those_;  // of the transport's ranks
  ticket last_ = 0;
  std::uint16_t number_ = 0;  // of collectives so far
  std::vector<double> room_;
  std::shared_ptr<std::chrono::duration<double>> spent_ = std::make_shared<std::chrono::duration<double>>();
};

}  // namespace tx::dist
