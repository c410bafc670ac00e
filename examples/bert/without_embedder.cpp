// Of a program that makes no vectors.
#include "engine.hpp"

#include <tx/core/error.hpp>

namespace bert {

std::unique_ptr<embedder> make_embedder(int, bool) { throw tx::value_error("this program makes no vectors. FIX: tx_add_bert(... HEADS embed)"); }

}  // namespace bert
