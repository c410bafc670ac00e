#include "../trains.hpp"

TEMPLATE_TEST_CASE("a shared tower over WordPiece trains", "",
                   (tiny<true, tx::nn::wordpiece, tx::nn::weighted_pooler, tx::nn::cosine>),
                   (tiny<true, tx::nn::wordpiece, tx::nn::weighted_pooler, tx::nn::residual>),
                   (tiny<true, tx::nn::wordpiece, tx::nn::cls_pooler, tx::nn::cosine>),
                   (tiny<true, tx::nn::wordpiece, tx::nn::cls_pooler, tx::nn::residual>)) {
  check_that_it_trains<TestType>(0);
}
