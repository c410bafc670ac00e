#include "../trains.hpp"

TEMPLATE_TEST_CASE("a pair of towers over WordPiece trains", "",
                   (tiny<false, tx::nn::wordpiece, tx::nn::weighted_pooler, tx::nn::cosine>),
                   (tiny<false, tx::nn::wordpiece, tx::nn::weighted_pooler, tx::nn::residual>),
                   (tiny<false, tx::nn::wordpiece, tx::nn::cls_pooler, tx::nn::cosine>),
                   (tiny<false, tx::nn::wordpiece, tx::nn::cls_pooler, tx::nn::residual>)) {
  check_that_it_trains<TestType>(0);
}
