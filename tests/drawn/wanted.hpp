// What the everyday programs must consist of, each at least `least` times.
#pragma once

namespace drawn {

inline constexpr int least = 25;

inline constexpr char const* features_wanted[] = {
    "no training", "update at once", "an update of 2 runs", "an update of 3 runs", "clipped", "accumulated", "sharded", "ranks divide, stage 1", "ranks divide, stage 2", "ranks divide, stage 3", "optimizer 0", "optimizer 1", "optimizer 2", "optimizer 3",
    "optimizer 4", "optimizer 5", "optimizer 6", "optimizer 7", "narrowed", "mixed precision", "recomputed", "bounded extent", "a bounded extent that is not in front", "several bounded extents", "a bounded extent that stands twice",
    "a leaf is replaced", "a leaf is replaced by what a body hands out", "leaves that share elements", "flat block",
    "type f64", "type f32", "type bf16", "type f16", "type i64", "type i32", "type i16", "type i8", "type u8", "type bool",
    "rank 0", "rank 1", "rank 2", "rank 3", "rank 4", "rank 5", "rank 6",
    "a one, leading", "a one, middle", "a one, last", "no elements",
    "batched product", "left side transposed", "right side transposed", "strided slice", "packed attention", "packed attention to keys apart", "packed attention of bounded texts",
    "a whole op reads a view", "a whole op reads an argument",
    "a loop in a loop", "three loops in each other", "forward body", "reversed body", "one iteration", "several iterations", "carries 0", "carries 1", "carries 2", "carries 3",
    "invariants 0", "invariants 1", "invariants 2", "invariants 3", "slices 0", "slices 1", "slices 2", "stacked results",
    "an invariant with several readers", "a body's result with several readers", "a body's result is read transposed",
    "a carry is read transposed", "a view is stacked", "carry of a transpose", "carry of a slice", "carry of a broadcast", "carry of a reshape",
    "invariant of a transpose", "invariant of a broadcast", "invariant of a slice", "invariant of a reshape", "slices of a transpose",
    "slices of a broadcast", "slices of a reshape", "gradient", "gradient in a body", "gradient of a gradient", "trained through a gradient"};

}  // namespace drawn
