// Training steps of another model than the everyday tests', and unfused, against PyTorch.
#include "../from_pytorch.hpp"

using namespace tx;

TEST_CASE("200 TwinBERT steps stay with PyTorch's, residual crossing") { CHECK(train_twin<nn::residual>("twinbert_residual") < 1e-4); }

TEST_CASE("200 TwinBERT steps without fusion stay there too") {
  CHECK(train_twin<nn::cosine, compiled_with<compile_options{.fuse = false}>>("twinbert_cosine") < 1e-4);
}
