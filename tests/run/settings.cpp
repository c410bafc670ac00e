// Numbers that a model names: at first what it says, then what is set, in every place, saved with the others.
#include "../io/temp_folder.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/expr/scan.hpp>
#include <tx/expr/setting.hpp>
#include <tx/inspect/finite_guard.hpp>
#include <tx/inspect/outline.hpp>
#include <tx/io/checkpoint.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/mse.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <limits>
#include <utility>

namespace {

using matrix = tx::tensor<float, 4, 8>;

constexpr auto scaled = [](matrix x) {
  auto const twice = x * tx::setting<"factor">(x, 3);
  return tx::scan<2>([&](auto const& carry) { return carry * tx::setting<"factor">(carry, 3) + tx::setting<"more">(carry, 0.5); }, twice);
};
using multiply = tx::function<scaled>;

struct model {
  tx::nn::linear<8, 8> dense;
};
constexpr auto wide_loss = [](model const& m, tx::tensor<float, 2, 8> x) { return tx::mse(tx::dropout(m.dense(x), tx::setting<"kept_out">(x, 0.25)), x); };
using shards = tx::train_step<model, wide_loss, tx::adamw, tx::virtual_shards<2>>;
using parts = tx::train_step<model, wide_loss, tx::adamw, tx::accumulate<2>>;

std::vector<float> numbers() {
  std::vector<float> v;
  for (int i = 0; i < 32; ++i) v.push_back(static_cast<float>(i % 7) - 3);
  return v;
}
template <class Step>
float loss_at(float rate, bool set = true) {
  tx::executor<Step, tx::cpu> run{tx::seed(4)};
  if (set) run.settings.at("kept_out") = rate;
  return run(numbers()).loss;
}

}  // namespace

TEST_CASE("a setting of a model's own is at first what the model says") {
  tx::executor<multiply, tx::cpu> run;
  std::vector<float> const x(32, 1.0f);
  CHECK(run.settings["factor"] == 3);
  CHECK(run(x).value[0] == (3 * 3 + 0.5f) * 3 + 0.5f);
  run.settings["factor"] = -2;
  run.settings["more"] = 4;
  CHECK(run(x).value[31] == (-2 * -2 + 4) * -2 + 4);
  tx::executor<multiply, tx::cpu> other;
  CHECK(other.settings["factor"] == 3);
  CHECK(&run.settings.at("factor") == &run.settings["factor"]);
  CHECK_THROWS_WITH(run.settings.at("factors"), Catch::Contains("no setting 'factors'. FIX: one of factor, more"));
}

TEST_CASE("shards and parts of a batch read a model's settings") {
  CHECK(loss_at<shards>(0.25f) == loss_at<shards>(0, false));
  CHECK(loss_at<shards>(0.75f) != loss_at<shards>(0.25f));
  CHECK(loss_at<parts>(0.75f) == Approx(loss_at<shards>(0.75f)));
  CHECK_THROWS_WITH((loss_at<tx::train_step<tx::nn::linear<8, 8>, [](auto const& m, matrix x) { return tx::mse(m(x), x); }, tx::adamw>>(0.5f)), Catch::Contains("no setting 'kept_out'. FIX: one of learning_rate"));
}

TEST_CASE("a program has the settings that its parts declare, each with the values that it may have") {
  using dense = tx::nn::linear<8, 8>;
  constexpr auto plain = [](dense const& m, matrix x) { return tx::mse(m(x), x); };
  constexpr auto dropped = [](dense const& m, matrix x) { return tx::mse(tx::dropout(m(x)), x); };
  constexpr auto output = [](dense const& m, matrix x) { return tx::dropout(m(x)); };
  using trained = tx::executor<tx::train_step<dense, plain, tx::adamw>, tx::cpu>;
  using clipped = tx::executor<tx::train_step<dense, dropped, tx::adamw, tx::clip_gradient>, tx::cpu>;
  using infers = tx::executor<tx::function<output, dense>, tx::cpu>;
  auto const has = []<class Run>(Run const& run) {
    return std::array{run.settings.has("learning_rate"), run.settings.has("dropout"), run.settings.has("clip_norm")};
  };
  CHECK(has(trained{tx::seed(1)}) == std::array{true, false, false});
  CHECK(has(infers{tx::seed(1)}) == std::array{false, false, false});
  clipped run{tx::seed(1)};
  CHECK(has(run) == std::array{true, true, true});
  CHECK((run.settings["learning_rate"] == 1e-3f && run.settings["dropout"] == 0.1f && run.settings["clip_norm"] == 1));
  auto const refused = [&](char const* name, float value) {
    float const before = std::exchange(run.settings.at(name), value);
    std::string text;
    try {
      run(numbers());
    } catch (tx::value_error const& e) {
      text = e.what();
    }
    run.settings.at(name) = before;
    return text;
  };
  constexpr float infinite = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  for (float const v : {-1.0f, none}) CHECK_THAT(refused("clip_norm", v), Catch::Contains("settings[\"clip_norm\"] is"));
  CHECK(refused("clip_norm", infinite).empty());
  CHECK(run.steps_run() == 1);
}

TEST_CASE("a guard names a model's setting that is no number") {
  tx::executor<multiply, tx::cpu> run;
  tx::finite_guard const guard(run);
  run.settings["more"] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(run(numbers()), Catch::Contains("in the settings: more. FIX"));
}

TEST_CASE("a checkpoint has a model's settings, and the plan names them") {
  temp_folder const folder;
  tx::executor<parts, tx::cpu> run{tx::seed(4)}, resumed{tx::seed(5)};
  run.settings["kept_out"] = 0.5f;
  run(numbers());
  tx::io::save_checkpoint(folder.path, run);
  tx::io::load_checkpoint(folder.path, resumed);
  CHECK(resumed.settings["kept_out"] == 0.5f);
  CHECK(static_cast<float>(run(numbers()).loss) == static_cast<float>(resumed(numbers()).loss));
  bool told = false;
  auto const o = tx::outline_of<shards>();
  for (auto const& v : o.values) told = told || v.name == "setting kept_out";
  CHECK(told);
}

TEST_CASE("groups of parameters are as many as the model has, with rates and decays that are numbers of at least 0") {
  tx::executor<tx::train_step<model, wide_loss, tx::adamw>, tx::cpu> run{tx::seed(4)};
  auto& groups = run.settings.groups;
  CHECK(groups.size() == 2);
  CHECK_THROWS_WITH(groups[2], Catch::Contains("settings.groups[2]; the model has 2 groups of parameters. FIX: a number below that"));
  std::vector<float> const x(16, 1.0f);
  constexpr float infinite = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  for (float const wrong : {-1.0f, none, infinite}) {
    float const rate = std::exchange(groups[1].rate, wrong);
    CHECK_THROWS_WITH(run(x), Catch::Contains("settings.groups[1].rate is") && Catch::Contains("FIX: a finite number, at least 0"));
    groups[1].rate = rate;
    float const decay = std::exchange(groups[0].decay, wrong);
    CHECK_THROWS_WITH(run(x), Catch::Contains("settings.groups[0].decay is") && Catch::Contains("FIX: a finite number, at least 0"));
    groups[0].decay = decay;
  }
  run.settings["learning_rate"] = 1e30f;
  groups[0].rate = 1e20f;
  CHECK_THROWS_WITH(run(x), Catch::Contains("settings.groups[0].rate times the learning rate is inf"));
  CHECK(run.steps_run() == 0);
  groups[0].rate = 0;
  run.settings["learning_rate"] = 1e-3f;
  run(x);
  CHECK(run.steps_run() == 1);
}
