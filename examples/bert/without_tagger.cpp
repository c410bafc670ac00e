// Of a program that has no head for tokens.
#include "engine.hpp"

#include <tx/core/error.hpp>

namespace bert {

std::unique_ptr<tagger> make_tagger(std::uint64_t, int, bool) {
  throw tx::value_error("this program has no head for tokens. FIX: tx_add_bert(... HEADS token=9)");
}

}  // namespace bert
