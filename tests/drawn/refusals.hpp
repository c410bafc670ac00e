// What a drawn program may be refused for; any other refusal is a mistake of what refuses.
#pragma once

#include <array>
#include <string_view>

namespace drawn {

inline bool may_be_refused(std::string_view text) {
  constexpr std::array<std::string_view, 6> reasons{
      "nothing to train", "nothing is trained", "an op without a gradient", "a bounded extent must stay the leading axis",
      "virtual_shards: an argument needs a fixed leading axis", "a value of a repeated block, or of a shard, has as many axes as a tensor may have"};
  for (std::string_view r : reasons)
    if (text.starts_with(r)) return true;
  return false;
}

}  // namespace drawn
