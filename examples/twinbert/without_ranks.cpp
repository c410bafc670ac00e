// Of a program that is compiled for one process.
#include "engine.hpp"

#include <tx/core/error.hpp>

namespace twinbert {

std::unique_ptr<engine> make_engine_of_ranks(engine_options const&, command_line::processes&) {
  throw tx::value_error("this program trains in one process, and was started as one of several. FIX: start one, or tx_add_twinbert(... RANKS)");
}

}  // namespace twinbert
