#include "pretraining_data.hpp"

#include <tx/text/document_ids.hpp>
#include <tx/train/loop/random.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bert {
namespace {

using tx::train::random_numbers;

bool happens(random_numbers& random, double share) { return static_cast<double>(random() >> 11) * 0x1p-53 < share; }

// Takes tokens from the front or the back of the longer one, by chance, until both fit.
void cut(std::vector<std::int32_t>& a, std::vector<std::int32_t>& b, std::size_t most, random_numbers& random) {
  struct ends {
    std::size_t front, back;  // what is left lies between
    std::size_t size() const { return back - front; }
  };
  ends of_a{0, a.size()}, of_b{0, b.size()};
  while (of_a.size() + of_b.size() > most) {
    ends& longer = of_a.size() > of_b.size() ? of_a : of_b;
    if (happens(random, 0.5)) ++longer.front;
    else --longer.back;
  }
  auto const keep = [](std::vector<std::int32_t>& of, ends left) {
    of.resize(left.back);
    of.erase(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(left.front));
  };
  keep(a, of_a);
  keep(b, of_b);
}

class pair_maker {
 public:
  pair_maker(std::span<document const> all, pair_options const& o, std::int32_t cls, std::int32_t sep, std::uint64_t seed)
      : all_(all), options_(o), cls_(cls), sep_(sep), random_(seed) {}

  // Sentences are gathered until they are as long as a pair is to be, and then parted somewhere.
  void add(std::size_t number, std::vector<pair_example>& to) {
    document const& d = all_[number];
    std::size_t wanted = length();
    document chunk;
    std::size_t gathered = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      chunk.push_back(d[i]);
      gathered += d[i].size();
      if (i + 1 < d.size() && gathered < wanted) continue;
      std::size_t const parted = chunk.size() > 1 ? 1 + random_.below(chunk.size() - 1) : 1;
      std::vector<std::int32_t> a = joined(chunk, 0, parted), b;
      bool const other = chunk.size() == 1 || happens(random_, options_.other_share);
      if (other) {
        b = of_another(number, wanted - std::min(wanted, a.size()));
        i -= chunk.size() - parted;  // what was to follow comes again
      } else {
        b = joined(chunk, parted, chunk.size());
      }
      cut(a, b, most(), random_);
      if (!a.empty() && !b.empty()) to.push_back(around(a, b, other));
      chunk.clear();
      gathered = 0;
      wanted = length();
    }
  }

 private:
  std::size_t most() const { return static_cast<std::size_t>(options_.longest) - 3; }
  std::size_t length() { return happens(random_, options_.short_share) ? 2 + random_.below(most() - 1) : most(); }
  static std::vector<std::int32_t> joined(document const& of, std::size_t first, std::size_t end) {
    std::vector<std::int32_t> out;
    for (std::size_t k = first; k < end; ++k) out.insert(out.end(), of[k].begin(), of[k].end());
    return out;
  }
  std::vector<std::int32_t> of_another(std::size_t number, std::size_t wanted) {
    std::size_t other = random_.below(all_.size() - 1);
    other += other >= number;
    document const& d = all_[other];
    std::vector<std::int32_t> out;
    for (std::size_t k = random_.below(d.size()); k < d.size() && (out.empty() || out.size() < wanted); ++k) out.insert(out.end(), d[k].begin(), d[k].end());
    return out;
  }
  pair_example around(std::vector<std::int32_t> const& a, std::vector<std::int32_t> const& b, bool other) const {
    pair_example p;
    p.ids.push_back(cls_);
    p.ids.insert(p.ids.end(), a.begin(), a.end());
    p.ids.push_back(sep_);
    p.types.assign(p.ids.size(), 0);
    p.ids.insert(p.ids.end(), b.begin(), b.end());
    p.ids.push_back(sep_);
    p.types.resize(p.ids.size(), 1);
    p.other = other;
    return p;
  }

  std::span<document const> all_;
  pair_options const& options_;
  std::int32_t cls_, sep_;
  random_numbers random_;
};

}  // namespace

std::vector<document> read_documents(std::span<std::string const> files, tx::text::tokenizer const& words) {
  std::vector<document> all;
  bool begins = true;
  tx::text::for_each_document(
      files, words, 0,
      [&](std::span<std::int32_t const> ids) {
        if (std::exchange(begins, false)) all.emplace_back();
        all.back().emplace_back(ids.begin(), ids.end());
      },
      [&] { begins = true; });
  if (all.size() < 2)
    throw tx::format_error((files.empty() ? std::string("texts") : files.back()) + ": " + std::to_string(all.size()) + " documents. FIX: at least 2, with an empty line between them, and a sentence a line");
  return all;
}

std::vector<pair_example> drawn_pairs(std::span<document const> documents, pair_options const& o, std::int32_t cls, std::int32_t sep, std::uint64_t seed) {
  std::vector<pair_example> out;
  pair_maker make(documents, o, cls, sep, seed);
  for (std::size_t k = 0; k < documents.size(); ++k) make.add(k, out);
  random_numbers random(seed ^ 0x6f72646572u);
  tx::train::shuffle(std::span(out), random);
  return out;
}

masked_text masked(std::span<std::int32_t const> ids, mask_options const& o, std::uint64_t seed) {
  random_numbers random(seed);
  auto const is = [](std::span<bool const> set, std::int32_t id) { return static_cast<std::size_t>(id) < set.size() && set[static_cast<std::size_t>(id)]; };
  std::vector<std::vector<std::size_t>> candidates;  // each a token, or all of a word
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (is(o.kept, ids[i])) continue;
    bool const goes_on = o.whole_words && !candidates.empty() && candidates.back().back() + 1 == i && is(o.continues, ids[i]);
    if (!goes_on) candidates.emplace_back();
    candidates.back().push_back(i);
  }
  tx::train::shuffle(std::span(candidates), random);
  std::size_t const wanted = std::min<std::size_t>(static_cast<std::size_t>(o.most), std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(o.share * static_cast<double>(ids.size())))));
  std::vector<std::size_t> chosen;
  for (auto const& c : candidates)
    if (chosen.size() + c.size() <= wanted) chosen.insert(chosen.end(), c.begin(), c.end());
  std::ranges::sort(chosen);
  masked_text out{{ids.begin(), ids.end()}, {}, {}};
  for (std::size_t const i : chosen) {
    out.places.push_back(static_cast<std::int32_t>(i));
    out.words.push_back(ids[i]);
    if (happens(random, 0.8)) out.ids[i] = o.mask;
    else if (happens(random, 0.5)) out.ids[i] = static_cast<std::int32_t>(random.below(static_cast<std::size_t>(o.vocabulary)));
  }
  return out;
}

}  // namespace bert
