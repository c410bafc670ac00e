// Texts whose words have labels: a line is word<TAB>label, an empty line stands between two texts, as in CoNLL's files.
#pragma once

#include "engine.hpp"

#include <tx/text/labelled_texts.hpp>
#include <tx/text/tokenizer.hpp>

namespace bert {

struct tagged_text {
  std::vector<std::string> words, tags;  // of as many words; without tags where a file has none
  std::size_t line = 0;                  // of the first word
};

// With labels::none a line is a word. Throws format_error naming `source` and the line for what is not UTF-8, for other columns, empty words and labels, and for
// a file without words.
std::vector<tagged_text> parse_tagged_texts(std::string_view text, std::string const& source, tx::text::labels wanted = tx::text::labels::required);
std::vector<tagged_text> read_tagged_texts(std::string const& file, tx::text::labels wanted = tx::text::labels::required);

// The distinct tags, in order: those of all texts.
std::vector<std::string> tag_names(std::span<tagged_text const> texts);

struct tagged_dataset {
  std::vector<tx::text::encoding> texts;
  std::vector<std::vector<std::int32_t>> labels;  // of each token: the number of its tag where it is the first of a word, else no_label
  std::vector<std::vector<int>> first;            // of each word: its first token, -1 where it has none, as words beyond the length have
};
// Texts of at most `longest` tokens, words with a space between them. Throws format_error naming the line for a tag that is none of `names`.
tagged_dataset encode_words(std::span<tagged_text const> texts, std::string const& source, tx::text::tokenizer const& words, std::span<std::string const> names, int longest);
// Throws format_error, naming the line, for a word that is beyond the length; what is learned from may be cut, what is asked for may not.
void check_whole(tagged_dataset const& data, std::span<tagged_text const> texts, std::string const& source, int longest);

}  // namespace bert
