#include "pretraining_batches.hpp"

#include <tx/train/loop/permutation.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace bert {
namespace {

class in_memory final : public document_source {
 public:
  explicit in_memory(std::vector<document> all) : all_(std::make_shared<std::vector<document> const>(std::move(all))) {}
  std::uint64_t documents() const override { return all_->size(); }
  std::uint64_t windows() const override { return 1; }
  window at(std::uint64_t, std::uint64_t) const override { return all_; }

 private:
  window all_;
};

class in_shards final : public document_source {
 public:
  in_shards(tx::io::token_shards shards, std::uint64_t together) : shards_(std::move(shards)), windows_(std::max<std::uint64_t>(1, shards_.documents() / together)) {}
  std::uint64_t documents() const override { return shards_.documents(); }
  std::uint64_t windows() const override { return windows_; }
  // Within a window documents come as they lie in the files, so that these are read in one direction, and all of them in one window are those in memory.
  window at(std::uint64_t number, std::uint64_t pass_seed) const override {
    tx::train::permutation const order(documents(), pass_seed ^ 0x77696e646f77u);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t k = documents() * number / windows_; k < documents() * (number + 1) / windows_; ++k) numbers.push_back(order(k));
    std::ranges::sort(numbers);
    auto out = std::make_shared<std::vector<document>>();
    for (std::uint64_t const k : numbers) out->push_back(shards_.document(k));
    return out;
  }

 private:
  tx::io::token_shards shards_;
  std::uint64_t windows_;
};

}  // namespace

special_ids::special_ids(tx::text::tokenizer const& words, std::string const& folder) : size(words.size()) {
  auto const id = [&](char const* name) {
    auto const found = words.id(name);
    if (!found) throw tx::format_error(folder + ": the tokenizer has no " + name + ", which pre-training needs");
    return *found;
  };
  cls = id("[CLS]"), sep = id("[SEP]"), mask = id("[MASK]");
  kept = std::make_unique<bool[]>(size);
  continues = std::make_unique<bool[]>(size);
  for (std::int32_t const special : {cls, sep, mask, id("[PAD]")}) kept[static_cast<std::size_t>(special)] = true;
  for (std::size_t k = 0; k < size; ++k) continues[k] = words.goes_on(static_cast<std::int32_t>(k));
}

std::unique_ptr<document_source> documents_in_memory(std::vector<document> all) { return std::make_unique<in_memory>(std::move(all)); }

std::unique_ptr<document_source> documents_in_shards(tx::io::token_shards shards, std::uint64_t together) {
  if (shards.documents() < 2) throw tx::format_error("the shards have " + std::to_string(shards.documents()) + " documents. FIX: at least 2, between which pairs are drawn");
  return std::make_unique<in_shards>(std::move(shards), together);
}

void pair_batches::place::save(tx::train::to_save& out) const {
  out.put("pass", pass);
  out.put("window", window);
  out.put("pair", pair);
}

pair_batches::pair_batches(document_source const& documents, pair_options const& pairing, mask_options const& masking, special_ids const& special, std::uint64_t seed, std::int64_t passes, tx::train::rank_share share)
    : documents_(&documents), pairing_(pairing), masking_(masking), special_(&special), seed_(seed), passes_(passes), share_(share) {
  go_to({});
}

std::uint64_t pair_batches::pass_seed(place const& p) const {
  return tx::train::random_numbers(seed_ ^ (0x70617373u + static_cast<std::uint64_t>(passes_ > 0 ? p.pass % passes_ : p.pass)))();
}
std::uint64_t pair_batches::window_seed(place const& p) const { return pass_seed(p) ^ (0xd1342543de82ef95u * static_cast<std::uint64_t>(p.window)); }

std::vector<pair_example> pair_batches::pairs_of(place const& p) const {
  auto pairs = drawn_pairs(*documents_->at(static_cast<std::uint64_t>(p.window), pass_seed(p)), pairing_, special_->cls, special_->sep, window_seed(p));
  if (pairs.empty()) throw tx::value_error("the texts make no pair. FIX: documents of more than a few words");
  return pairs;
}

void pair_batches::go_to(place const& p) {
  drawn_ = pairs_of(p);
  at_ = p;
}

pair_batches::place pair_batches::place_in(tx::train::saved const& in) const {
  place const p{in.value<std::int64_t>("pass"), in.value<std::int64_t>("window", 0), in.value<std::int64_t>("pair")};
  bool const there = p.pass >= 0 && p.window >= 0 && static_cast<std::uint64_t>(p.window) < documents_->windows() && p.pair >= 0;
  if (!there || static_cast<std::size_t>(p.pair) > pairs_of(p).size())
    throw tx::format_error("the saved place in the texts is that of other texts. FIX: resume with the same --text or --shards");
  return p;
}

pair_batches::job pair_batches::draw() {
  job out;
  auto const each = static_cast<std::uint64_t>(compiled().batch);
  for (std::uint64_t k = 0; k < each * share_.ranks; ++k) {
    if (static_cast<std::size_t>(at_.pair) == drawn_.size()) {  // what follows may begin within the batch
      bool const last = static_cast<std::uint64_t>(at_.window) + 1 == documents_->windows();
      go_to(last ? place{at_.pass + 1, 0, 0} : place{at_.pass, at_.window + 1, 0});
    }
    auto const at = static_cast<std::size_t>(at_.pair++);
    if (k / each != share_.rank) continue;
    out.push_back({drawn_[at], window_seed(at_) ^ (0x9e3779b97f4a7c15u * (at + 1))});
  }
  return out;
}

void pair_batches::make(job const& pairs, pretraining_batch& to) const {
  to = {};
  to.texts.reserve(pairs.size());
  for (drawn_pair const& p : pairs) {
    to.texts.push_back({masked(p.pair.ids, masking_, p.mask_seed), p.pair.types});
    auto const& t = to.texts.back();
    to.batch.texts.push_back({t.masked.ids, t.types});
    to.batch.places.push_back(t.masked.places);
    to.batch.words.push_back(t.masked.words);
    to.batch.others.push_back(p.pair.other);
    to.tokens += t.types.size();
  }
}

std::string pretraining_batch::as_json() const {
  nlohmann::json of_texts = nlohmann::json::array();
  for (std::size_t t = 0; t < texts.size(); ++t) {
    masked_text const& m = texts[t].masked;
    of_texts.push_back({{"ids", m.ids}, {"types", texts[t].types}, {"places", m.places}, {"words", m.words}, {"other", batch.others[t] != 0}});
  }
  return of_texts.dump();
}

held_out::held_out(document_source const& documents, pair_options const& pairing, mask_options const& masking, special_ids const& special) {
  pair_batches source(documents, pairing, masking, special, 0x646576u, 1);
  batches_.resize(std::clamp<std::size_t>(source.pairs_in_window() / static_cast<std::size_t>(compiled().batch), 1, 32));
  for (auto& b : batches_) source.make(source.draw(), b);
}

pretrainer::told held_out::judged(pretrainer& run) const {
  pretrainer::told sum;
  for (auto const& b : batches_) {
    auto const t = run.judge(b.batch);
    sum.loss += t.loss, sum.words += t.words, sum.follows += t.follows, sum.words_right += t.words_right, sum.follows_right += t.follows_right;
  }
  for (double* x : {&sum.loss, &sum.words, &sum.follows, &sum.words_right, &sum.follows_right}) *x /= static_cast<double>(batches_.size());
  return sum;
}

}  // namespace bert
