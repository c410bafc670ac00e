// Questions with the texts in which their answers stand, as in SQuAD (Rajpurkar et al., arXiv 1606.05250).
#pragma once

#include "engine.hpp"

#include <tx/text/tokenizer.hpp>

#include <optional>

namespace bert {

struct question {
  std::string id, text, context;
  std::vector<std::string> answers;  // all that are right; none: the context has no answer
  std::size_t begin = 0;             // of the first answer in the context, in bytes
  std::string where{};               // the file and line it stands in
};

// A JSON object a line: "question", "context", perhaps "id" (else the line's number), "title", and "answers": {"text": [...], "answer_start": [...]}, the
// places counted in characters as Python counts them. Throws format_error naming `source` and the line.
std::vector<question> parse_questions(std::string_view text, std::string const& source, bool answered);
std::vector<question> read_questions(std::string const& file, bool answered);

struct coded_question {
  tx::text::encoding text;        // the question, and its context or a part of it
  int context = 0, end = 0;       // tokens of the context, [context, end)
  std::int32_t first = 0, last = 0;  // tokens of the answer; 0, the text's first, where there is none, or it does not lie within the part as a whole
};
// In at most `longest` tokens. A longer context is read in parts, of which each has 128 tokens of the one before, or half of its own where those are fewer: the
// windows that transformers makes of overflowing tokens at such a stride. Throws format_error naming the question's line where it leaves no room for a context, or
// so little of it that all parts together would have more than 64 times the tokens that there are.
std::vector<coded_question> encode(question const& q, tx::text::tokenizer const& words, int longest);

// The answer that logits tell, [tokens, 2] of one part after the other: the span of at most 30 tokens of a part of the context whose first and last token have most
// together; "" where the text's first token has more in every part and no answer is allowed.
std::string told_answer(question const& q, std::span<coded_question const> parts, std::span<float const> logits, bool must_answer);

// SQuAD's measures, the best over all right answers: of texts in lower case without punctuation, articles and runs of spaces, whether they are equal, and the F1 of
// their words.
struct answer_scores {
  double exact = 0, f1 = 0;
};
answer_scores scores_of(std::string const& told, std::span<std::string const> answers);

}  // namespace bert
