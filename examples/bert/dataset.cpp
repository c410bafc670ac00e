#include "dataset.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace bert {
namespace {

// The whole text as a number; nothing where it is none.
template <class T>
std::optional<T> number_in(std::string const& text) {
  T value{};
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

tx::text::tokenizer load_tokenizer(std::string const& folder) {
  auto words = tx::text::tokenizer::load(folder);
  if (words.size() > static_cast<std::size_t>(compiled().vocabulary))
    throw tx::format_error(folder + ": the tokenizer has " + std::to_string(words.size()) + " ids, the model's table " + std::to_string(compiled().vocabulary) +
                           ". FIX: the tokenizer that the model was trained with");
  return words;
}

std::vector<std::string> label_names(std::span<tx::text::labelled_text const> texts) {
  std::vector<std::string> names;
  for (auto const& t : texts) names.push_back(t.label);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  bool const numbered = std::ranges::all_of(names, [&](std::string const& name) {
    auto const n = number_in<std::size_t>(name);
    return n && *n < names.size();
  });
  if (numbered) std::ranges::sort(names, {}, [](std::string const& name) { return *number_in<std::size_t>(name); });
  return names;
}

std::vector<coded_text> coded_texts(std::span<tx::text::encoding const> texts) {
  std::vector<coded_text> out;
  for (auto const& t : texts) out.push_back({t.ids, t.types});
  return out;
}

std::vector<tx::text::encoding> encode(std::span<tx::text::labelled_text const> texts, tx::text::tokenizer const& words, int longest) {
  std::vector<tx::text::encoding> out;
  tx::text::encode_options const most{.most = static_cast<std::size_t>(longest)};
  for (auto const& t : texts) out.push_back(t.pair ? words.encode(t.text, *t.pair, most) : words.encode(t.text, most));
  return out;
}

dataset encode(std::span<tx::text::labelled_text const> texts, std::string const& source, tx::text::tokenizer const& words, std::span<std::string const> labels,
               int longest) {
  dataset out{encode(texts, words, longest), {}};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto const& t = texts[i];
    auto const fail = [&](std::string const& what) { throw tx::format_error(source + ':' + std::to_string(i + 1) + ": the label " + tx::io::shown(t.label) + what); };
    if (compiled().regression()) {
      auto const value = number_in<float>(t.label);
      if (!value || !std::isfinite(*value)) fail(" is no number, which this program learns");
      out.targets.push_back(*value);
    } else {
      auto const at = std::ranges::find(labels, t.label);
      if (at == labels.end()) fail(" is none of the model's");
      out.targets.push_back(static_cast<float>(at - labels.begin()));
    }
  }
  return out;
}

}  // namespace bert
