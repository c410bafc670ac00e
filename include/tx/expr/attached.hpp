// Modules that stand beside layers of another module: LoRA's matrices beside linear layers (nn/lora.hpp). A layer that may have one holds
// an `attachment`, nodes of the other's parameters, none unless a module around it says so; layers are found by name.
#pragma once

#include <tx/graph/graph.hpp>

#include <concepts>
#include <type_traits>

namespace tx {

// Within a layer: how what stands beside it goes on. It is no parameter, and has no name.
struct attachment {
  int down = -1, up = -1;  // nodes of two parameters; -1: there is none
  double scale = 1, dropout = 0;
};

template <class M>
concept attachable_module = requires(M& m) {
  { m.beside } -> std::same_as<attachment&>;
};
// `attaching` says by attaches(k) beside which layers of its `body`, the how many-th, there is a module, of type beside<Layer>.
template <class M>
concept attaching_module = requires { typename M::attaching; };

namespace detail {

struct nothing_attached {};

// For code that goes through the handles of a part of a model, whatever module around it has attached some: each is an id in a graph.
struct whatever_is_attached {
  struct handle {
    graph* g;
    int id;
  };
  template <class Layer, class F, class Around>
  static constexpr void visit(Layer& layer, F& f, Around const& around, int*) {
    if (layer.beside.down < 0) return;
    for (int* const id : {&layer.beside.down, &layer.beside.up}) {
      handle h{layer.weight.g, *id};
      f(h, around);
      *id = h.id;
    }
  }
};

}  // namespace detail

}  // namespace tx
