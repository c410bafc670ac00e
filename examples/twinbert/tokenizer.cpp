#include "tokenizer.hpp"

#include <tx/text/tri_letter.hpp>
#include <tx/text/wordpiece.hpp>

#include <algorithm>
#include <optional>

namespace twinbert {

struct tokenizer::vocabulary {
  std::optional<tx::text::wordpiece> pieces;
  std::optional<tx::text::tri_letter> trigrams;
};

namespace {

// Texts are looked at this far, which bounds memory; models see less.
constexpr std::size_t most_words = 512;

tx::text::tri_letter_limits limits(description const& d) { return {most_words, static_cast<std::size_t>(d.letters)}; }

}  // namespace

std::string vocabulary_file(description const& d) { return d.letters > 0 ? "trigrams.txt" : "vocab.txt"; }

tokenizer::tokenizer(description const& d, std::unique_ptr<vocabulary> v) : model_(&d), vocabulary_(std::move(v)) {}
tokenizer::~tokenizer() = default;
tokenizer::tokenizer(tokenizer&&) noexcept = default;

tokenizer tokenizer::learn(description const& d, std::span<std::string const> texts, int size) {
  auto v = std::make_unique<vocabulary>();
  if (d.letters > 0)  // one row is the unknown trigram's
    v->trigrams = tx::text::tri_letter::learn(texts, static_cast<std::size_t>(size) - 1, limits(d));
  else
    v->pieces = tx::text::wordpiece::learn(texts, static_cast<std::size_t>(size));
  return {d, std::move(v)};
}

tokenizer tokenizer::load(description const& d, std::string const& folder) {
  std::string const path = folder + '/' + vocabulary_file(d);
  auto v = std::make_unique<vocabulary>();
  if (d.letters > 0)
    v->trigrams = tx::text::tri_letter::load(path, limits(d));
  else
    v->pieces = tx::text::wordpiece::load(path);
  tokenizer t(d, std::move(v));
  if (t.size() > static_cast<std::size_t>(d.vocabulary)) {
    throw tx::value_error(path + " needs " + std::to_string(t.size()) + " rows; the model's table of words has " +
                          std::to_string(d.vocabulary));
  }
  // The mask of a WordPiece model takes id 0 for padding.
  if (t.vocabulary_->pieces && t.vocabulary_->pieces->pad_id() != 0)
    throw tx::value_error(path + ": [PAD] is on line " + std::to_string(t.vocabulary_->pieces->pad_id() + 1) +
                          "; the model takes line 1 for padding");
  return t;
}

void tokenizer::save(std::string const& folder) const {
  std::string const path = folder + '/' + vocabulary_file(*model_);
  if (vocabulary_->pieces)
    vocabulary_->pieces->save(path);
  else
    vocabulary_->trigrams->save(path);
}

std::size_t tokenizer::size() const {
  return vocabulary_->pieces ? vocabulary_->pieces->size() : vocabulary_->trigrams->size();
}

words tokenizer::encode(std::string_view text, std::size_t most) const {
  words ids;
  most = std::min(most, most_words);
  if (vocabulary_->pieces) {
    ids.resize(most);
    ids.resize(vocabulary_->pieces->encode(text, ids, false));
  } else {
    ids.resize(vocabulary_->trigrams->slots());
    std::size_t const count = vocabulary_->trigrams->encode(text, ids);
    ids.resize(std::min(count, most) * static_cast<std::size_t>(model_->letters));
    ids.shrink_to_fit();
  }
  return ids;
}

std::size_t tokenizer::fill(words const& text, std::span<std::int32_t> ids) const {
  auto const slots = static_cast<std::size_t>(model_->slots());
  bool const special = model_->special_tokens;
  std::size_t const room = ids.size() / slots - (special ? 2 : 0);
  std::size_t const count = std::min(text.size() / slots, room);
  auto at = ids.begin();
  if (special) *at++ = vocabulary_->pieces->cls_id();
  at = std::copy_n(text.begin(), count * slots, at);
  if (special) *at++ = vocabulary_->pieces->sep_id();
  std::fill(at, ids.end(), model_->empty());
  return count + (special ? 2 : 0);
}

}  // namespace twinbert
