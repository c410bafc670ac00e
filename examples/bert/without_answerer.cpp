// Of a program that finds no answers.
#include "engine.hpp"

#include <tx/core/error.hpp>

namespace bert {

std::unique_ptr<answerer> make_answerer(std::uint64_t, int, bool) {
  throw tx::value_error("this program finds no answers. FIX: tx_add_bert(... HEADS answer)");
}

}  // namespace bert
