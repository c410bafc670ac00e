// What a change of a text tells of it.
#pragma once

#include <tx/text/text_range.hpp>

namespace tx::text::detail {

// What a text has become. front_moved: what begins it now may not be what began it before, by which its first word is told.
struct change_result {
  text_slice text;
  bool front_moved = false;
};

}  // namespace tx::text::detail
