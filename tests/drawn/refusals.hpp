// What a drawn program may be refused for; any other refusal is a mistake of what refuses.
#pragma once

#include <string_view>

namespace drawn {

inline bool may_be_refused(std::string_view text) {
  for (std::string_view reason : {
           "nothing to train",
           "nothing is trained",
           "an op without a gradient",
           "accumulate: an argument ",
           "repeated bodies are more than four deep",
           "virtual_shards: an argument needs a fixed leading axis",
           "a value of a repeated block, or of a shard, has as many axes as a tensor may have",
       })
    if (text.starts_with(reason)) return true;
  return false;
}

}  // namespace drawn
