#include "questions.hpp"

#include <tx/io/json.hpp>
#include <tx/text/lines.hpp>

#include <algorithm>
#include <sstream>

namespace bert {
namespace {

// The byte at which character number `at` begins; nothing where there are fewer.
std::optional<std::size_t> byte_of(std::string const& text, std::size_t at) {
  std::size_t byte = 0;
  for (; at > 0 && byte < text.size(); --at)
    for (++byte; byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xc0) == 0x80;) ++byte;
  return at == 0 ? std::optional(byte) : std::nullopt;
}

question question_of(nlohmann::json const& json, std::string const& where, std::size_t number, bool answered) {
  auto const fail = [&](std::string const& what) { throw tx::format_error(where + ": " + what); };
  auto const text_of = [&](char const* key) {
    auto const at = json.find(key);
    if (at == json.end() || !at->is_string() || at->get_ref<std::string const&>().empty()) fail(std::string(key) + " is missing, empty or no string");
    return at->get<std::string>();
  };
  for (auto const& [key, value] : json.items())
    if (key != "id" && key != "title" && key != "question" && key != "context" && key != "answers") fail("the key " + tx::io::shown(key) + " is not known; known are id, title, question, context and answers");
  question q{json.contains("id") ? text_of("id") : std::to_string(number), text_of("question"), text_of("context"), {}};
  q.where = where;
  if (!answered && !json.contains("answers")) return q;
  auto const answers = json.find("answers");
  if (answers == json.end() || !answers->is_object() || !answers->contains("text") || !answers->contains("answer_start")) fail("answers are missing, or have no text and answer_start");
  auto const &texts = answers->at("text"), &starts = answers->at("answer_start");
  if (!texts.is_array() || !starts.is_array() || texts.size() != starts.size()) fail("text and answer_start of answers are lists of one length");
  for (std::size_t k = 0; k < texts.size(); ++k) {
    if (!texts[k].is_string() || texts[k].get_ref<std::string const&>().empty() || !starts[k].is_number_unsigned()) fail("an answer is no text with a place in the context");
    q.answers.push_back(texts[k].get<std::string>());
    auto const byte = byte_of(q.context, starts[k].get<std::size_t>());
    if (!byte || q.context.compare(*byte, q.answers[k].size(), q.answers[k]) != 0)
      fail("the answer " + tx::io::shown(q.answers[k]) + " does not stand at character " + std::to_string(starts[k].get<std::size_t>()) + " of the context. FIX: answer_start counts characters from 0");
    if (k == 0) q.begin = *byte;
  }
  return q;
}

// Words as SQuAD compares them.
std::vector<std::string> compared_words(std::string const& text) {
  std::string plain;
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c >= 'A' && c <= 'Z') plain += static_cast<char>(c - 'A' + 'a');
    else if (byte >= 0x80 || c == ' ' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
    else if (c == '\t' || c == '\n' || c == '\r') plain += ' ';
  }
  std::istringstream in(plain);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    if (word != "a" && word != "an" && word != "the") words.push_back(word);
  return words;
}

}  // namespace

std::vector<question> parse_questions(std::string_view text, std::string const& source, bool answered) {
  std::vector<question> all;
  tx::text::for_each_line(text, [&](std::string_view line, std::size_t number) {
    std::string const where = source + ':' + std::to_string(number);
    nlohmann::json const json = tx::io::parse_json(line, where);
    if (!json.is_object()) throw tx::format_error(where + ": no JSON object with question and context");
    all.push_back(question_of(json, where, number, answered));
  });
  if (all.empty()) throw tx::format_error(source + ": no questions, the file is empty");
  return all;
}

std::vector<question> read_questions(std::string const& file, bool answered) { return parse_questions(tx::io::read_text(file), file, answered); }

coded_question encode(question const& q, tx::text::tokenizer const& words, int longest) {
  coded_question out;
  try {
    out.text = words.encode(q.text, q.context, {.most = static_cast<std::size_t>(longest), .how = tx::text::truncation::only_second, .ranges = true});
  } catch (tx::value_error const&) {
    throw tx::format_error(q.where + ": the question leaves no room for its context among " + std::to_string(longest) + " tokens. FIX: a shorter question, or a program with other LENGTHS");
  }
  auto const& ranges = out.text.ranges;
  auto const& sources = out.text.sources;
  auto const begin = std::ranges::find(sources, tx::text::token_source::second);
  out.context = static_cast<int>(begin - sources.begin());
  out.end = static_cast<int>(std::find_if(begin, sources.end(), [](tx::text::token_source s) { return s != tx::text::token_source::second; }) - sources.begin());
  if (q.answers.empty()) return out;
  std::size_t const until = q.begin + q.answers.front().size();
  for (int k = out.context; k < out.end; ++k) {
    auto const r = ranges[static_cast<std::size_t>(k)];
    if (r.end <= q.begin || r.begin >= until) continue;
    if (out.first == 0) out.first = k;
    out.last = k;
  }
  if (out.last > 0 && ranges[static_cast<std::size_t>(out.last)].end < until) out.first = out.last = 0;  // its end is cut
  return out;
}

std::string told_answer(question const& q, coded_question const& coded, std::span<float const> logits, bool must_answer) {
  auto const logit = [&](int token, int which) { return logits[static_cast<std::size_t>(2 * token + which)]; };
  int first = -1, last = -1;
  float best = 0;
  for (int a = coded.context; a < coded.end; ++a)
    for (int b = a; b < std::min(a + 30, coded.end); ++b)
      if (float const both = logit(a, 0) + logit(b, 1); first < 0 || both > best) best = both, first = a, last = b;
  if (first < 0 || (!must_answer && logit(0, 0) + logit(0, 1) > best)) return "";
  std::size_t const begin = coded.text.ranges[static_cast<std::size_t>(first)].begin;
  return q.context.substr(begin, coded.text.ranges[static_cast<std::size_t>(last)].end - begin);
}

answer_scores scores_of(std::string const& told, std::span<std::string const> answers) {
  auto const words = compared_words(told);
  if (answers.empty()) return {words.empty() ? 1.0 : 0.0, words.empty() ? 1.0 : 0.0};
  answer_scores best;
  for (auto const& answer : answers) {
    auto const wanted = compared_words(answer);
    if (words.empty() || wanted.empty()) {
      best.exact = std::max(best.exact, words == wanted ? 1.0 : 0.0);
      best.f1 = std::max(best.f1, words == wanted ? 1.0 : 0.0);
      continue;
    }
    double common = 0;
    auto left = wanted;
    for (auto const& word : words)
      if (auto const at = std::ranges::find(left, word); at != left.end()) {
        left.erase(at);
        ++common;
      }
    best.exact = std::max(best.exact, words == wanted ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, 2 * common / static_cast<double>(words.size() + wanted.size()));
  }
  return best;
}

}  // namespace bert
