// Interpreted devices that divide a vocabulary unevenly, one of which has none of it.
#include "../../dist/words.hpp"
#include "../devices.hpp"

using namespace divided;

namespace {

constexpr int few = 9;
template <class... Options>
using stepped = step_of_words<word_model<few, 4, true>, near_adamw, clip_gradient, Options...>;
template <class Step>
auto words_on(int ranks) {
  return on_devices(ranks, little, [](auto& all) {
    executor<Step, distributed<interpreted, std::remove_cvref_t<decltype(all)>>> run{seed(3), all};
    return trained_words<few>(run, 0, 3);
  });
}

}  // namespace

TEST_CASE("four devices that divide nine words train what one does") {
  check_words(words_on<stepped<tensor_parallel<4>>>(4), words_on<stepped<>>(1)[0], 1e-4, 1e-5);
}
