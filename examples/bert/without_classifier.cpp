// Of a program that has no head.
#include "engine.hpp"

#include <tx/core/error.hpp>

namespace bert {

std::unique_ptr<classifier> make_classifier(std::uint64_t, int, bool) {
  throw tx::value_error("this program has no head. FIX: tx_add_bert(... HEADS sequence=2), or HEADS regression");
}

}  // namespace bert
