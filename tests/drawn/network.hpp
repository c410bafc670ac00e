// Networks that are drawn for one pass, beside the programs of grow_program.hpp, which rarely meet what it looks for: layers of weights, some of them in a loop.
#pragma once

#include "words.hpp"

#include <random>

namespace drawn {

inline shape of(std::initializer_list<int> extents) {
  shape s{};
  for (int e : extents) s.dim[s.rank++] = e;
  return s;
}

class network {
 public:
  network(network const&) = delete;
  network& operator=(network const&) = delete;

 protected:
  explicit network(unsigned seed) : numbers_(seed) {}

  bool one_in(int n, int of_them = 1) { return static_cast<int>(numbers_() % static_cast<unsigned>(n)) < of_them; }
  int below(int n) { return static_cast<int>(numbers_() % static_cast<unsigned>(n)); }

  // So many iterations of a loop that carries x through layer(carried, body).
  template <class Layer>
  var repeated_times(int iterations, var x, Layer const& layer) {
    repeated body(g, iterations, false);
    body_ = &body;
    layers_ = iterations;
    var const carried = body.carry(x);
    body.enter();
    var const next = layer(carried, body);
    body.leave();
    body.next(next);
    body.close();
    body_ = nullptr;
    return body.result(0);
  }
  // [n, m] or [n], a slice of such in a loop.
  var weight(shape dims) {
    shape all = dims;
    if (body_ != nullptr) {
      all.rank = dims.rank + 1;
      all.dim[0] = layers_;
      for (int a = 0; a < dims.rank; ++a) all.dim[a + 1] = dims.dim[a];
    }
    int const here = g.current;
    g.current = 0;
    var const w = weights(g, next_element_, next_number_++, dtype::f32, all);
    next_element_ += static_cast<int>(all.count());
    g.current = here;
    return body_ != nullptr ? body_->slices(w) : w;
  }
  static var turned(var w) { return transpose(w, attributes{{1, 0}}); }
  void ends_with(var x) { g.outputs.push_back({total(x * x).id, tx::output_kind::result, -1}); }

  graph g{};

 private:
  std::mt19937 numbers_;
  repeated* body_ = nullptr;
  int layers_ = 1, next_element_ = 0, next_number_ = 0;
};

}  // namespace drawn
