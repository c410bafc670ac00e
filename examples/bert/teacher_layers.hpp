// A student that begins with what its teacher knows, as DistilBERT does (Sanh et al., arXiv 1910.01108).
#pragma once

#include "engine.hpp"

namespace bert {

// Each of the student's tensors becomes the teacher's of its name; those of a layer the ones of the layer that it is taught by (nn/taught_by.hpp). Throws
// value_error, before anything is written, where the teacher has none of that name and shape.
void copy_teacher_layers(std::span<named_tensor const> student, std::span<named_tensor const> teacher);

}  // namespace bert
