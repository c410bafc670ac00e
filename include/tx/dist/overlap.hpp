// overlapped: an option of a step whose ranks compute while values travel between them. Each sum and each gathering is begun as soon as what it is of is there, and awaited when nothing else
// is left to do in the same iteration of a backward pass; whatever is made of it comes behind that (passes/reorder.hpp). Where ranks divide parameters (zero<3>), those of the next block are
// gathered while one is computed (fetched_ahead.hpp).
//
//   train_step<model, loss, adamw, data_parallel<4>, overlapped>
//
// The same bits. What goes on meanwhile is the communicator's: of hosts `dist::in_background` has a thread for it, devices a stream of their own; with others nothing does. What is on its
// way takes its room until it is awaited: the gradients of one block, and the parameters of the next one.
#pragma once

#include <tx/dist/fetched_ahead.hpp>
#include <tx/passes/rewrite.hpp>
#include <tx/step/options.hpp>

namespace tx {

// Of results of at least so many bytes: less is there at once.
template <std::int64_t Bytes>
struct overlapped_from {
  static_assert(Bytes > 0, "tx::overlapped_from takes a number of bytes. FIX: 1 or more, or tx::overlapped");
};
using overlapped = overlapped_from<4096>;
template <std::int64_t Bytes>
struct step_option<overlapped_from<Bytes>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(overlapped_from<Bytes>) > 0);  // its own assertion, as in train/options.hpp
    o.overlaps = Bytes;
  }
};

namespace dist {

namespace detail {
class overlapping {
 public:
  constexpr explicit overlapping(std::int64_t worth_it) : worth_it_(worth_it) {}

  constexpr int operator()(graph& to, int, node& n, vec<int>& in) const {
    op_info const* const begins = begun_by(n.op);
    if (begins == nullptr || n.info.bytes() < worth_it_) return -1;
    attributes const at = tx::detail::with_pair(n.at, to.size());
    int const begun = to.emit(begins, in.data(), 1, at, n.info);
    int const both[] = {begun, in[0]};
    return to.emit(&awaited_info, both, 2, at, n.info);
  }

 private:
  static constexpr op_info const* begun_by(op_info const* op) {
    if (op == &all_reduce_info) return &begun_all_reduce_info;
    if (op == &reduce_scatter_info) return &begun_reduce_scatter_info;
    if (op == &all_gather_info) return &begun_all_gather_info;
    return op == &all_gather_of_next_info ? &begun_all_gather_of_next_info : nullptr;
  }

  std::int64_t worth_it_;
};
}  // namespace detail

// The last thing that is done to a recorded step. worth_it: bytes of a result.
constexpr void overlap(graph& g, std::int64_t worth_it) {
  detail::ahead_fetcher(g, worth_it).run();
  g = passes::rewrite(g, detail::overlapping(worth_it));
}

}  // namespace dist

}  // namespace tx
