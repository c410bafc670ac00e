#include "entity_scores.hpp"

#include <tx/core/error.hpp>

#include <algorithm>

namespace bert {

bool marks_entities(std::span<std::string const> tags) {
  return std::ranges::all_of(tags, [](std::string const& tag) { return tag == "O" || ((tag.starts_with("B-") || tag.starts_with("I-")) && tag.size() > 2); });
}

std::vector<entity> entities_of(std::span<std::string const> tags) {
  std::vector<entity> out;
  bool open = false;
  for (std::size_t k = 0; k < tags.size(); ++k) {
    if (tags[k] == "O") {
      open = false;
      continue;
    }
    std::string const kind = tags[k].substr(2);
    open = open && tags[k].front() == 'I' && out.back().kind == kind;
    if (!open) out.push_back({kind, k, k});
    out.back().last = k + 1;
    open = true;
  }
  return out;
}

void entity_scores::add(std::span<std::string const> wanted, std::span<std::string const> told) {
  if (wanted.size() != told.size()) throw tx::value_error("entity_scores: " + std::to_string(told.size()) + " tags for " + std::to_string(wanted.size()) + " words. FIX: one for each");
  words_ += static_cast<double>(wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) right_words_ += wanted[k] == told[k];
  if (!marks_entities(wanted) || !marks_entities(told)) return;
  auto const of_text = entities_of(wanted), found = entities_of(told);
  wanted_ += static_cast<double>(of_text.size());
  told_ += static_cast<double>(found.size());
  for (auto const& e : found) right_ += std::ranges::find(of_text, e) != of_text.end();
}

double entity_scores::accuracy() const { return ratio(right_words_, words_); }

}  // namespace bert
