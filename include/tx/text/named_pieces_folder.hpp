// The tokenizer of a folder that has a file of SentencePiece and no tokenizer.json, as transformers' classes in Python make one of it: T5Tokenizer,
// XLMRobertaTokenizer and DebertaV2Tokenizer. Which one a folder is of, and what its added tokens are, other files in it say.
#pragma once

#include <tx/text/named_pieces.hpp>
#include <tx/text/said_tokens.hpp>
#include <tx/text/token_template.hpp>

namespace tx::text::detail {

class named_pieces_folder {
 public:
  // Throws format_error for a class that is not known, and where files say of added tokens and none of a class.
  explicit named_pieces_folder(std::filesystem::path folder) : folder_(std::move(folder)), config_(tokenizer_settings::object(folder_ / "tokenizer_config.json")) {
    std::string const name = class_name();
    for (kind const& k : kinds)
      if (name == k.name) kind_ = &k;
    if (name.empty()) {
      for (char const* const file : {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"})
        if (std::error_code none; std::filesystem::exists(folder_ / file, none))
          fail(std::string("neither ") + (config_.empty() ? "a tokenizer_config.json" : "its tokenizer_config.json") +
               " nor a config.json names the tokenizer's class, by which the ids of the pieces are told, though there is a " + file);
    } else if (kind_ == nullptr) {
      std::string known;
      for (kind const& k : kinds) known += (known.empty() ? "" : ", ") + std::string(k.name) + "Tokenizer";
      fail("a file of SentencePiece of " + io::shown(said_) + " is not known; known is one of " + known);
    }
  }

  // Whether a class is named; where none is, ids are those of the file itself.
  bool is_known() const { return kind_ != nullptr; }

  struct parts {
    named_pieces pieces;
    token_template around;
    std::vector<added_token> added;
  };
  // Throws format_error for what else is not known.
  parts read() const {
    bool const t5 = kind_->who == whose::t5, xlm_r = kind_->who == whose::xlm_r, deberta = kind_->who == whose::deberta;
    for (char const* const name : {"sp_model_kwargs", "extra_special_tokens"})
      if (auto const at = config_.find(name); at != config_.end() && !at->empty()) fail(std::string(name) + " is " + io::shown_value(*at) + ", which is not known");
    for (char const* const name : {"split_by_punct", "split_special_tokens"})
      if (flag(name, false)) fail(std::string(name) + " is true, which is not known");

    std::filesystem::path const file = folder_ / kind_->file;
    std::error_code none;
    if (!std::filesystem::exists(file, none)) fail("there is no " + std::string(kind_->file) + ", which is the file of a " + kind_->name + "Tokenizer");
    auto model = sentencepiece_model::load(file);
    bool const keeps_spaces = t5 && !flag("legacy", true);
    if (keeps_spaces) model.prefix_space = false;
    piece_names names(sentencepiece(std::move(model), file.string()), xlm_r ? piece_names::numbers::xlm_r : piece_names::numbers::own, file.string());

    said_tokens said(folder_, config_);
    said.take_special(kind_->tokens);
    if (t5) said.take_extra_ids(names.size());
    // DeBERTa looks names up among the file's own alone.
    said.number(names, !deberta);

    auto const special_id = [&](char const* key) {
      auto const id = said.special_id(key);
      if (!id) fail(std::string("there is no ") + key);
      return *id;
    };
    named_pieces::choices how{.unknown = xlm_r ? special_id("unk_token") : names.pieces().unknown()};
    if (keeps_spaces) {
      how.changes.push_back(replaced_strings("\u2581", " "));
      if (prefix_space()) how.changes.push_back(put_before{"\u2581"});
      how.keeps_spaces_behind = said.special("unk_token").value_or("None");
      for (auto const& name : said.special_names()) how.special.insert(name);
    }
    if (deberta && flag("do_lower_case", false)) how.changes.push_back(lower_case{said.names_in_any_case()});

    token_template const around = t5      ? token_template::t5(special_id("eos_token"))
                                  : xlm_r ? token_template::roberta(special_id("cls_token"), special_id("sep_token"))
                                          : token_template::bert(special_id("cls_token"), special_id("sep_token"));
    auto added = said.added();
    return {named_pieces(std::move(names), named_cuts(added, folder_.string()), std::move(how)), around, std::move(added)};
  }

 private:
  enum class whose : std::uint8_t { t5, xlm_r, deberta };
  struct kind {
    whose who;
    char const* name;
    char const* file;
    std::map<std::string, said_token> tokens;  // where files say nothing else
  };
  inline static std::vector<kind> const kinds{
      {whose::t5,
       "T5",
       "spiece.model",
       {{"eos_token", said_token::special_one("</s>")}, {"unk_token", said_token::special_one("<unk>")}, {"pad_token", said_token::special_one("<pad>")}}},
      {whose::xlm_r,
       "XLMRoberta",
       "sentencepiece.bpe.model",
       {{"bos_token", {"<s>"}}, {"eos_token", {"</s>"}}, {"sep_token", {"</s>"}}, {"cls_token", {"<s>"}}, {"unk_token", {"<unk>"}}, {"pad_token", {"<pad>"}},
        {"mask_token", said_token::special_one("<mask>", true)}}},
      {whose::deberta,
       "DebertaV2",
       "spm.model",
       {{"bos_token", {"[CLS]"}}, {"eos_token", {"[SEP]"}}, {"sep_token", {"[SEP]"}}, {"cls_token", {"[CLS]"}}, {"unk_token", said_token::special_one("[UNK]")},
        {"pad_token", {"[PAD]"}}, {"mask_token", {"[MASK]"}}}}};

  [[noreturn]] void fail(std::string const& what) const { said_tokens::fail(folder_, what); }

  bool flag(char const* name, bool otherwise) const {
    auto const at = config_.find(name);
    if (at == config_.end() || at->is_null()) return otherwise;
    if (!at->is_boolean()) fail(std::string(name) + " is " + io::shown_value(*at) + ", not true or false");
    return at->get<bool>();
  }
  bool prefix_space() const {
    auto const at = config_.find("add_prefix_space");
    return at == config_.end() || (!at->is_null() && flag("add_prefix_space", true));
  }

  // As "T5" of T5Tokenizer; what is not of that form stays as it is.
  std::string class_name() {
    nlohmann::json const model = tokenizer_settings::object(folder_ / "config.json");
    for (nlohmann::json const* const of : std::initializer_list<nlohmann::json const*>{&config_, &model}) {
      auto const at = of->find("tokenizer_class");
      if (at == of->end() || at->is_null()) continue;
      if (!at->is_string()) fail("the tokenizer_class is " + io::shown_value(*at));
      std::string name = said_ = at->get<std::string>();
      if (name.ends_with("Fast")) name.erase(name.size() - 4);
      if (!name.ends_with("Tokenizer")) return name.empty() ? "''" : name;
      name.erase(name.size() - 9);
      return name == "MT5" ? "T5" : name;
    }
    auto const type = model.find("model_type");
    if (type == model.end() || type->is_null()) return "";
    said_ = "the model_type " + (type->is_string() ? type->get<std::string>() : io::shown_value(*type));
    for (char const* const t : {"t5", "mt5", "umt5", "longt5", "switch_transformers"})
      if (*type == t) return "T5";
    for (char const* const t : {"xlm-roberta", "xlm-roberta-xl", "xmod"})
      if (*type == t) return "XLMRoberta";
    return *type == "deberta-v2" ? "DebertaV2" : said_;
  }

  std::filesystem::path folder_;
  nlohmann::json config_;
  kind const* kind_ = nullptr;
  std::string said_;  // the class or the type of model that files name
};

}  // namespace tx::text::detail
