// A tokenizer.json whose model is Unigram, as those of T5, XLM-R and DeBERTa are.
#pragma once

#include <tx/text/metaspace_json.hpp>
#include <tx/text/text_change_json.hpp>
#include <tx/text/unigram_text.hpp>

namespace tx::text::detail {

class unigram_reader {
 public:
  explicit unigram_reader(json_parts const& file) : file_(file) {}

  // added: tokens that are found in changed texts.
  unigram_text read(std::vector<added_token> added) const {
    std::vector<text_split> splits;
    for (auto const* p : file_.each_of(file_.part("pre_tokenizer"), "pre_tokenizer", "pretokenizers")) splits.push_back(split(*p));
    return {model(), text_changes_of(file_), std::move(splits), std::move(added)};
  }

 private:
  unigram model() const {
    auto const& m = file_.part("model");
    auto const& list = file_.part(m, "vocab");
    if (!list.is_array()) file_.fail("the vocabulary is no list of pieces with scores");
    auto const& unknown = file_.part(m, "unk_id");
    if (!unknown.is_number_integer() || unknown < 0 || unknown >= list.size()) file_.fail("the unk_id is " + io::shown_value(unknown) + ", which no piece has");
    std::vector<unigram::piece> pieces;
    pieces.reserve(list.size());
    for (auto const& p : list) {
      if (!p.is_array() || p.size() != 2 || !p[0].is_string() || !p[1].is_number())
        file_.fail("the piece " + std::to_string(pieces.size()) + " is not a text with a score");
      pieces.emplace_back(p[0].get<std::string>(), p[1].get<double>());
    }
    return unigram(std::move(pieces), unknown.get<std::size_t>(), file_.flag(m, "byte_fallback", false), file_.source());
  }

  text_split split(nlohmann::json const& p) const {
    std::string const type = file_.type_of(p, "pre_tokenizer");
    if (type == "WhitespaceSplit") return spaced_words{};
    if (type != "Metaspace") file_.fail("a pre_tokenizer " + io::shown(type) + " is not known beside Unigram");
    metaspace mark = metaspace_of(file_, p);
    return marked_words{std::move(mark.mark), mark.place, file_.flag(p, "split", true)};
  }

  json_parts const& file_;
};

}  // namespace tx::text::detail
