// self_attention_loss(student, teacher, texts_at<Longest>(offsets)): a small model learns which tokens a larger one's last layer attends to (MiniLM, Wang et al.,
// arXiv 2002.10957, equations 6 to 9). attention_inputs of [tokens, H], offsets [texts + 1] -> scalar. Of each head of both, over the keys of a query's own text,
//
//   A = softmax(Q K^T / sqrt(head))      R = softmax(V V^T / sqrt(head))
//   loss = the mean over heads and tokens of KL(A_teacher || A_student) + KL(R_teacher || R_student)
//
// so that neither the number of layers nor their width needs to be the teacher's, but the number of heads. Packed attention keeps no scores, so those of
// this one layer are computed beside it, [texts, heads, Longest, Longest] of each; places without a token are left out of both sums. The teacher is a constant,
// and nothing is dropped. A batch without tokens has no loss, 0.
//
//   auto const taught = tx::inference([&](auto const&... x) { return m.teacher.body.packed_with_attention<128>(x...); })(ids, positions, offsets);
//   auto const own = m.student.packed_with_attention<128>(ids, positions, offsets);
//   return tx::nn::distillation_loss(own.logits, taught.logits, 2.0) + tx::nn::self_attention_loss(own.attention, taught.attention, tx::nn::texts_at<128>(offsets));
//
// Errors, while compiling: other numbers of heads, or of tokens.
#pragma once

#include <tx/nn/attention.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/padded_texts.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/stop_gradient.hpp>

namespace tx::nn {

namespace detail {

// Sums over pairs of tokens of one text.
class token_pairs {
 public:
  constexpr token_pairs(var offsets, int longest, shape const& tokens) : texts_(offsets, longest, tokens), longest_(longest) {
    int const count = offsets.dims().dim[0] - 1;
    of_tokens_ = cast(texts_.seen(), dtype::i32);
    keys_ = reshape(texts_.seen(), extents(count, 1, 1, longest));
    both_ = logical_and(keys_, reshape(texts_.seen(), extents(count, 1, longest, 1)));
  }

  // The divergence of softmax(a b^T / sqrt(head)) from that of the teacher, summed over heads and tokens; each [tokens, H].
  constexpr var divergence(int heads, var a, var b, var teacher_a, var teacher_b) const {
    var const own = log_shares(heads, a, b), wanted = stop_gradient(log_shares(heads, teacher_a, teacher_b));
    return sum(where(both_, exp(wanted) * (wanted - own), 0.0));
  }
  constexpr var tokens() const { return sum(of_tokens_); }

 private:
  constexpr var log_shares(int heads, var a, var b) const {
    int const head = a.dims().dim[1] / heads;
    double const scale = 1.0 / math::sqrt(static_cast<double>(head));
    auto const apart = [&](var x) {  // [tokens, H] -> [texts, heads, longest, head]
      var const padded = texts_.padded(x);
      return transpose(reshape(padded, extents(padded.dims().at(0), longest_, heads, head)), attributes{{0, 2, 1, 3}});
    };
    var const left = apart(a * scale), right = apart(b);
    return log_softmax(where(keys_, matmul(left, transpose(right)), masked_score));
  }

  tx::detail::padded_texts texts_;
  int longest_;
  var of_tokens_{}, keys_{}, both_{};
};

}  // namespace detail

template <int Heads, int TeacherHeads, typed_handle S, typed_handle T, int Longest, typed_handle Offsets>
constexpr auto self_attention_loss(attention_inputs<Heads, S> const& student, attention_inputs<TeacherHeads, T> const& teacher, packed_texts<Longest, Offsets> const& texts) {
  static_assert(Heads == TeacherHeads, "tx::nn::self_attention_loss: student and teacher have other numbers of heads. FIX: a student with as many heads as its teacher, of any width");
  static_assert(S::dims.rank == 2 && T::dims.rank == 2 && S::dims.at(0) == T::dims.at(0), "tx::nn::self_attention_loss: it compares [tokens, width] of the same tokens. FIX: give both the same packed texts");
  detail::token_pairs const pairs(rising(texts.offsets, S::dims, Longest), Longest, S::dims);
  var const apart = pairs.divergence(Heads, student.queries, student.keys, teacher.queries, teacher.keys) +
                    pairs.divergence(Heads, student.values, student.values, teacher.values, teacher.values);
  var const rows = maximum(cast(pairs.tokens(), S::info.type), 1.0) * static_cast<double>(Heads);
  var const loss = apart / rows;
  return tensor_of<value_info{S::info.type, shape{}}>{loss.g, loss.id};
}

}  // namespace tx::nn
