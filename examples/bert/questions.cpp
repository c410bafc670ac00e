#include "questions.hpp"

#include <tx/io/json.hpp>
#include <tx/text/lines.hpp>

#include <algorithm>
#include <limits>
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

// The tokens of the context, [context, end) of all, that are in [from, to), with everything around it.
coded_question part_of(question const& q, tx::text::encoding const& all, std::size_t context, std::size_t from, std::size_t to, std::size_t end) {
  coded_question part;
  auto const take = [&](auto const& of, auto& into) {
    auto const at = [&](std::size_t k) { return of.begin() + static_cast<std::ptrdiff_t>(k); };
    into.assign(at(0), at(context));
    into.insert(into.end(), at(from), at(to));
    into.insert(into.end(), at(end), of.end());
  };
  take(all.ids, part.text.ids);
  take(all.types, part.text.types);
  take(all.ranges, part.text.ranges);
  take(all.sources, part.text.sources);
  part.context = static_cast<int>(context);
  part.end = static_cast<int>(context + to - from);
  if (q.answers.empty()) return part;
  std::size_t const until = q.begin + q.answers.front().size();
  auto const touches = [&](tx::text::text_range r) { return r.end > q.begin && r.begin < until; };
  for (int k = part.context; k < part.end; ++k) {
    if (!touches(part.text.ranges[static_cast<std::size_t>(k)])) continue;
    if (part.first == 0) part.first = k;
    part.last = k;
  }
  bool const begins_before = from > context && touches(all.ranges[from - 1]), ends_behind = to < end && touches(all.ranges[to]);
  if (begins_before || ends_behind) part.first = part.last = 0;
  return part;
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

std::vector<coded_question> encode(question const& q, tx::text::tokenizer const& words, int longest) {
  tx::text::encoding const all = words.encode(q.text, q.context, {.ranges = true});
  auto const begin = std::ranges::find(all.sources, tx::text::token_source::second);
  auto const context = static_cast<std::size_t>(begin - all.sources.begin());
  auto const end = static_cast<std::size_t>(std::find_if(begin, all.sources.end(), [](tx::text::token_source s) { return s != tx::text::token_source::second; }) - all.sources.begin());
  std::size_t const others = all.ids.size() - (end - context), most = static_cast<std::size_t>(longest);
  if (others >= most)
    throw tx::format_error(q.where + ": the question leaves no room for its context among " + std::to_string(longest) + " tokens. FIX: a shorter question, or a program with other LENGTHS");
  std::size_t const room = most - others, in_common = std::min<std::size_t>(128, room / 2);
  if (end - context > room) {
    std::size_t const step = room - in_common, count = 1 + (end - context - room + step - 1) / step;
    if (count * most > 64 * all.ids.size())
      throw tx::format_error(q.where + ": the question leaves room for " + std::to_string(room) + " tokens of its context, which has " + std::to_string(end - context) +
                             " and would be read in " + std::to_string(count) + " parts. FIX: a shorter question, or a program with other LENGTHS");
  }
  std::vector<coded_question> parts;
  for (std::size_t from = context;; from += room - in_common) {
    std::size_t const to = std::min(end, from + room);
    parts.push_back(part_of(q, all, context, from, to, end));
    if (to == end) return parts;
  }
}

std::string told_answer(question const& q, std::span<coded_question const> parts, std::span<float const> logits, bool must_answer) {
  std::optional<tx::text::text_range> told;
  float best = 0, none = std::numeric_limits<float>::infinity();
  std::size_t before = 0;  // tokens of the parts before
  for (coded_question const& part : parts) {
    auto const logit = [&](int token, std::size_t which) { return logits[2 * (before + static_cast<std::size_t>(token)) + which]; };
    for (int a = part.context; a < part.end; ++a)
      for (int b = a; b < std::min(a + 30, part.end); ++b)
        if (float const both = logit(a, 0) + logit(b, 1); !told || both > best) {
          best = both;
          told = tx::text::text_range{part.text.ranges[static_cast<std::size_t>(a)].begin, part.text.ranges[static_cast<std::size_t>(b)].end};
        }
    none = std::min(none, logit(0, 0) + logit(0, 1));
    before += part.text.ids.size();
  }
  if (!told || (!must_answer && none > best)) return "";
  return q.context.substr(told->begin, told->end - told->begin);
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
