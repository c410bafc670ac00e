// How well labels or numbers are told.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bert {

// For each label and over all, from the numbers of labels that texts have and that they were given.
class label_scores {
 public:
  // Numbers are below `labels`; as many wanted as told.
  label_scores(std::size_t labels, std::span<int const> wanted, std::span<int const> told);

  double accuracy() const;
  double precision(std::size_t label) const;  // 0 where no text was given it
  double recall(std::size_t label) const;     // 0 where no text has it
  double f1(std::size_t label) const;
  double mean_f1() const;  // over labels
  // The correlation of Matthews (1975), for any number of labels as Gorodkin (2004) has it; 0 where all have one label or were given one.
  double matthews() const;
  std::size_t texts(std::size_t label) const;  // that have it

 private:
  double row(std::size_t wanted) const;
  double column(std::size_t told) const;

  std::size_t labels_;
  std::vector<double> counts_;  // [wanted, told]
};

// Correlations of two lists of one length, of at least two numbers; 0 where one of them is constant. Spearman's is Pearson's of ranks, of equal numbers
// their mean.
double pearson(std::span<float const> a, std::span<float const> b);
double spearman(std::span<float const> a, std::span<float const> b);

}  // namespace bert
