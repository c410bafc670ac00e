#include "../trains.hpp"

TEMPLATE_TEST_CASE("a shared tower over trigrams trains", "",
                   (tiny<true, tx::nn::tri_letter<4>, tx::nn::weighted_pooler, tx::nn::cosine>),
                   (tiny<true, tx::nn::tri_letter<4>, tx::nn::weighted_pooler, tx::nn::residual>),
                   (tiny<true, tx::nn::tri_letter<4>, tx::nn::cls_pooler, tx::nn::cosine>),
                   (tiny<true, tx::nn::tri_letter<4>, tx::nn::cls_pooler, tx::nn::residual>)) {
  check_that_it_trains<TestType>(4);
}
