// A library for dlpack.py: a parameter that numpy takes, and tensors of numpy's that tx takes.
#include <tx/backends/reference.hpp>
#include <tx/run/dlpack.hpp>
#include <tx/run/parameter_memory.hpp>

#include <memory>
#include <string>

namespace {

struct model {
  tx::param<tx::tensor<float, 3, 4>> weight;
};
using block = tx::parameter_block<model, tx::reference>;
using tx::dlpack::managed_tensor;
using tx::dlpack::managed_tensor_versioned;

int blocks = 0;
struct counted {
  block weights{tx::seed(0), 0};
  counted() { ++blocks; }
  ~counted() { --blocks; }
};

template <class M>
void* lend() {
  auto const made = std::make_shared<counted>();
  auto const weight = made->weights.tensors()[0];
  for (std::size_t i = 0; i < weight.data.size(); ++i) weight.data[i] = static_cast<float>(i);
  return tx::dlpack::lend<M>(tx::view_of(weight), made).release();
}

// What went wrong, until the next call; empty: nothing.
std::string error;
template <class M>
char const* take(M* theirs, float* to) {
  error.clear();
  auto const owner = tx::dlpack::take(theirs);
  try {
    tx::array_view<float> const mine{{2, {3, 4}, {4, 1}}, to};
    tx::copy_elements(tx::dlpack::borrow<float const>(*owner), mine);
  } catch (tx::error const& e) {
    error = e.what();
  }
  return error.c_str();
}

}  // namespace

extern "C" {
int blocks_alive() { return blocks; }
void* lend_weight() { return lend<managed_tensor>(); }
void* lend_weight_versioned() { return lend<managed_tensor_versioned>(); }
// [3, 4] f32 elements of theirs, row-major.
char const* take_tensor(void* theirs, float* to) { return take(static_cast<managed_tensor*>(theirs), to); }
char const* take_tensor_versioned(void* theirs, float* to) {
  return take(static_cast<managed_tensor_versioned*>(theirs), to);
}
}
