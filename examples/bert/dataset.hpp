// Labelled texts as a model sees them: ids, and numbers of labels.
#pragma once

#include "../command_line/options.hpp"
#include "engine.hpp"

#include <tx/text/labelled_texts.hpp>
#include <tx/text/tokenizer.hpp>

namespace bert {

inline command_line::option const fewer_ids_option{"fewer-ids", "", "the tokenizer may have far fewer ids than the model's table has rows"};
// Throws format_error where a tokenizer has ids that a table of so many rows lacks or, unless it may have few, far fewer than a table of them needs.
void check_table(std::string const& folder, std::size_t ids, std::size_t rows, bool may_be_few);
// Throws that, and where config.json has another id for padding than the tokenizer.
tx::text::tokenizer load_tokenizer(std::string const& folder, command_line::options const& given);

// Names of labels in the order of their numbers: those that are numbers 0, 1, ... by number, others by name. A regression has none.
std::vector<std::string> label_names(std::span<tx::text::labelled_text const> texts);

// "; 'perhaps' is in line 17 alone", of the label that the fewest texts have.
std::string rarest_label(std::span<tx::text::labelled_text const> texts);

struct dataset {
  std::vector<tx::text::encoding> texts;
  std::vector<float> targets;  // numbers of labels, or numbers
};
// Views of them, for programs.
std::vector<coded_text> coded_texts(std::span<tx::text::encoding const> texts);

// Texts of at most `longest` tokens, whatever their labels, a line of `source` each. Throws format_error naming the line of a text that has no token of its own.
std::vector<tx::text::encoding> encode(std::span<tx::text::labelled_text const> texts, std::string const& source, tx::text::tokenizer const& words, int longest);

// Says on standard error how many of them were cut, and where a file whose lines may be pairs has some: all of whose first texts are `labels`, perhaps.
void say_cut(std::span<tx::text::encoding const> texts, std::string const& source, int longest);
void say_pairs(std::span<tx::text::labelled_text const> texts, std::string const& source, std::span<std::string const> labels);

// Those, and the numbers of their labels. Throws format_error naming the line for a label that is none of `labels`, or no number where there are none.
dataset encode(std::span<tx::text::labelled_text const> texts, std::string const& source, tx::text::tokenizer const& words, std::span<std::string const> labels,
               int longest);

}  // namespace bert
