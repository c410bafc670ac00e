#include "evaluate.hpp"

#include <tx/train/loop/area_under_curve.hpp>
#include <tx/train/loop/ranking.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>

namespace twinbert {
namespace {

using tx::train::area_under_curve;

// Each text once: `texts` in order of first appearance, `of` their places by pair.
struct distinct {
  std::vector<std::string_view> texts;
  std::vector<std::size_t> of;

  distinct(std::span<tx::text::pair const> pairs, std::string tx::text::pair::*text) {
    std::unordered_map<std::string_view, std::size_t> seen;
    for (auto const& p : pairs) {
      auto const [at, fresh] = seen.try_emplace(p.*text, texts.size());
      if (fresh) texts.push_back(p.*text);
      of.push_back(at->second);
    }
  }
};

struct encoded_pairs {
  distinct queries, documents;
  std::vector<float> query_vectors, document_vectors;

  encoded_pairs(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs)
      : queries(pairs, &tx::text::pair::query),
        documents(pairs, &tx::text::pair::document),
        query_vectors(encode_texts(e, t, side::query, queries.texts)),
        document_vectors(encode_texts(e, t, side::document, documents.texts)) {}

  // Scores of queries and documents given by their places.
  std::vector<float> scores(engine& e, std::span<std::size_t const> q, std::span<std::size_t const> d) const {
    auto const hidden = static_cast<std::size_t>(compiled().hidden);
    auto const rows = [&](std::vector<float> const& vectors, std::span<std::size_t const> places) {
      std::vector<float> out(places.size() * hidden);
      for (std::size_t i = 0; i < places.size(); ++i)
        std::copy_n(vectors.data() + places[i] * hidden, hidden, out.data() + i * hidden);
      return out;
    };
    std::vector<float> out(q.size());
    e.score(rows(query_vectors, q), rows(document_vectors, d), out);
    return out;
  }
};

}  // namespace

std::vector<float> encode_texts(engine& e, tokenizer const& t, side s, std::span<std::string_view const> texts) {
  auto const& d = compiled();
  auto const room = static_cast<std::size_t>(d.words(s) * d.slots());
  std::vector<std::int32_t> ids(texts.size() * room);
  for (std::size_t i = 0; i < texts.size(); ++i)
    t.fill(t.encode(texts[i], static_cast<std::size_t>(d.words(s))), std::span(ids).subspan(i * room, room));
  std::vector<float> vectors(texts.size() * static_cast<std::size_t>(d.hidden));
  e.encode(s, ids, vectors);
  return vectors;
}

std::vector<float> score_pairs(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs) {
  encoded_pairs const all(e, t, pairs);
  return all.scores(e, all.queries.of, all.documents.of);
}

quality evaluate(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs, bool recall) {
  encoded_pairs const all(e, t, pairs);
  quality result;
  result.pairs = pairs.size();
  std::vector<float> labels;
  std::vector<std::size_t> own(all.queries.texts.size(), all.documents.texts.size());  // the first match of a query
  std::vector<std::vector<std::size_t>> besides(own.size());                           // all of them
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    labels.push_back(pairs[i].label);
    std::size_t& mine = own[all.queries.of[i]];
    if (pairs[i].label >= 0.5f && mine == all.documents.texts.size()) mine = all.documents.of[i];
    if (pairs[i].label >= 0.5f) besides[all.queries.of[i]].push_back(all.documents.of[i]);
  }
  bool const labelled = std::ranges::any_of(pairs, &tx::text::pair::labelled);
  if (labelled) result.auc = area_under_curve(all.scores(e, all.queries.of, all.documents.of), labels);
  bool const all_match = std::ranges::find(own, all.documents.texts.size()) == own.end();
  if (compiled().cosine_score && all_match && (recall || !labelled)) {
    auto const r = tx::train::ranked_by_cosine(all.query_vectors, all.document_vectors, static_cast<std::size_t>(compiled().hidden), own, besides);
    result.recall = r.recall;
    result.queries = own.size();
    result.documents = all.documents.texts.size();
    if (!labelled) result.auc = r.auc;
  } else if (!labelled) {  // one other document for each pair: that of the next one whose document is not this query's
    std::vector<std::size_t> other;
    std::vector<std::size_t> of;
    std::set<std::pair<std::size_t, std::size_t>> match;
    for (std::size_t i = 0; i < pairs.size(); ++i) match.emplace(all.queries.of[i], all.documents.of[i]);
    for (std::size_t i = 0; i < pairs.size(); ++i)
      for (std::size_t k = 1; k < pairs.size(); ++k) {
        std::size_t const document = all.documents.of[(i + k) % pairs.size()];
        if (match.contains({all.queries.of[i], document})) continue;
        of.push_back(all.queries.of[i]);
        other.push_back(document);
        break;
      }
    std::vector<float> scores = all.scores(e, all.queries.of, all.documents.of);
    for (float const s : all.scores(e, of, other)) scores.push_back(s);
    labels.resize(scores.size(), 0.0f);
    result.auc = area_under_curve(scores, labels);
  }
  return result;
}

}  // namespace twinbert
