// Of a program that does not pre-train.
#include "engine.hpp"

#include <tx/core/error.hpp>

namespace bert {

std::unique_ptr<pretrainer> make_pretrainer(std::uint64_t, int) { throw tx::value_error("this program does not pre-train. FIX: tx_add_bert(... HEADS pretrain)"); }

}  // namespace bert
