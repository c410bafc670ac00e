// Which strings of a set begin a text, a step for each byte: a trie in one array.
// (J. Aoe, An Efficient Digital Search Algorithm by Using a Double-Array Structure, IEEE Trans. Software Engineering 15, 1989.)
#pragma once

#include <tx/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tx::text::detail {

// A node's children lie where its base and their byte say, and know whose they are.
class byte_automaton {
 public:
  static constexpr std::uint32_t root = 0;

  byte_automaton() : units_(257) {}  // of no string
  // Strings and their ids, which are not below 0; of equal strings the last counts, and an empty one is none.
  explicit byte_automaton(std::vector<std::pair<std::string_view, std::int32_t>> strings) : byte_automaton() {
    std::ranges::stable_sort(strings, {}, [](auto const& s) { return s.first; });
    taken_.assign(units_.size(), 0);
    taken_[root] = 1;
    std::vector<level> open{{root, 0, strings.size(), 0}};
    std::vector<level> children;
    while (!open.empty()) {
      level const here = open.back();
      open.pop_back();
      children.clear();
      std::size_t at = here.first;
      for (; at < here.last && strings[at].first.size() == here.depth; ++at)
        if (here.depth > 0) units_[here.node].id = strings[at].second;
      while (at < here.last) {
        std::size_t const first = at;
        char const label = strings[at].first[here.depth];
        while (at < here.last && strings[at].first[here.depth] == label) ++at;
        children.push_back({static_cast<unsigned char>(label), first, at, here.depth + 1});
      }
      if (children.empty()) continue;
      std::uint32_t const base = place(children);
      units_[here.node].base = base;
      for (level& c : children) {
        c.node += base;
        units_[c.node].owner = here.node;
        taken_[c.node] = 1;
        open.push_back(c);
      }
    }
    taken_ = {};
  }

  // False where no string goes on so; `node` is then of no use any more.
  bool step(std::uint32_t& node, char byte) const {
    std::uint32_t const next = units_[node].base + static_cast<unsigned char>(byte);
    if (units_[next].owner != node) return false;
    node = next;
    return true;
  }
  // Of the string that ends here; -1: none does.
  std::int32_t id(std::uint32_t node) const { return units_[node].id; }

  std::optional<std::int32_t> find(std::string_view text) const {
    std::uint32_t node = root;
    for (char const c : text)
      if (!step(node, c)) return std::nullopt;
    return node == root || id(node) < 0 ? std::nullopt : std::optional(id(node));
  }

 private:
  static constexpr std::uint32_t nobody = UINT32_MAX;

  struct unit {
    std::uint32_t base = 1, owner = nobody;
    std::int32_t id = -1;
  };
  // A node, which of the sorted strings go through it, and how many bytes it is of. For a child that has no place yet, node is its byte.
  struct level {
    std::uint32_t node;
    std::size_t first, last, depth;
  };

  // A base at which all children have room. Of what is looked at for one node, what lies before the last few hundred places is left as it is, so that the time
  // it takes is in proportion to the strings.
  std::uint32_t place(std::vector<level> const& children) {
    std::size_t const low = children.front().node;
    std::size_t looked = 0;
    for (std::size_t at = std::max(from_, low);; ++at) {
      if (at + 512 > taken_.size()) {
        taken_.resize(taken_.size() * 2 + 1024, 0);
        units_.resize(taken_.size());
        if (units_.size() >= nobody) throw value_error("the vocabulary is too large");
      }
      if (++looked % 256 == 0) from_ = at;
      if (taken_[at] != 0) continue;
      if (std::ranges::all_of(children, [&](level const& c) { return taken_[at - low + c.node] == 0; })) return static_cast<std::uint32_t>(at - low);
    }
  }

  std::vector<unit> units_;  // 256 more than the largest base
  std::vector<char> taken_;  // while it is made: 1 where a node lies
  std::size_t from_ = 1;     // where the search for room begins
};

}  // namespace tx::text::detail
