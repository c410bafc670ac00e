// single: the communicator of a program that runs alone.
#pragma once

#include <tx/dist/communicator.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace tx::dist {

class single {
 public:
  static int rank() { return 0; }
  static int size() { return 1; }
  static std::shared_ptr<single> subset(rank_subset const& those) {
    detail::check_subset(those, 0, 1);
    return std::make_shared<single>();
  }
  template <class T>
  static void all_reduce(std::span<T const> from, std::span<T> to) {
    copy(from, to, "all_reduce");
  }
  template <class T>
  static void reduce_scatter(std::span<T const> from, std::span<T> to) {
    if (from.size() > to.size()) throw rank_error("reduce_scatter: from is longer than to");
    copy(from, to.first(from.size()), "reduce_scatter");
    std::fill(to.begin() + static_cast<std::ptrdiff_t>(from.size()), to.end(), T{});
  }
  template <class T>
  static void all_gather(std::span<T const> from, std::span<T> to) {
    if (to.size() > from.size()) throw rank_error("all_gather: to is longer than from");
    copy(from.first(to.size()), to, "all_gather");
  }
  template <class T>
  static void all_to_all(std::span<T const> from, std::span<T> to) {
    copy(from, to, "all_to_all");
  }
  template <class T>
  static void swap_with(std::span<T const>, std::span<T>, int) {
    throw rank_error("swap_with: there is no other rank");
  }
  template <class T>
  static void broadcast(std::span<T>, int root) {
    if (root != 0) throw rank_error("broadcast: there is no such root");
  }
  static void barrier() {}

 private:
  template <class T>
  static void copy(std::span<T const> from, std::span<T> to, char const* what) {
    if (from.size() != to.size()) throw rank_error(std::string(what) + ": from and to differ in length");
    if (!to.empty() && from.data() != to.data()) std::memcpy(to.data(), from.data(), to.size_bytes());
  }
};
static_assert(communicator<single>);

}  // namespace tx::dist
