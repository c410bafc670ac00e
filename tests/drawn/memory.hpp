// The memory of one run of a program: leaves have their elements, and every byte of the arena is part of a NaN before.
#pragma once

#include "planned.hpp"

#include <tx/backends/cuda/target.hpp>
#include <tx/run/frame.hpp>

#include <cstring>
#include <memory>
#include <new>

namespace drawn {

class run_memory {
 public:
  run_memory(recorded const& r, std::int64_t arena_bytes, int rows) : r_(r), scalars_(run_scalars.begin(), run_scalars.end()) {
    f.key = run_key;
    f.step = run_step;
    if (row_count const planned{r.rows.most, rows}; r.rows.fixed < 0 && planned.most > 0) {
      f.extents.bound_of = planned.bounds();
      for (int tag : {1, 2}) f.extents.now[tag] = planned.now_of(tag);
    }
    std::memset(lend(tx::exec::base_arena, arena_bytes), 0xff, static_cast<std::size_t>(arena_bytes));
    std::int64_t const scalars_bytes = tx::exec::scalars_and_step + tx::cuda_target.counter_bytes();  // no target has more counters
    std::byte* const scalars = lend(tx::exec::base_scalars, scalars_bytes);
    std::memset(scalars, 0, static_cast<std::size_t>(scalars_bytes));  // devices add the step that lies there to that of the frame
    std::memcpy(scalars, scalars_.data(), scalars_.size() * sizeof(float));
    for (std::size_t b = 0; b < r.sizes.size(); ++b) {
      std::byte* const to = lend(tx::exec::base_block + static_cast<int>(b), r.sizes[b] * tx::size_of(r.type));
      for (int k = 0; k < r.sizes[b]; ++k) put(to, r.type, k, block_element(static_cast<int>(b), k, r.type));
    }
    for (std::size_t k = 0; k < r.inputs.size() && k < tx::exec::max_inputs; ++k) {
      tx::node const& in = r.inputs[k];
      std::byte* const to = lend(tx::exec::base_input + static_cast<int>(k), count(in.info) * tx::size_of(in.info.type));
      for (int e = 0; e < static_cast<int>(count(in.info)); ++e) put(to, in.info.type, e, element(100 + static_cast<int>(k), e, in.info.type, static_cast<int>(in.at.v[1])));
    }
  }

  tx::exec::frame f{};
  std::vector<std::int64_t> sizes = std::vector<std::int64_t>(tx::exec::bases, 0);  // of each base

  // Elements that a value has in this run.
  std::int64_t count(tx::value_info const& info) const { return f.extents.count(info.dims); }

  // What lies there after the run. Results: any list of result_ref.
  template <class Results>
  outcome told(Results const& results) const {
    outcome out;
    for (tx::exec::result_ref const& result : results) {
      values v;
      for (std::int64_t i = 0; i < count(result.info); ++i) v.push_back(tx::element_at(result.info.type, f.base[0] + result.offset, i));
      out.results.push_back(std::move(v));
    }
    for (std::size_t b = 0; b < r_.sizes.size(); ++b) {
      values v;
      for (int k = 0; k < r_.sizes[b]; ++k) v.push_back(tx::element_at(r_.type, f.base[tx::exec::base_block + static_cast<int>(b)], k));
      out.blocks.push_back(std::move(v));
    }
    return out;
  }

 private:
  struct aligned_delete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{tx::exec::alignment}); }
  };
  std::byte* lend(int base, std::int64_t bytes) {
    auto* const p = static_cast<std::byte*>(::operator new[](static_cast<std::size_t>(bytes), std::align_val_t{tx::exec::alignment}));
    held_.emplace_back(p);
    f.base[base] = p;
    sizes[static_cast<std::size_t>(base)] = bytes;
    return p;
  }
  static void put(std::byte* to, dtype type, int k, double x) {
    tx::put_element(type, to, k, x);
  }

  recorded const& r_;
  std::vector<float> scalars_;
  std::vector<std::unique_ptr<std::byte[], aligned_delete>> held_;
};

}  // namespace drawn
