// An option of a step that is not of tx.
#pragma once

#include <tx/step/options.hpp>

namespace own {
template <int Parts>
struct clipped_in_parts {};
}  // namespace own

template <int Parts>
struct tx::step_option<own::clipped_in_parts<Parts>> {
  static constexpr void set(tx::step_options& o) {
    o.clips = true;
    o.parts = Parts;
  }
};
