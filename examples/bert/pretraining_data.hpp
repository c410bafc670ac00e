// Pairs of texts and masked words, as BERT is trained from nothing by (Devlin et al., arXiv 1810.04805, appendix A.1 and A.2).
#pragma once

#include <tx/text/tokenizer.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bert {

// Sentences of ids by document. Documents are parted by empty lines; a line is a sentence.
using document = std::vector<std::vector<std::int32_t>>;
// Throws format_error naming the line for what is not UTF-8, and for a file without two documents, between which pairs are drawn.
std::vector<document> read_documents(std::span<std::string const> files, tx::text::tokenizer const& words);

struct pair_options {
  int longest = 128;             // tokens of a pair, the three around it too
  double short_share = 0.1;      // of pairs that are to be shorter, by any length
  double other_share = 0.5;      // of pairs whose second text is one of another document
};
struct pair_example {
  std::vector<std::int32_t> ids, types;  // [CLS] a [SEP] b [SEP]
  bool other = false;                    // b is of another document
};
// One pass over all documents: pairs in a drawn order, a function of the documents and the seed alone.
std::vector<pair_example> drawn_pairs(std::span<document const> documents, pair_options const& o, std::int32_t cls, std::int32_t sep, std::uint64_t seed);

struct mask_options {
  double share = 0.15;  // of a text's tokens
  int most = 20;        // of a text
  bool whole_words = false;
  std::int32_t mask = 0;               // the id of [MASK]
  std::int32_t vocabulary = 0;         // drawn ids are below it
  std::span<bool const> kept{};        // ids that are never masked: [CLS], [SEP], ...; by id
  std::span<bool const> continues{};   // ids that go on with a word ("##ing"); by id
};
struct masked_text {
  std::vector<std::int32_t> ids;             // of which 8 of 10 masked ones are [MASK], one is drawn, one is as it was
  std::vector<std::int32_t> places, words;   // of the masked ones, in order, and what they were
};
masked_text masked(std::span<std::int32_t const> ids, mask_options const& o, std::uint64_t seed);

}  // namespace bert
