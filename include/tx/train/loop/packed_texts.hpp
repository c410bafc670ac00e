// Batches of packed texts out of shards of token ids, in a shuffled order, with little room left in them.
#pragma once

#include <tx/io/token_shards.hpp>
#include <tx/train/loop/shuffled_order.hpp>

#include <algorithm>

namespace tx::train {

struct packed_texts_options {
  std::uint64_t seed = 0;
  std::uint64_t window = 4096;  // texts that are put into batches together: more leave less room, and take memory
  rank_share share{};
};

//   using batch = tx::text::packed_batch<32, 128, 2048>;
//   tx::train::prepared batches(tx::train::packed_texts<batch>(shards, {.seed = 1}));
//   auto const& b = batches.next();
//   run(b.ids, b.positions, b.offsets);
//
// Texts come in the row of a shuffled_order, a window at a time; each goes into the first batch of its window that has room for it. So which batches there are
// follows from the shards, the seed and the window, and rank r of n has every n-th of them from number r on: equally many on each rank, never the same, and
// the same ones in all for any n. Every text is in one batch in each epoch.
template <class Batch>
class packed_texts {
 public:
  using batch = Batch;
  using job = std::vector<std::uint64_t>;  // the texts of a batch
  struct place {
    std::uint64_t window = 0, batch = 0;                  // that all ranks are to go on with
    std::uint64_t shards = 0, seed = 0, window_texts = 0;  // what these numbers are of
    friend bool operator==(place const&, place const&) = default;
    void save(to_save& out) const {
      out.put("window", window);
      out.put("batch", batch);
      out.put("shards", shards);
      out.put("seed_of_order", seed);
      out.put("window_texts", window_texts);
    }
  };

  // The shards must outlive it. Throws value_error for a text that no batch has room for.
  packed_texts(io::token_shards const& shards, packed_texts_options const& o)
      : shards_(&shards), options_(o), order_(shards.texts(), o.seed), at_{.shards = shards.fingerprint(), .seed = o.seed, .window_texts = o.window} {
    detail::check_share(o.share, "packed_texts");
    if (o.window == 0) throw value_error("packed_texts: a window without texts. FIX: of at least as many as a batch has");
    if (shards.longest() > longest)
      throw value_error("packed_texts: a text has " + std::to_string(shards.longest()) + " tokens; there is room for " + std::to_string(longest) + ". FIX: batches with more room, or texts cut when the shards are written");
    go_to(at_);
  }

  place place_now() const { return at_; }
  void go_to(place const& p) {
    at_ = p;
    batches_ = planned(order_, p.window);
  }
  // Throws format_error where it is that of other shards or options.
  place place_in(saved const& in) const {
    place p = at_;
    for (auto const& [name, now] : {std::pair("shards", at_.shards), std::pair("seed_of_order", at_.seed), std::pair("window_texts", at_.window_texts)})
      if (in.value<std::uint64_t>(name) != now) throw format_error(std::string("the saved place in the texts is that of another run (") + name + "). FIX: resume with the same shards, seed and window");
    p.window = in.value<std::uint64_t>("window");
    p.batch = in.value<std::uint64_t>("batch");
    auto order = order_;
    if (p.batch > planned(order, p.window).size()) throw format_error("the saved place in the texts is behind the last batch of its window. FIX: resume from an older checkpoint");
    return p;
  }

  // Goes on by a batch for each rank.
  job draw() {
    job own;
    for (std::uint64_t rank = 0; rank < options_.share.ranks; ++rank) {
      if (at_.batch == batches_.size()) {
        ++at_.window;
        at_.batch = 0;
        batches_ = planned(order_, at_.window);
      }
      if (rank == options_.share.rank) own = batches_[static_cast<std::size_t>(at_.batch)];
      ++at_.batch;
    }
    return own;
  }
  void make(job const& texts, Batch& to) const {
    to.clear();
    std::vector<std::int32_t> ids;
    for (std::uint64_t const text : texts) {
      ids.clear();
      shards_->append(text, ids);
      to.add(ids);
    }
  }

 private:
  static constexpr std::uint64_t most_tokens = Batch::most_tokens, longest = std::min(Batch::longest, Batch::most_tokens);
  static constexpr std::size_t most_texts = Batch::most_texts;

  std::vector<job> planned(shuffled_order& order, std::uint64_t window) const {
    std::vector<job> all;
    std::vector<std::uint64_t> left;  // tokens that each has room for
    std::size_t first_open = 0;       // those before have no room for a text any more
    for (std::uint64_t k = 0; k < options_.window; ++k) {
      std::uint64_t const text = order.at(window * options_.window + k), length = shards_->length_of(text);
      std::size_t b = first_open;
      while (b < all.size() && (left[b] < length || all[b].size() == most_texts)) ++b;
      if (b == all.size()) {
        all.emplace_back();
        left.push_back(most_tokens);
      }
      all[b].push_back(text);
      left[b] -= length;
      while (first_open < all.size() && (left[first_open] == 0 || all[first_open].size() == most_texts)) ++first_open;
    }
    return all;
  }

  io::token_shards const* shards_;
  packed_texts_options options_;
  shuffled_order order_;
  place at_;
  std::vector<job> batches_;  // of the window that the place is in
};

}  // namespace tx::train
