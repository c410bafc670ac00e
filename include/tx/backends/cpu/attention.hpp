// softmax(scale q k^T + bias) v without its scores in memory: forward, and backward from what forward leaves (T. Dao, D. Fu, S. Ermon,
// A. Rudra and C. Ré, FlashAttention, arXiv 2205.14135). Problems and their memory: attention_problem.hpp;
// what a share does: attention_forward.hpp, attention_backward.hpp; calls of programs: attention_kernels.hpp.
//
//   for_shares(threads, work, [&](int s) { attention_forward<f32>(s, shares, problem, result, scratch + s * bytes); });
//
//   for_shares(threads, work, [&](int s) { attention_backward<f32>(s, shares, problem, gradients, sums, scratch + s * bytes); });
//   for_shares(threads, work, [&](int s) { attention_backward_finish<f32>(s, shares, problem, gradients, sums, scratch + s * bytes); });
//
// All shares of the second are to have ended before one of the third begins. T is f32, bf16 or f16, whose products and sums are f32, or f64. Every element of
// a result is a sum in an order that depends on its own text alone: not on the number of shares, nor on who runs them, nor on other texts.
#pragma once

#include <tx/backends/cpu/attention_problem.hpp>

namespace tx::backends::cpu {

// out, greatest and log_sum. Rows of q that no packed text has are 0 in out. scratch: attention_scratch_bytes(head, type).
template <class T>
void attention_forward(int share, int share_count, attention_problem<T> const& problem, attention_result<T> const& result, std::byte* scratch);

// The gradients of keys and values, and that of queries or its sums; rows that no text has are 0.
// scratch: attention_backward_scratch_bytes(head, type). sums: attention_sums_bytes(sizes, packed, type), which may be none.
template <class T>
void attention_backward(int share, int share_count, attention_problem<T> const& problem, attention_gradients<T> const& gradients, std::byte* sums,
                        std::byte* scratch);

// d_q of the sums, and d_bias if it is wanted.
template <class T>
void attention_backward_finish(int share, int share_count, attention_problem<T> const& problem, attention_gradients<T> const& gradients, std::byte const* sums,
                               std::byte* scratch);

}  // namespace tx::backends::cpu
