// What a terminal shows of a wrong shape without scrolling: the line of the program, and what to do.
// within 10 lines
// expect: matmul: the last extent of the left side is not the last but one of the right side. FIX: make them equal, or transpose a side
// expect somewhere: shapes_shown_early.cpp:9:
#include <tx/tx.hpp>

using images = tx::tensor<float, 32, 128>;
using labels = tx::tensor<tx::i32, 32>;
constexpr auto loss = [](tx::nn::linear<64, 10> const& m, images x, labels y) { return tx::cross_entropy(m(x), y); };
using step = tx::train_step<tx::nn::linear<64, 10>, loss, tx::adamw>;
constexpr auto bytes = step::memory.peak;
