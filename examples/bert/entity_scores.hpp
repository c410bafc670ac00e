// How well entities are told that tags B-KIND and I-KIND mark, as seqeval counts them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bert {

// Words [first, last) of a text.
struct entity {
  std::string kind;
  std::size_t first, last;
  bool operator==(entity const&) const = default;
};
// An entity begins with B-KIND, and with an I-KIND that goes on with none of its kind, as conlleval and seqeval have it.
std::vector<entity> entities_of(std::span<std::string const> tags);

// Counts over texts: of words, and of entities, which are right where the kind and both ends are.
class entity_scores {
 public:
  // Throws value_error where there are not as many tags told as wanted.
  void add(std::span<std::string const> wanted, std::span<std::string const> told);

  double accuracy() const;  // of words
  double precision() const { return ratio(right_, told_); }
  double recall() const { return ratio(right_, wanted_); }
  double f1() const { return ratio(2 * right_, told_ + wanted_); }
  double words() const { return words_; }
  double entities() const { return wanted_; }

 private:
  static double ratio(double part, double all) { return all > 0 ? part / all : 0; }

  double words_ = 0, right_words_ = 0, wanted_ = 0, told_ = 0, right_ = 0;
};

// Whether all are O, B-KIND or I-KIND; others mark no entities.
bool marks_entities(std::span<std::string const> tags);

}  // namespace bert
