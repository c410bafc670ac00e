// Collectives on the memory of devices, one of each rank, over a library that moves bytes between them: NCCL (nccl.hpp) or RCCL (rccl.hpp).
//
//   tx::dist::place const place = tx::dist::launched();
//   tx::cuda::use_device(place.local_rank);
//   tx::dist::sockets connections(place);                 // or tx::dist::mpi
//   tx::dist::ranks hosts(connections);
//   tx::dist::nccl<tx::cuda, decltype(hosts)> all(hosts);
//   tx::executor<step, tx::distributed<tx::cuda, decltype(all)>> run{tx::seed(0), all};
//
// Spans are of device memory. What is asked for is started on the backend's stream, behind what was started before, so it is a part of captured runs; await() waits for it.
// What hosts tell each other (that all begin alike, what a checkpoint holds) goes over `hosts`, which must outlive this.
//
// Sums have the order of tree_sum.hpp, and so the bits of any other communicator: each rank gets from all others the elements that it adds up, and the sums go to all, which is as
// many bytes as with the library's own sums. Those are sum_order::of_library: faster where ranks are many and values small, in an order that depends on how many there are.
#pragma once

#include <tx/backends/device/adaptive_sum_task.hpp>
#include <tx/backends/device/tree_sum_task.hpp>
#include <tx/dist/communicator.hpp>
#include <tx/run/bytes.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace tx::dist {

// Of a library's end of a group of ranks. Bytes are of device memory; an error is a tx::error, which gets the names of the collective and of the rank.
//   fresh(), Library(key, ranks, rank)  what rank 0 tells the others, by which they meet
//   begin(), end()                      of a group: what is sent and received in between is one exchange, in any order
//   all_gather(from, to, bytes)         of equal parts; `from` may be this rank's part of `to`
//   all_reduce(from, to, count)         sums in the library's own order; `from` may be `to`
//   reduce_scatter(from, to, count)     the same of parts of `count` elements
//   check(), abort()                    throws where something is wrong by now; gives up what hangs
template <class L>
concept device_library = requires(L& l, std::byte* p, std::byte const* from, std::size_t n) {
  { L::fresh() } -> std::same_as<typename L::key>;
  l.begin();
  l.end();
  l.send(from, n, 0);
  l.receive(p, n, 0);
  l.all_gather(from, p, n);
  l.broadcast(p, n, 0);
  l.check();
  l.abort();
};

enum class sum_order { of_tree, of_library };

struct device_ranks_options {
  sum_order sums = sum_order::of_tree;
  std::int64_t room = 64 << 20;  // bytes on the device for what other ranks bring to a sum, of all of them together
  std::chrono::milliseconds patience = std::chrono::minutes(30);  // with a run, which takes no longer
};

template <class Backend, device_library Library, communicator Host>
class device_ranks {
  using device = typename Backend::device;

 public:
  using backend = Backend;  // whose memory this reaches

  // Waits until all ranks are there.
  explicit device_ranks(Host& host, device_ranks_options options = {})
      : host_(host), options_(options), library_(shared_key(host), host.size(), host.rank()), room_(host.size() > 1 ? options.room : std::int64_t{exec::alignment}) {
    if (host.size() > 1 && options.room < host.size() * std::int64_t{sizeof(double)} * 1024)
      throw value_error("device_ranks: room for " + std::to_string(options.room) + " bytes. FIX: 8,192 for each rank, or more");
  }
  device_ranks(device_ranks const&) = delete;
  device_ranks& operator=(device_ranks const&) = delete;
  ~device_ranks() {
    if (std::uncaught_exceptions() > exceptions_) library_.abort();  // others may never come
  }

  int rank() const { return host_.rank(); }
  int size() const { return host_.size(); }
  Host& host() { return host_; }
  // Meets over a group of the library's own.
  std::shared_ptr<device_ranks> subset(rank_subset const& those) {
    struct with_host {
      std::shared_ptr<Host> host;
      device_ranks devices;
      with_host(std::shared_ptr<Host> of, device_ranks_options const& options) : host(std::move(of)), devices(*host, options) {}
    };
    auto const some = std::make_shared<with_host>(host_.subset(those), options_);
    return {some, &some->devices};
  }

  // On a stream of its own, in order with all that is asked for before and behind it.
  template <class F>
  void begin(int number, F const& f)
    requires requires { device::beside(number, [] {}); }
  {
    device::beside(number, [&] {
      beside_ = true;
      struct back {
        bool& of;
        ~back() { of = false; }
      } const restored{beside_};
      f(*this);
    });
    last_begun_ = number;
  }
  void finish(int number)
    requires requires { device::join(number); }
  {
    device::join(number);
    if (number == last_begun_) last_begun_ = none;
  }

