#include "tagged_texts.hpp"

#include <algorithm>

namespace bert {

std::vector<tagged_text> parse_tagged_texts(std::string_view text, std::string const& source, tx::text::labels wanted) {
  bool const tagged = wanted == tx::text::labels::required;
  std::vector<tagged_text> all(1);
  tx::text::for_each_line(text, [&](std::string_view line, std::size_t number) {
    auto const fail = [&](std::string const& what) { throw tx::format_error(source + ':' + std::to_string(number) + ": " + what); };
    if (line.empty()) {
      if (!all.back().words.empty()) all.emplace_back();
      return;
    }
    if (!tx::io::is_utf8(line)) fail("not UTF-8");
    auto const columns = std::ranges::count(line, '\t') + 1;
    if (columns != (tagged ? 2 : 1)) fail(std::to_string(columns) + (tagged ? " columns where a word, a tab and a label belong" : " columns where a word belongs"));
    std::string_view const word = line.substr(0, line.find('\t')), tag = tagged ? line.substr(word.size() + 1) : "";
    if (word.find_first_not_of(' ') == std::string_view::npos) fail("the word is empty");
    if (tagged && tag.find_first_not_of(' ') == std::string_view::npos) fail("the label is empty");
    tagged_text& t = all.back();
    if (t.words.empty()) t.line = number;
    t.words.emplace_back(word);
    if (tagged) t.tags.emplace_back(tag);
  });
  if (all.back().words.empty()) all.pop_back();
  if (all.empty()) throw tx::format_error(source + ": no words, the file is empty");
  return all;
}

std::vector<tagged_text> read_tagged_texts(std::string const& file, tx::text::labels wanted) { return parse_tagged_texts(tx::io::read_text(file), file, wanted); }

std::vector<std::string> tag_names(std::span<tagged_text const> texts) {
  std::vector<std::string> names;
  for (auto const& t : texts) names.insert(names.end(), t.tags.begin(), t.tags.end());
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

tagged_dataset encode_words(std::span<tagged_text const> texts, std::string const& source, tx::text::tokenizer const& words, std::span<std::string const> names, int longest) {
  tagged_dataset out;
  for (tagged_text const& t : texts) {
    std::string line;
    std::vector<std::size_t> ends;  // of each word in the line, in bytes
    for (auto const& word : t.words) {
      line += (line.empty() ? "" : " ") + word;
      ends.push_back(line.size());
    }
    auto encoded = words.encode(line, {.most = static_cast<std::size_t>(longest), .ranges = true});
    std::vector<int> first(t.words.size(), -1);
    for (std::size_t k = 0; k < encoded.ids.size(); ++k) {
      auto const range = encoded.ranges[k];
      if (range.begin == range.end) continue;  // put around the text, or nothing but spaces
      // By its last byte, as the first may be the space before a word.
      auto const word = static_cast<std::size_t>(std::ranges::lower_bound(ends, range.end) - ends.begin());
      if (first[word] < 0) first[word] = static_cast<int>(k);
    }
    std::vector<std::int32_t> labels(encoded.ids.size(), no_label);
    for (std::size_t w = 0; w < t.tags.size(); ++w) {
      auto const at = std::ranges::find(names, t.tags[w]);
      if (at == names.end()) throw tx::format_error(source + ':' + std::to_string(t.line + w) + ": the label " + tx::io::shown(t.tags[w]) + " is none of the model's");
      if (first[w] >= 0) labels[static_cast<std::size_t>(first[w])] = static_cast<std::int32_t>(at - names.begin());
    }
    out.texts.push_back(std::move(encoded));
    out.labels.push_back(std::move(labels));
    out.first.push_back(std::move(first));
  }
  return out;
}

void check_whole(tagged_dataset const& data, std::span<tagged_text const> texts, std::string const& source, int longest) {
  for (std::size_t t = 0; t < texts.size(); ++t)
    if (auto const at = std::ranges::find(data.first[t], -1); at != data.first[t].end())
      throw tx::format_error(source + ':' + std::to_string(texts[t].line + static_cast<std::size_t>(at - data.first[t].begin())) + ": the word has no token among the text's first " +
                             std::to_string(longest) + ". FIX: shorter texts, with an empty line between them, or a program with other LENGTHS");
}

}  // namespace bert
