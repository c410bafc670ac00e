// Of a program that trains no vectors.
#include "engine.hpp"

#include <tx/core/error.hpp>

namespace bert {

std::unique_ptr<contrastive> make_contrastive(std::uint64_t, int) {
  throw tx::value_error("this program trains no vectors. FIX: tx_add_bert(... HEADS contrast)");
}

}  // namespace bert