  template <class T>
  void all_reduce(std::span<T const> from, std::span<T> to) {
    named("all_reduce", [&] {
      must(from.size() == to.size(), "from and to differ in length");
      if (to.empty()) return;
      if (options_.sums == sum_order::of_library) return library_.all_reduce(from.data(), to.data(), to.size());
      if (size() == 1) return copy(from, to);
      auto const count = static_cast<std::int64_t>(to.size());
      if (count * std::int64_t{sizeof(T)} * size() <= std::min(at_once, options_.room)) return sum_at_once(from, to);
      auto const begin = [&](int r) { return count * r / size(); };
      reduce(from.data(), begin, to.data() + begin(rank()), [&](auto const& piece) {
        range const own = piece(rank());
        exchange([&](int r) { send(r, to.data() + own.first, own.count); }, [&](int r) { receive(r, to.data() + piece(r).first, piece(r).count); });
      });
    });
  }
  template <class T>
  void reduce_scatter(std::span<T const> from, std::span<T> to) {
    named("reduce_scatter", [&] {
      must(from.size() <= to.size() * static_cast<std::size_t>(size()), "from may be at most size() times as long as to");
      auto const each = static_cast<std::int64_t>(to.size()), count = static_cast<std::int64_t>(from.size());
      bool const equal = count > 0 && count == each * size();
      if (equal && options_.sums == sum_order::of_library) return library_.reduce_scatter(from.data(), to.data(), to.size());
      reduce(from.data(), [&](int r) { return std::min(count, each * r); }, to.data(), [](auto const&) {});
      clear(to.subspan(static_cast<std::size_t>(portion_of(count, each, rank()).count)));
    });
  }
  // As dist/adaptive_sum.hpp has it; inner products are added up in another order than on hosts. What a rank has of all ranks' elements lies in the room at once.
  template <class T>
  void adaptive_sum(std::span<T const> from, std::span<T> to, std::int64_t tensors) {
    named("adaptive_sum", [&] {
      must(from.size() == to.size(), "from and to differ in length");
      if (size() == 1 || to.empty()) return copy(from, to);
      auto const count = static_cast<std::int64_t>(to.size()), each = (count + size() - 1) / size();
      auto const part = [&](int r) { return portion_of(count, each, r); };
      int const slices = backends::device::adaptive_slices(std::min(each, count / tensors));
      std::int64_t const numbers = size() / 2 * tensors * slices * 3;  // of the level with the most pairs
      std::int64_t const of_parts = exec::aligned(each * size() * std::int64_t{sizeof(T)}), wanted = of_parts + numbers * (size() + 1) * std::int64_t{sizeof(double)};
      if (wanted > options_.room) throw error("a tensor's parts take " + std::to_string(wanted) + " bytes, and there is room for " + std::to_string(options_.room) + ". FIX: device_ranks_options::room");
      T* const parts = reinterpret_cast<T*>(room_.data());
      double* const own = reinterpret_cast<double*>(room_.data() + of_parts);
      exchange([&](int r) { send(r, from.data() + part(r).first, part(r).count); }, [&](int r) { receive(r, parts + each * r, part(rank()).count); });
      auto const mine = static_cast<std::size_t>(part(rank()).count);
      copy(from.subspan(static_cast<std::size_t>(part(rank()).first), mine), std::span<T>(parts + each * rank(), mine));
      for (std::int64_t rows_apart = 1; rows_apart < size(); rows_apart *= 2) {
        std::int64_t const pairs = (size() + rows_apart - 1) / (2 * rows_apart), blocks = pairs * tensors * slices;  // the last rank may have nobody beside it
        backends::device::adaptive_sum_arguments a{bytes_of(parts), own, each, part(rank()).count, part(rank()).first, count / tensors, tensors, pairs, rows_apart, size(), slices};
        launch<backends::device::adaptive_products_task<dtype_v<T>>>(blocks, a);
        a.products = own + numbers;
        library_.all_gather(bytes_of(own), bytes_of(a.products), static_cast<std::size_t>(blocks) * 3 * sizeof(double));
        launch<backends::device::adaptive_combination_task<dtype_v<T>>>(blocks, a);
      }
      copy(std::span<T const>(parts, mine), to.subspan(static_cast<std::size_t>(part(rank()).first), mine));
      exchange([&](int r) { send(r, parts, part(rank()).count); }, [&](int r) { receive(r, to.data() + part(r).first, part(r).count); });
    });
  }
  template <class T>
  void all_gather(std::span<T const> from, std::span<T> to) {
    named("all_gather", [&] {
      must(to.size() <= from.size() * static_cast<std::size_t>(size()), "to may be at most size() times as long as from");
      auto const part = [&](int r) { return portion_of(static_cast<std::int64_t>(to.size()), static_cast<std::int64_t>(from.size()), r); };
      if (!to.empty() && to.size() == from.size() * static_cast<std::size_t>(size()))
        return library_.all_gather(bytes_of(from.data()), bytes_of(to.data()), from.size_bytes());
      T* const here = to.data() + part(rank()).first;
      auto const own = static_cast<std::size_t>(part(rank()).count);
      copy(from.first(own), std::span<T>(here, own));
      exchange([&](int r) { send(r, here, part(rank()).count); }, [&](int r) { receive(r, to.data() + part(r).first, part(r).count); });
    });
  }
  template <class T>
  void all_to_all(std::span<T const> from, std::span<T> to) {
    named("all_to_all", [&] {
      must(from.size() == to.size() && from.size() % static_cast<std::size_t>(size()) == 0, "from and to have to be of one length, a multiple of size()");
      auto const each = static_cast<std::int64_t>(from.size()) / size();
      auto const own = static_cast<std::size_t>(each * rank()), count = static_cast<std::size_t>(each);
      copy(from.subspan(own, count), to.subspan(own, count));
      exchange([&](int r) { send(r, from.data() + each * r, each); }, [&](int r) { receive(r, to.data() + each * r, each); });
    });
  }
  template <class T>
  void swap_with(std::span<T const> from, std::span<T> to, int other) {
    named("swap_with", [&] {
      must(other >= 0 && other < size() && other != rank(), "there is no such other rank");
      must(from.size() == to.size(), "from and to differ in length");
      exchange([&](int r) { if (r == other) send(r, from.data(), static_cast<std::int64_t>(from.size())); },
               [&](int r) { if (r == other) receive(r, to.data(), static_cast<std::int64_t>(to.size())); });
    });
  }
  template <class T>
  void broadcast(std::span<T> values, int root) {
    named("broadcast", [&] {
      must(root >= 0 && root < size(), "there is no such root");
      if (!values.empty()) library_.broadcast(bytes_of(values.data()), values.size_bytes(), root);
    });
  }
  void barrier() {
    await();
    host_.barrier();
  }

