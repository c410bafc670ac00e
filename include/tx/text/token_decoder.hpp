// Ids back to text, as a tokenizer.json says it under decoder.
#pragma once

#include <tx/core/error.hpp>
#include <tx/text/added_tokens.hpp>
#include <tx/text/decoder_steps.hpp>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tx::text {

// Const members may be called from several threads.
class token_decoder {
 public:
  // Tokens with a space between them, where there is no step.
  explicit token_decoder(std::vector<detail::decoder_step> steps = {}) : steps_(std::move(steps)) {}
  // One that is not known: texts are made into ids all the same, and text() throws format_error of this.
  static token_decoder refused(std::string why) {
    token_decoder out;
    out.refusal_ = std::move(why);
    return out;
  }

  // Tokens that stand beside the model's, or in their place; name: what such a token is in changed texts, where it is found in those.
  void add(added_token const& token, std::string name) {
    names_.insert_or_assign(token.id, std::move(name));
    ids_.insert_or_assign(token.content, token.id);
    if (token.special) special_.insert(token.content);
  }
  void add(std::vector<added_token> const& tokens) {
    for (added_token const& t : tokens) add(t, t.content);
  }
  std::string const* added_name(std::int32_t id) const {
    auto const at = names_.find(id);
    return at == names_.end() ? nullptr : &at->second;
  }
  // By what they are called before texts are changed.
  std::map<std::string, std::int32_t> const& added_ids() const { return ids_; }

  // name(id): what a token is called, if there is one. special_tokens: whether those are a part of the text; one whose name is another in changed texts
  // always is, as it is to tokenizers.
  template <class Name>
  std::string text(std::span<std::int32_t const> ids, bool special_tokens, Name&& name) const {
    if (!refusal_.empty()) throw format_error(refusal_);
    detail::token_texts tokens;
    for (std::int32_t const id : ids) {
      if (id < 0) throw value_error("the id " + std::to_string(id) + " is below 0, and no token's. FIX: leave out what stands for no token, as labels of -100");
      std::optional<std::string> token = name(id);
      if (token && (special_tokens || !special_.contains(*token))) tokens.push_back(*std::move(token));
    }
    for (auto const& step : steps_) std::visit([&](auto const& how) { how.apply(tokens); }, step);
    std::string out;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      if (k > 0 && steps_.empty()) out += ' ';
      out += tokens[k];
    }
    return out;
  }

 private:
  std::vector<detail::decoder_step> steps_;
  std::unordered_map<std::int32_t, std::string> names_;
  std::map<std::string, std::int32_t> ids_;
  std::set<std::string> special_;
  std::string refusal_;
};

}  // namespace tx::text
