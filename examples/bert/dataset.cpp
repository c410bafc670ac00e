#include "dataset.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

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

// What a tokenizer's files call its padding, or what tokenizers usually do; nothing where there is no such token.
std::optional<std::string> padding_of(tx::io::model_folder const& folder, tx::text::tokenizer const& words) {
  for (char const* const file : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (!folder.has(file)) continue;
    nlohmann::json const said = tx::io::read_json(folder.file(file));
    nlohmann::json token = said.is_object() && said.contains("pad_token") ? said["pad_token"] : nlohmann::json();
    if (token.is_object() && token.contains("content")) token = nlohmann::json(token["content"]);
    if (token.is_string() && words.id(token.get<std::string>())) return token.get<std::string>();
  }
  for (char const* const name : {"[PAD]", "<pad>"})
    if (words.id(name)) return name;
  return std::nullopt;
}

}  // namespace

void check_table(std::string const& folder, std::size_t ids, std::size_t rows, bool may_be_few) {
  // Tables are made larger than they need be, so that their rows are a multiple of a power of two.
  std::size_t const most = (ids + 127) / 128 * 128 + 128;
  std::string const both = folder + ": the tokenizer has " + std::to_string(ids) + " ids, the model's table " + std::to_string(rows);
  if (ids > rows) throw tx::format_error(both + ". FIX: the tokenizer that the model was trained with");
  if (rows > most && !may_be_few)
    throw tx::format_error(both + " rows, more than tables are made larger by. FIX: the tokenizer that the model was trained with, or --fewer-ids where this is it");
}

tx::text::tokenizer load_tokenizer(std::string const& folder, command_line::options const& given) {
  auto words = tx::text::tokenizer::load(folder);
  check_table(folder, words.size(), static_cast<std::size_t>(compiled().vocabulary), given.has("fewer-ids"));
  if (!std::filesystem::exists(std::filesystem::path(folder) / "config.json")) return words;
  auto const model = tx::io::model_folder::open(folder);
  auto const said = model.config().find("pad_token_id");
  if (said == model.config().end() || !said->is_number_integer()) return words;
  if (auto const name = padding_of(model, words); name && *said != *words.id(*name))
    throw tx::format_error(folder + ": pad_token_id is " + said->dump() + " in config.json, and the tokenizer's " + *name + " is " + std::to_string(*words.id(*name)) +
                           ". FIX: the tokenizer that the model was trained with, or its id in config.json");
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

std::string rarest_label(std::span<tx::text::labelled_text const> texts) {
  struct seen {
    std::size_t count = 0, line = 0;
  };
  std::map<std::string, seen> all;
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (auto& s = all[texts[i].label]; s.count++ == 0) s.line = i + 1;
  if (all.empty()) return "";
  auto const& [name, s] = *std::ranges::min_element(all, {}, [](auto const& each) { return each.second.count; });
  return "; " + tx::io::shown(name) + " is in line " + std::to_string(s.line) + (s.count == 1 ? " alone" : " first, and in " + std::to_string(s.count) + " in all");
}

void say_cut(std::span<tx::text::encoding const> texts, std::string const& source, int longest) {
  auto const cut = std::ranges::count_if(texts, [](tx::text::encoding const& e) { return e.left_out > 0; });
  if (cut > 0) std::fprintf(stderr, "%s: %td of %zu texts are cut, to the %d tokens that the model reads\n", source.c_str(), cut, texts.size(), longest);
}

void say_pairs(std::span<tx::text::labelled_text const> texts, std::string const& source, std::span<std::string const> labels) {
  if (texts.empty() || !texts.front().pair) return;
  bool const labelled = std::ranges::all_of(texts, [&](auto const& t) { return std::ranges::find(labels, t.text) != labels.end(); });
  std::fprintf(stderr, "%s: %zu pairs of texts, with a tab between them%s\n", source.c_str(), texts.size(), labelled ? "; the first of each is a label: eval is for such files" : "");
}

std::vector<coded_text> coded_texts(std::span<tx::text::encoding const> texts) {
  std::vector<coded_text> out;
  for (auto const& t : texts) out.push_back({t.ids, t.types});
  return out;
}

std::vector<tx::text::encoding> encode(std::span<tx::text::labelled_text const> texts, std::string const& source, tx::text::tokenizer const& words, int longest) {
  std::vector<tx::text::encoding> out;
  tx::text::encode_options const most{.most = static_cast<std::size_t>(longest)};
  std::size_t const around = words.encode("").ids.size();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto const& t = texts[i];
    auto const check = [&](std::string const& text, char const* which) {
      if (words.ids_of(text).empty())
        throw tx::format_error(source + ':' + std::to_string(i + 1) + ": the " + which + ' ' + tx::io::json_string(text) +
                               " has no token of its own, as one of blanks alone. FIX: leave the line out");
    };
    out.push_back(t.pair ? words.encode(t.text, *t.pair, most) : words.encode(t.text, most));
    if (t.pair) check(t.text, "text"), check(*t.pair, "second text");
    else if (out.back().ids.size() <= around) check(t.text, "text");
  }
  return out;
}

dataset encode(std::span<tx::text::labelled_text const> texts, std::string const& source, tx::text::tokenizer const& words, std::span<std::string const> labels,
               int longest) {
  dataset out{encode(texts, source, words, longest), {}};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto const& t = texts[i];
    auto const fail = [&](std::string const& what) { throw tx::format_error(source + ':' + std::to_string(i + 1) + ": the label " + tx::io::shown(t.label) + what); };
    if (compiled().regression()) {
      auto const value = number_in<float>(t.label);
      if (!value || !std::isfinite(*value)) fail(" is no number, which this program learns");
      out.targets.push_back(*value);
    } else {
      auto const at = std::ranges::find(labels, t.label);
      if (at == labels.end()) {
        std::vector<std::string_view> const known(labels.begin(), labels.end());
        std::string all;
        for (std::size_t k = 0; k < std::min<std::size_t>(known.size(), 10); ++k) all += (k == 0 ? "" : ", ") + tx::io::shown(known[k]);
        fail(" is none of the model's, " + all + (known.size() > 10 ? ", ..." : "") + command_line::suggestion(t.label, known));
      }
      out.targets.push_back(static_cast<float>(at - labels.begin()));
    }
  }
  return out;
}

}  // namespace bert
