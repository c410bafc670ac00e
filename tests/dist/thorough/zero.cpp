// Ranks that divide states, gradients and parameters beside every other option of a step: the bits of those that do not, and of one rank with all shards.
#include "../divided.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/lion.hpp>

using namespace divided;

namespace {

using third = std::integer_sequence<int, 3>;

}  // namespace

TEST_CASE("four ranks, of which the last have fewer rows or none") { check_stages<float, 4, adamw>(third{}); }
TEST_CASE("an update of two runs, clipped, by an optimizer of one state, in f64") { check_stages<double, 2, lion>(std::integer_sequence<int, 1, 3>{}, accumulate_runs<2>{}, clip_gradient{}); }
TEST_CASE("LAMB, whose norms are of whole tensors") { check_stages<float, 3, lamb>(std::integer_sequence<int, 1, 2, 3>{}, clip_gradient{}); }
TEST_CASE("halves, and an average") { check_stages<float, 2, averaged<adamw>>(third{}, mixed<bf16>{}, gradient_norm{}); }

TEST_CASE("parts of a batch") { check_stages<float, 2, adamw>(third{}, accumulate<2>{}); }

TEST_CASE("gradients that travel as halves") {
  auto const whole = trained_on<step<float, adamw, data_parallel<3>, sends_gradients_as<bf16>>>(3);
  check_same<net<float>>(whole, whole[0], "without zero");
  check_same<net<float>>(trained_on<step<float, adamw, data_parallel<3>, zero<3>, sends_gradients_as<bf16>>>(3), whole[0], "zero<3>");
}
