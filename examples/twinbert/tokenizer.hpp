// Texts to ids, by the vocabulary of a model's folder.
#pragma once

#include "engine.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twinbert {

// The words of a text, `slots` ids each, without padding and special tokens.
using words = std::vector<std::int32_t>;

class tokenizer {
 public:
  // Learned from texts; at most `size` rows of the table of words.
  static tokenizer learn(description const& d, std::span<std::string const> texts, int size);
  // The vocabulary of a folder; throws if it has more entries than the model has rows.
  static tokenizer load(description const& d, std::string const& folder);
  void save(std::string const& folder) const;
  ~tokenizer();
  tokenizer(tokenizer&&) noexcept;

  std::size_t size() const;
  // At most `most` words.
  words encode(std::string_view text, std::size_t most) const;
  // Fills ids [room, slots] with a text's words, as many as there is room for, special tokens and padding. Returns how
  // many of the places hold words or special tokens.
  std::size_t fill(words const& text, std::span<std::int32_t> ids) const;

 private:
  struct vocabulary;
  tokenizer(description const& d, std::unique_ptr<vocabulary> v);

  description const* model_;
  std::unique_ptr<vocabulary> vocabulary_;
};

// The vocabulary's file in a folder.
std::string vocabulary_file(description const& d);

}  // namespace twinbert
