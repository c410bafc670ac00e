// A student of three heads, whose teacher has two.
// expect: tx::nn::self_attention_loss: student and teacher have other numbers of heads. FIX: a student with as many heads as its teacher
#include <tx/nn/attention_distillation.hpp>

template <class T, auto... Dims>
using t = tx::tensor<T, Dims...>;

constexpr auto apart = [](t<float, 8, 6> student, t<float, 8, 4> teacher, t<tx::i32, 3> offsets) {
  return tx::nn::self_attention_loss(tx::nn::attention_inputs<3, t<float, 8, 6>>{student, student, student}, tx::nn::attention_inputs<2, t<float, 8, 4>>{teacher, teacher, teacher},
                                     tx::nn::texts_at<6>(offsets));
};
using result = decltype(apart({}, {}, {}));
