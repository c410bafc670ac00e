// hierarchical: a communicator whose sums cross from machine to machine as seldom as they can. Neighbours on a machine add up what they have, each a part; ranks with the same
// part add those up over the machines; neighbours hand on the sums. Of n ranks on each machine one sends an n-th of the bytes to others that it would send otherwise.
//
//   tx::dist::ranks all(connections);
//   tx::dist::hierarchical machines(all, place.local_size);
//   tx::executor<step, tx::distributed<tx::cpu, decltype(machines)>> run{tx::seed(0), machines};
//
// Where n is a power of two, neighbours are a subtree of tree_sum.hpp, so sums have its order and the same bits. All else goes over all ranks, as do sums of halves, which are
// rounded once, and short ones. Of devices (dist/device/nccl.hpp) it is one too. Errors: a value_error where machines have unlike numbers of ranks, or one that is no power of two.
#pragma once

#include <tx/dist/communicator.hpp>
#include <tx/dist/tree_sum.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace tx::dist {

namespace detail {
// Whose memory a communicator of devices reaches.
template <class Communicator>
struct backend_of {};
template <class Communicator>
  requires requires { typename Communicator::backend; }
struct backend_of<Communicator> {
  using backend = typename Communicator::backend;
};
}  // namespace detail

template <class Communicator>
class hierarchical : public detail::backend_of<Communicator> {
 public:
  // of_machine: ranks on each, which are neighbours. `all` must outlive this.
  hierarchical(Communicator& all, int of_machine) : all_(all), grid_{all.size(), checked(of_machine, all.size())} {
    if (grid_.products == 1 || grid_.batches() == 1) return;  // there is one level alone
    neighbours_ = all.subset(grid_.subset(across::products, all.rank()));
    machines_ = all.subset(grid_.subset(across::batches, all.rank()));
  }

  int rank() const { return all_.rank(); }
  int size() const { return all_.size(); }

  template <class T>
  void all_reduce(std::span<T const> from, std::span<T> to) {
    if (neighbours_ == nullptr || !std::is_same_v<T, sum_type<T>> || to.size_bytes() < short_sum || from.size() != to.size()) return all_.all_reduce(from, to);
    if constexpr (requires { all_.join_begun(); }) all_.join_begun();  // neighbours and machines know nothing of it
    auto const n = static_cast<std::size_t>(grid_.products), each = to.size() / n, whole = each * n;
    std::span<T> const own = to.subspan(each * static_cast<std::size_t>(neighbours_->rank()), each);
    neighbours_->reduce_scatter(from.first(whole), own);
    machines_->all_reduce(std::span<T const>(own), own);
    neighbours_->all_gather(std::span<T const>(own), to.first(whole));
    if (whole < to.size()) all_.all_reduce(from.subspan(whole), to.subspan(whole));
  }
  template <class T>
  void reduce_scatter(std::span<T const> from, std::span<T> to) {
    all_.reduce_scatter(from, to);
  }
  template <class T>
  void all_gather(std::span<T const> from, std::span<T> to) {
    all_.all_gather(from, to);
  }
  template <class T>
  void all_to_all(std::span<T const> from, std::span<T> to) {
    all_.all_to_all(from, to);
  }
  template <class T>
  void swap_with(std::span<T const> from, std::span<T> to, int other) {
    all_.swap_with(from, to, other);
  }
  template <class T>
  void broadcast(std::span<T> x, int root) {
    all_.broadcast(x, root);
  }
  void barrier() { all_.barrier(); }

  // As those of the communicator, where it has them.
  auto& host()
    requires requires(Communicator& c) { c.host(); }
  {
    return all_.host();
  }
  template <class T>
  void copy(std::span<T const> from, std::span<T> to)
    requires requires(Communicator& c) { c.copy(from, to); }
  {
    all_.copy(from, to);
  }
  template <class T>
  void clear(std::span<T> to)
    requires requires(Communicator& c) { c.clear(to); }
  {
    all_.clear(to);
  }
  template <class F>
  void begin(int number, F const& f)
    requires requires(Communicator& c) { c.begin(number, [](Communicator&) {}); }
  {
    all_.begin(number, [&](Communicator&) { f(*this); });
  }
  void finish(int number)
    requires requires(Communicator& c) { c.finish(number); }
  {
    all_.finish(number);
  }
  void await()
    requires requires(Communicator& c) { c.await([] {}); }
  {
    await([&] { check(); });
  }
  template <class F>
  void await(F const& failed)
    requires requires(Communicator& c) { c.await(failed); }
  {
    try {
      all_.await(failed);
    } catch (...) {
      give_up();
      throw;
    }
  }
  void give_up()
    requires requires(Communicator& c) { c.give_up(); }
  {
    for_each([](Communicator& some) { some.give_up(); });
  }
  void give_up(std::string const& why)
    requires requires(Communicator& c) { c.give_up(why); }
  {
    for_each([&](Communicator& some) { some.give_up(why); });
  }
  void abandon()
    requires requires(Communicator& c) { c.abandon(); }
  {
    for_each([](Communicator& some) { some.abandon(); });
  }

  double seconds() const
    requires requires(Communicator const& c) { c.seconds(); }
  {
    return all_.seconds();
  }
  void check()
    requires requires(Communicator& c) { c.check(); }
  {
    for_each([](Communicator& some) { some.check(); });
  }

 private:
  template <class F>
  void for_each(F const& f) {
    f(all_);
    for (auto const& some : {neighbours_, machines_})
      if (some != nullptr) f(*some);
  }

  static constexpr std::size_t short_sum = 64 * 1024;  // bytes up to which three collectives take longer than one

  static int checked(int of_machine, int ranks) {
    bool const power = of_machine >= 1 && (of_machine & (of_machine - 1)) == 0;
    if (power && ranks % of_machine == 0) return of_machine;
    throw value_error("hierarchical: " + std::to_string(of_machine) + " of " + std::to_string(ranks) + " ranks on each machine. FIX: 1, 2, 4, ... on each, as many on every machine, or the communicator itself");
  }

  Communicator& all_;
  rank_grid grid_;  // a machine is a row
  std::shared_ptr<Communicator> neighbours_, machines_;
};

}  // namespace tx::dist
