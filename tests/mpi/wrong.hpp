// What a rank finds wrong, counted and said.
#pragma once

#include <cstdio>

struct wrong {
  int rank;
  int count = 0;

  void unless(bool right, char const* what) {
    if (right) return;
    ++count;
    if (count <= 10) std::fprintf(stderr, "rank %d: %s\n", rank, what);
  }
};