  // Within the rank, in order with all else.
  template <class T>
  void copy(std::span<T const> from, std::span<T> to) {
    if (!to.empty() && from.data() != to.data()) device::copy(bytes_of(to.data()), bytes_of(from.data()), static_cast<std::int64_t>(to.size_bytes()));
  }
  template <class T>
  void clear(std::span<T> to) {
    if (!to.empty()) device::clear(bytes_of(to.data()), static_cast<std::int64_t>(to.size_bytes()));
  }

  // What is started from now on comes behind what was begun.
  void join_begun() {
    if constexpr (requires { device::join(0); })
      if (!beside_ && last_begun_ != none) device::join(last_begun_);
  }
  // A rank_error where another rank is known to have failed.
  void check() {
    named("a run", [&] {
      library_.check();
      if constexpr (requires { host_.check(); }) host_.check();
    });
  }
  // The ranks do not meet any more: what hangs ends.
  void give_up() { library_.abort(); }
  // Of a run that has failed: what it has begun and nobody has finished comes before all that is started from now on.
  void abandon() {
    if constexpr (requires { device::join(0); }) {
      try {
        if (last_begun_ != none) device::join(last_begun_);
      } catch (error const&) {  // begun within a captured run, which is gone
      }
      last_begun_ = none;
    }
  }
  // Until all that was started is done. A rank_error where another rank has failed, or where nothing ends within the patience; the ranks do not meet any more then.
  void await() {
    await([&] { check(); });
  }
  // failed: throws where something has failed that what was started may wait for.
  template <class F>
  void await(F const& failed) {
    auto const since = std::chrono::steady_clock::now();
    try {
      for (unsigned turn = 0; !device::done(); ++turn) {
        failed();
        if (std::chrono::steady_clock::now() - since > options_.patience)
          throw rank_error("a run on rank " + std::to_string(rank()) + ": it has not ended within " + std::to_string(options_.patience.count() / 1000) +
                           " s: another rank hangs, or runs another program. FIX: device_ranks_options::patience, where runs are that long");
        if (turn < 1000) std::this_thread::yield();
        else std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    } catch (...) {
      give_up();
      throw;
    }
  }

 private:
  static constexpr std::int64_t at_once = 1 << 20;  // bytes of all ranks, up to which each adds all

  struct range {
    std::int64_t first, count;
  };

  static void must(bool right, char const* what) {
    if (!right) throw error(what);
  }
  template <class F>
  void named(char const* what, F const& f) {
    try {
      join_begun();  // they share the library and the room
      f();
    } catch (error const& e) {
      throw rank_error(std::string(what) + " on rank " + std::to_string(rank()) + ": " + e.what());
    }
  }
  static typename Library::key shared_key(Host& host) {
    typename Library::key key{};
    if (host.rank() == 0) key = Library::fresh();
    host.broadcast(std::span<unsigned char>(reinterpret_cast<unsigned char*>(&key), sizeof key), 0);
    return key;
  }

  template <class T>
  static std::byte* bytes_of(T* p) {
    return reinterpret_cast<std::byte*>(p);
  }
  template <class T>
  static std::byte const* bytes_of(T const* p) {
    return reinterpret_cast<std::byte const*>(p);
  }
  template <class Send, class Receive>
  void exchange(Send const& send_to, Receive const& receive_from) {
    library_.begin();
    try {
      for (int k = 1; k < size(); ++k) {
        send_to((rank() + k) % size());
        receive_from((rank() - k + size()) % size());
      }
    } catch (...) {
      try {
        library_.end();  // a group that stays open would take in all that comes later
      } catch (...) {
      }
      throw;
    }
    library_.end();
  }
  template <class T>
  void send(int to, T const* values, std::int64_t count) {
    if (count > 0) library_.send(bytes_of(values), static_cast<std::size_t>(count) * sizeof(T), to);
  }
  template <class T>
  void receive(int from, T* values, std::int64_t count) {
    if (count > 0) library_.receive(bytes_of(values), static_cast<std::size_t>(count) * sizeof(T), from);
  }

  template <class T>
  void sum_at_once(std::span<T const> from, std::span<T> to) {
    T* const parts = reinterpret_cast<T*>(room_.data());
    auto const count = static_cast<std::int64_t>(to.size());
    exchange([&](int r) { send(r, from.data(), count); }, [&](int r) { receive(r, parts + count * r, count); });
    add(from.data(), parts, count, count, to.data());
  }
  // The sum of this rank's elements, `from + begin(rank())` on, at `own`, piece by piece; hand_on(piece) is called when one is there.
  template <class T, class Begin, class HandOn>
  void reduce(T const* from, Begin const& begin, T* own, HandOn const& hand_on) {
    std::int64_t const most = options_.room / (size() * std::int64_t{sizeof(T)});
    T* const parts = reinterpret_cast<T*>(room_.data());
    std::int64_t longest = 0;
    for (int r = 0; r < size(); ++r) longest = std::max(longest, begin(r + 1) - begin(r));
    for (std::int64_t done = 0; done < longest; done += most) {
      auto const piece = [&](int r) {
        std::int64_t const first = begin(r) + done;
        return range{first, std::clamp<std::int64_t>(begin(r + 1) - first, 0, most)};
      };
      range const mine = piece(rank());
      exchange([&](int r) { send(r, from + piece(r).first, piece(r).count); }, [&](int r) { receive(r, parts + r * most, mine.count); });
      add(from + mine.first, parts, most, mine.count, own + done);
      hand_on(piece);
    }
  }
  template <class T>
  void add(T const* own, T const* parts, std::int64_t apart, std::int64_t count, T* to) {
    using task = backends::device::tree_sum_task<dtype_v<T>>;
    if (count == 0) return;
    std::int64_t const blocks = std::min<std::int64_t>((count + task::threads - 1) / task::threads, backends::device::most_blocks);
    device::template launch<task>(static_cast<int>(blocks), task::threads, 0, {bytes_of(to), bytes_of(parts), bytes_of(own), apart, count, size(), rank()});
  }

  template <class Task>
  static void launch(std::int64_t blocks, typename Task::arguments const& a) {
    if (blocks > 0 && a.each > 0) device::template launch<Task>(static_cast<int>(blocks), Task::threads, Task::shared_bytes, a);
  }

  Host& host_;
  device_ranks_options const options_;
  Library library_;
  exec::bytes<Backend> room_;
  static constexpr int none = -1;
  int last_begun_ = none;  // that was not finished
  bool beside_ = false;    // is it being begun?
  int const exceptions_ = std::uncaught_exceptions();
};

}  // namespace tx::dist
