// Ranks that divide states, gradients and parameters beside every other option of a step: the bits of those that do not, and of one rank with all shards.
#include "../divided.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/net/in_background.hpp>
#include <tx/dist/overlap.hpp>
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

TEST_CASE("parameters that are gathered a block ahead, of repeats in repeats") {
  check_stages<float, 3, adamw>(std::integer_sequence<int, 1, 2, 3>{}, overlapped_from<1>{}, clip_gradient{});
}

TEST_CASE("the same of parts of a batch in halves, which are on their way while ranks compute") {
  auto const one = trained_alone<step<float, averaged<adamw>, virtual_shards<2>, accumulate<2>, mixed<bf16>>>();
  auto const of_ranks = on_ranks(2, [](dist::local& rank) {
    dist::in_background all(rank);
    return trained_by<step<float, averaged<adamw>, data_parallel<2>, zero<3>, accumulate<2>, mixed<bf16>, overlapped_from<1>>>(all);
  });
  check_same<net<float>>(of_ranks, one, "zero<3>");
}
