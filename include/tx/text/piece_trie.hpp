// Longest-prefix search over byte strings.
#pragma once

#include <tx/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tx::text::detail {

// Tries that share one hash table of edges: a step costs one probe, and a vocabulary of 30,000 pieces a few MB.
class piece_trie {
 public:
  struct match {
    std::int32_t id = -1;    // -1: no string of the trie begins the text
    std::size_t length = 0;  // bytes
  };

  explicit piece_trie(std::uint32_t roots) : ids_(roots, -1), slots_(1024) {}

  // False if the string is there already.
  bool insert(std::uint32_t root, std::string_view text, std::int32_t id) {
    std::uint32_t node = root;
    for (char const c : text) {
      slot& s = at(node, c);
      if (s.key == 0) {
        if (ids_.size() >= (std::size_t{1} << 31)) throw value_error("the vocabulary is too large");
        s = {key(node, c), static_cast<std::uint32_t>(ids_.size())};
        node = s.child;
        ids_.push_back(-1);
        if (ids_.size() * 2 > slots_.size()) grow();
      } else {
        node = s.child;
      }
    }
    if (ids_[node] >= 0) return false;
    ids_[node] = id;
    return true;
  }

  match longest(std::uint32_t root, std::string_view text) const {
    match best;
    std::uint32_t node = root;
    for (std::size_t i = 0; i < text.size(); ++i) {
      slot const& s = at(node, text[i]);
      if (s.key == 0) break;
      node = s.child;
      if (ids_[node] >= 0) best = {ids_[node], i + 1};
    }
    return best;
  }

  std::optional<std::int32_t> find(std::uint32_t root, std::string_view text) const {
    match const m = longest(root, text);
    if (m.id < 0 || m.length != text.size()) return std::nullopt;
    return m.id;
  }

 private:
  struct slot {
    std::uint64_t key = 0;  // 0: free
    std::uint32_t child = 0;
  };

  static std::uint64_t key(std::uint32_t node, char c) {
    return ((std::uint64_t{node} << 8) | static_cast<unsigned char>(c)) + 1;
  }
  std::size_t place(std::uint64_t k) const {
    std::size_t const mask = slots_.size() - 1;
    std::size_t i = static_cast<std::size_t>((k * 0x9E3779B97F4A7C15u) >> 32) & mask;
    while (slots_[i].key != 0 && slots_[i].key != k) i = (i + 1) & mask;
    return i;
  }
  slot& at(std::uint32_t node, char c) { return slots_[place(key(node, c))]; }
  slot const& at(std::uint32_t node, char c) const { return slots_[place(key(node, c))]; }

  void grow() {
    std::vector<slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (slot const& s : old) {
      if (s.key != 0) slots_[place(s.key)] = s;
    }
  }

  std::vector<std::int32_t> ids_;  // by node; -1: no string ends there
  std::vector<slot> slots_;        // a power of two of them, at most half full
};

}  // namespace tx::text::detail
