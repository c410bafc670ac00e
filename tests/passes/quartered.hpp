// What a product of E4M3 should be, in doubles, found without tx's own rounding.
#pragma once

#include <tx/core/dtype.hpp>

#include <cmath>
#include <random>
#include <vector>

namespace quartered {

using matrix = std::vector<std::vector<double>>;  // rows

inline std::vector<float> drawn(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> numbers(-2, 2);
  std::vector<float> all(static_cast<std::size_t>(count));
  for (float& x : all) x = numbers(random);
  return all;
}
inline matrix of(std::vector<float> const& x, int rows, int cols) {
  matrix m(static_cast<std::size_t>(rows));
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) m[static_cast<std::size_t>(r)].push_back(static_cast<double>(tx::bf16::from(x[static_cast<std::size_t>(r * cols + c)]).widen()));
  return m;
}
inline matrix transposed(matrix const& m) {
  matrix t(m[0].size());
  for (std::size_t c = 0; c < m[0].size(); ++c)
    for (std::vector<double> const& row : m) t[c].push_back(row[c]);
  return t;
}

// A row on the grid of E4M3 that has its greatest number at 448 or below: eight numbers from one power of two to the next, and no finer ones than 2^-9 of that grid.
inline std::vector<double> rounded(std::vector<double> const& row) {
  double greatest = 0;
  for (double x : row) greatest = std::max(greatest, std::abs(x));
  int power = 0;
  if (greatest > 0) {
    power = -400;
    while (std::ldexp(448, power) < greatest) ++power;
  }
  std::vector<double> all;
  for (double x : row) {
    double const there = std::ldexp(x, -power);
    int const octave = there == 0 ? -6 : std::max(-6, std::ilogb(there));
    all.push_back(std::ldexp(std::nearbyint(std::ldexp(there, 3 - octave)), octave - 3 + power));  // ties to even
  }
  return all;
}
// Of rows and columns, both rows of matrices here.
inline matrix plain(matrix const& rows, matrix const& columns) {
  matrix all(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::vector<double> const& column : columns) {
      double sum = 0;
      for (std::size_t k = 0; k < column.size(); ++k) sum += rows[r][k] * column[k];
      all[r].push_back(sum);
    }
  return all;
}
inline matrix product(matrix rows, matrix columns) {
  for (std::vector<double>& r : rows) r = rounded(r);
  for (std::vector<double>& c : columns) c = rounded(c);
  return plain(rows, columns);
}
// The sum of the magnitudes of what an element of x [., depth] * w [depth, cols] adds up.
inline double sizes(std::vector<float> const& x, std::vector<float> const& w, int r, int c, int depth, int cols) {
  double sum = 0;
  for (int k = 0; k < depth; ++k) sum += std::abs(static_cast<double>(x[static_cast<std::size_t>(r * depth + k)]) * static_cast<double>(w[static_cast<std::size_t>(k * cols + c)]));
  return sum;
}

}  // namespace quartered
