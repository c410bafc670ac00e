// What optimizers tell of their states, and that no other goes on with them.
#include <tx/backends/reference.hpp>
#include <tx/io/checkpoint.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/adagrad.hpp>
#include <tx/train/adam.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/lion.hpp>
#include <tx/train/novograd.hpp>
#include <tx/train/rmsprop.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include "../io/temp_folder.hpp"

namespace {

using Catch::Matchers::Contains;
using tx::detail::optimizer_identity;

// Without a word of its own.
template <int Tenths, class Tag = void>
struct own {
  static constexpr int states = 1;
  static constexpr tx::var update(tx::update_context& u) {
    u.state[0] = u.state[0] * (Tenths / 10.0) + u.gradient;
    return u.parameter - u.state[0] * u.rate;
  }
};
struct other_order : own<9> {
  static constexpr tx::var update(tx::update_context& u) {
    u.state[0] = u.gradient + u.state[0] * 0.9;
    return u.parameter - u.state[0] * u.rate;
  }
};
struct of_whole_tensors : own<9> {
  static constexpr bool whole_tensors = true;
  static constexpr tx::var update(tx::update_context& u) {
    return u.parameter - u.gradient / u.norm(u.gradient) * u.rate;
  }
};

struct model {
  tx::param<tx::tensor<float, 8>, tx::init::ones> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
constexpr auto value = [](model const& m) { return tx::sum(m.w); };
template <class Optimizer>
using executor = tx::executor<tx::train_step<model, loss, Optimizer>, tx::reference>;

}  // namespace

TEST_CASE("an optimizer's identity has the options that its states depend on", "[identity]") {
  CHECK(optimizer_identity<tx::adam>() == "adam(beta1 0.9, beta2 0.999)");
  CHECK(optimizer_identity<tx::adamw>() == "adamw(beta1 0.9, beta2 0.999)");
  CHECK(optimizer_identity<tx::lamb>() == "lamb(beta1 0.9, beta2 0.999)");
  CHECK(optimizer_identity<tx::lion>() == "lion(beta2 0.99)");
  CHECK(optimizer_identity<tx::novograd>() == "novograd(beta1 0.95, beta2 0.98)");
  CHECK(optimizer_identity<tx::sgd>() == "sgd");
  CHECK(optimizer_identity<tx::sgd_with<tx::sgd_options{.momentum = 0.95}>>() == "sgd(momentum 0.95)");
  CHECK(optimizer_identity<tx::adagrad>() == "adagrad");
  CHECK(optimizer_identity<tx::rmsprop>() == "rmsprop(alpha 0.99, momentum 0, centered 0)");
  CHECK(optimizer_identity<tx::rmsprop_with<tx::rmsprop_options{.momentum = 0.5, .centered = true}>>() ==
        "rmsprop(alpha 0.99, momentum 0.5, centered 1)");
  CHECK(optimizer_identity<tx::averaged<tx::adamw>>() == "averaged(decay 0.999) of adamw(beta1 0.9, beta2 0.999)");
  // Each digit counts; what only the step depends on does not.
  CHECK(optimizer_identity<tx::adam_with<tx::adam_options{.beta2 = 0.99999999}>>() ==
        "adam(beta1 0.9, beta2 0.99999999)");
  CHECK(optimizer_identity<tx::adam_with<tx::adam_options{.epsilon = 1e-6}>>() == optimizer_identity<tx::adam>());
  CHECK(optimizer_identity<tx::sgd_with<tx::sgd_options{.momentum = 0.9, .nesterov = true}>>() == "sgd(momentum 0.9)");
}

TEST_CASE("an optimizer without a word is told by what its update records", "[identity]") {
  auto const nine = optimizer_identity<own<9>>();
  CHECK_THAT(nine, Contains("an optimizer of one's own ("));
  CHECK(nine == optimizer_identity<own<9, int>>());
  CHECK(nine != optimizer_identity<own<8>>());
  CHECK(nine != optimizer_identity<other_order>());
  CHECK(nine != optimizer_identity<of_whole_tensors>());
  CHECK(optimizer_identity<tx::averaged<own<9>>>() == "averaged(decay 0.999) of " + nine);
}

TEST_CASE("states of another optimizer are refused", "[identity]") {
  temp_folder folder;
  executor<tx::adam> run{tx::seed(1)};
  run();
  CHECK(run.optimizer() == "adam(beta1 0.9, beta2 0.999)");
  // A program that only reads the parameters saves whose states they are too.
  tx::executor<tx::function<value, model>, tx::reference> reader{run};
  CHECK(reader.optimizer() == run.optimizer());
  CHECK(tx::executor<tx::function<value, model>, tx::reference>{tx::seed(1)}.optimizer().empty());
  tx::io::save_checkpoint(folder.path, run);

  executor<tx::adamw> other{tx::seed(2)};
  auto const before = other.read();
  CHECK_THROWS_AS(tx::io::load_checkpoint(folder.path, other), tx::format_error);
  CHECK_THROWS_WITH(
      tx::io::load_checkpoint(folder.path, other),
      Contains(
          "checkpoint-000001 holds states of the optimizer 'adam(beta1 0.9, beta2 0.999)'; the run's is 'adamw(") &&
          Contains("FIX: "));
  CHECK(other.read() == before);
  CHECK(other.steps_run() == 0);
  executor<tx::adam_with<tx::adam_options{.epsilon = 1e-6}>> same{tx::seed(2)};
  CHECK(tx::io::load_checkpoint(folder.path, same).step == 1);
  CHECK(same.read(2) == run.read(2));
}

TEST_CASE("no other optimizer goes on with states that lie beside shared parameters", "[identity]") {
  executor<tx::adam> run{tx::seed(1)};
  CHECK_THROWS_WITH(executor<tx::lamb>(run), Contains("are those of the optimizer 'adam(beta1 0.9, beta2 0.999)'; the step's is 'lamb("));
  tx::executor<tx::function<value, model>, tx::reference> infer{tx::seed(1)};
  CHECK(infer.optimizer().empty());
  executor<tx::sgd> later{infer};
  CHECK(later.optimizer() == "sgd");
}
