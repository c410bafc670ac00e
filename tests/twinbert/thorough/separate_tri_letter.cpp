#include "../trains.hpp"

TEMPLATE_TEST_CASE("a pair of towers over trigrams trains", "",
                   (tiny<false, tx::nn::tri_letter<4>, tx::nn::weighted_pooler, tx::nn::cosine>),
                   (tiny<false, tx::nn::tri_letter<4>, tx::nn::weighted_pooler, tx::nn::residual>),
                   (tiny<false, tx::nn::tri_letter<4>, tx::nn::cls_pooler, tx::nn::cosine>),
                   (tiny<false, tx::nn::tri_letter<4>, tx::nn::cls_pooler, tx::nn::residual>)) {
  check_that_it_trains<TestType>(4);
}
