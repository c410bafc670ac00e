// The example's programs, compiled for the tests' model.
#define TWINBERT_MODEL_HEADER "../../tests/twinbert/tiny_model.hpp"
#include "../../examples/twinbert/description.cpp"
#include "../../examples/twinbert/engine.cpp"
#include "../../examples/twinbert/engine_of_ranks.cpp"
