// taught_by(layer, student_layers, teacher_layers): the teacher's layer that one of a student's is mapped to: evenly spread, the last to the last. All are
// counted from 0. (TinyBERT, Jiao et al., arXiv 1909.10351.)
#pragma once

namespace tx::nn {

constexpr int taught_by(int layer, int student_layers, int teacher_layers) { return (layer + 1) * teacher_layers / student_layers - 1; }

}  // namespace tx::nn
