// Batches to pre-train on: pairs of texts out of documents in memory or in shards, with masked words.
#pragma once

#include "engine.hpp"
#include "pretraining_data.hpp"

#include <tx/io/token_shards.hpp>
#include <tx/train/loop/saved.hpp>
#include <tx/train/loop/shuffled_order.hpp>

#include <memory>

namespace bert {

// Ids that are never masked, and those that go on with a word.
struct special_ids {
  std::unique_ptr<bool[]> kept, continues;
  std::int32_t cls, sep, mask;
  std::size_t size;

  special_ids(tx::text::tokenizer const& words, std::string const& folder);
};

// Where documents come from, a window of them at a time: pairs are drawn within one, and no more than one is in memory.
class document_source {
 public:
  using window = std::shared_ptr<std::vector<document> const>;

  virtual ~document_source() = default;
  virtual std::uint64_t documents() const = 0;
  virtual std::uint64_t windows() const = 0;  // of a pass
  // Those of a pass are a function of its seed. Called from several threads.
  virtual window at(std::uint64_t number, std::uint64_t pass_seed) const = 0;
};
// All in one window.
std::unique_ptr<document_source> documents_in_memory(std::vector<document> all);
// At least so many together, in an order that is drawn for each pass. Throws format_error for fewer than two documents.
std::unique_ptr<document_source> documents_in_shards(tx::io::token_shards shards, std::uint64_t together);

struct pretraining_batch {
  struct text {
    masked_text masked;
    std::vector<std::int32_t> types;
  };
  pretrainer::batch batch;
  std::vector<text> texts;  // what the batch's are views of
  std::size_t tokens = 0;

  pretraining_batch() = default;
  pretraining_batch(pretraining_batch&&) = default;
  pretraining_batch& operator=(pretraining_batch&&) = default;

  // [{"ids": [...], "types": [...], "places": [...], "words": [...], "other": false}, ...], names as in masked_text.
  std::string as_json() const;
};

// Batches in the order of passes over the documents, as tx::train::prepared takes them. The place is a pass, a window and a pair in it; everything else
// follows from these and the seed.
class pair_batches {
 public:
  struct place {
    std::int64_t pass = 0, window = 0, pair = 0;
    void save(tx::train::to_save& out) const;
  };
  struct drawn_pair {
    pair_example pair;
    std::uint64_t mask_seed;
  };
  using job = std::vector<drawn_pair>;
  using batch = pretraining_batch;

  // passes: different ones before the first comes again; 0: none ever does. share: of several processes, whose batches come one after the other. All else that it is given must outlive it.
  pair_batches(document_source const& documents, pair_options const& pairing, mask_options const& masking, special_ids const& special, std::uint64_t seed, std::int64_t passes,
               tx::train::rank_share share = {});

  place place_now() const { return at_; }
  void go_to(place const& p);
  place place_in(tx::train::saved const& in) const;
  job draw();
  void make(job const& pairs, pretraining_batch& to) const;

  std::size_t pairs_in_window() const { return drawn_.size(); }

 private:
  std::uint64_t pass_seed(place const& p) const;
  std::uint64_t window_seed(place const& p) const;
  std::vector<pair_example> pairs_of(place const& p) const;

  document_source const* documents_;
  pair_options pairing_;
  mask_options masking_;
  special_ids const* special_;
  std::uint64_t seed_;
  std::int64_t passes_;
  tx::train::rank_share share_;
  place at_;
  std::vector<pair_example> drawn_;  // of the window that the place is in
};

// The first pairs of other documents, in batches that stay as they are.
class held_out {
 public:
  held_out(document_source const& documents, pair_options const& pairing, mask_options const& masking, special_ids const& special);

  pretrainer::told judged(pretrainer& run) const;

 private:
  std::vector<pretraining_batch> batches_;
};

}  // namespace bert
