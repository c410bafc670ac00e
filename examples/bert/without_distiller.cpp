// Of a program that has no teacher.
#include "engine.hpp"

#include <tx/core/error.hpp>

namespace bert {

std::unique_ptr<distiller> make_distiller(std::uint64_t, int) {
  throw tx::value_error("this program has no teacher. FIX: tx_add_bert(... TEACHER config.json)");
}

}  // namespace bert
