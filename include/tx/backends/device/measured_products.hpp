// What a library's products are told apart by, and how the fastest of its algorithms for one is found. Nothing here asks for a library.
#pragma once

#include <tx/core/dtype.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace tx::backends::device {

// How the rows of a side, or of results, lie, and where the next product's are.
struct matrix_shape {
  bool turned;
  std::int64_t apart, next;
  auto operator<=>(matrix_shape const&) const = default;
};
// All that the choice of an algorithm may depend on, but for the device and the library.
struct library_key {
  dtype type, to_type;
  bool tf32;  // floats are rounded to 11 bits
  std::int64_t rows, cols, depth;
  matrix_shape right, left, added, to;
  bool adds, adds_row;
  std::int64_t next_row;
  std::int32_t batch;
  int alignment;  // a multiple of bytes that all matrices begin at
  bool scales;    // of rows and of columns
  auto operator<=>(library_key const&) const = default;

  // What stands for it and for shapes with up to an eighth more rows: batches of unequal texts have other numbers of rows in each run, and are not measured in each.
  library_key of_about_so_many_rows() const {
    library_key s = *this;
    std::int64_t step = 1;
    while (rows > 16 * step) step *= 2;
    s.rows = (rows + step - 1) / step * step;
    return s;
  }
  // In one line, which names it in a file.
  std::string text() const {
    std::string s = std::string(name_of(type)) + (tf32 ? "*" : "") + ">" + name_of(to_type);
    auto const number = [&](char const* what, std::int64_t n) { s += std::string(" ") + what + std::to_string(n); };
    auto const matrix = [&](char const* what, matrix_shape const& m) {
      number(what, m.apart);
      s += m.turned ? "t+" : "+";
      s += std::to_string(m.next);
    };
    number("rows ", rows);
    number("cols ", cols);
    number("depth ", depth);
    matrix("left ", left);
    matrix("right ", right);
    matrix("to ", to);
    if (adds) matrix("added ", added);
    if (adds_row) number("row +", next_row);
    number("batch ", batch);
    number("aligned ", alignment);
    if (scales) s += " scaled";
    return s;
  }
};

// Algorithms that are measured for a shape at most, those that the library expects most of.
inline constexpr int most_candidates = 8;

struct measured_way {
  int number;      // -1: none of them runs
  double seconds;  // of one product
};
// The fastest of so many ways. seconds(i) runs way i and tells how long a product took, or a negative number where it does not run. The first time of each is not
// counted. They take turns, as a device's clock rises and falls; the shortest of each one's times counts. One that the library expects less of has to be faster by a
// fiftieth, which is more than noise.
template <class Seconds>
measured_way fastest(int count, Seconds const& seconds) {
  constexpr int rounds = 3;
  std::vector<double> least(static_cast<std::size_t>(count), -1);
  for (int round = -1; round < rounds; ++round)
    for (int i = 0; i < count; ++i) {
      double& of_it = least[static_cast<std::size_t>(i)];
      if (round >= 0 && of_it < 0) continue;
      double const now = seconds(i);
      of_it = now < 0 || round <= 0 || now < of_it ? now : of_it;
    }
  measured_way best{-1, 0};
  for (int i = 0; i < count; ++i) {
    double const of_it = least[static_cast<std::size_t>(i)];
    if (of_it >= 0 && (best.number < 0 || of_it < 0.98 * best.seconds)) best = {i, of_it};
  }
  return best;
}

}  // namespace tx::backends::device
