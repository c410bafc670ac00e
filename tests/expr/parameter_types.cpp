// A model of parameters of several element types: what is trained is f32, beside it lie halves, integers and doubles that are not.
#include "../io/temp_folder.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/inspect/finite_guard.hpp>
#include <tx/inspect/outline.hpp>
#include <tx/io/checkpoint.hpp>
#include <tx/io/parameters.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/mse.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/run/view.hpp>
#include <tx/step/function.hpp>
#include <tx/train/check_gradient.hpp>
#include <tx/train/loop/loop.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <limits>

namespace {

using tx::tensor;
constexpr int rows = 4, width = 6, words = 5;

// A block of a repeat with a frozen factor of type S beside what is trained.
template <class S>
struct block {
  tx::nn::linear<width, width> dense;
  tx::param<tensor<S, width>, tx::init::full<3, 4>, tx::frozen> scale;

  constexpr auto operator()(tensor<float, rows, width> x) const { return tx::tanh(dense(x) * tx::cast<float>(scale)); }
};

// T: of the frozen table, S: of the blocks' factors, C: of what counts runs.
template <class T, class S, class C>
struct model {
  tx::param<tensor<T, words, width>, tx::init::normal<1, 2>, tx::frozen> table;
  tx::repeat<3, block<S>> blocks;
  tx::state<tensor<C>> runs;
  tx::param<tensor<tx::i32, width>, tx::init::counted, tx::frozen> places;
  tx::nn::linear<width, 1> out;

  constexpr auto operator()(tensor<tx::i32, rows> ids) const {
    auto const x = tx::cast<float>(tx::take(table, ids)) + tx::cast<float>(places) * 0.125;
    runs.set(runs + tx::cast<C>(1.0f + 0.0f * tx::sum(x)));
    return out(blocks(x));
  }
};
using mixed = model<tx::bf16, double, tx::i64>;
using plain = model<float, float, float>;

template <class M>
constexpr auto loss = [](M const& m, tensor<tx::i32, rows> ids, tensor<float, rows, 1> y) { return tx::mse(m(ids), y); };
template <class M>
using step = tx::train_step<M, loss<M>, tx::adamw>;

std::vector<tx::i32> const ids{0, 4, 2, 4};
std::vector<float> const wanted{1, -1, 0.5f, -1};

auto const* named(auto const& tensors, std::string const& name) {
  for (auto const& t : tensors)
    if (t.name == name) return &t;
  FAIL("no tensor " << name);
  return &tensors[0];
}
std::vector<float> as_floats(auto const& t) {
  std::vector<float> out;
  auto const add = [&]<class E>(E) {
    if (tx::dtype_v<E> == t.type)
      for (E const x : t.template as<E>()) out.push_back(static_cast<float>(tx::number_of(x)));
  };
  add(float{}), add(double{}), add(tx::bf16{}), add(tx::i32{}), add(tx::i64{});
  return out;
}

}  // namespace

TEST_CASE("parameters of several types train as those of one type do") {
  tx::executor<step<mixed>, tx::cpu> run{tx::seed(3)};
  tx::executor<step<plain>, tx::cpu> same{tx::seed(3)};
  tx::executor<step<mixed>, tx::reference> slow{tx::seed(3)};
  auto const first = run.tensors();
  // The plain model has float in place of the other types, with the same numbers.
  for (auto const& t : same.tensors()) {
    if (t.name == "places") continue;  // i32 in both
    std::vector<float> const numbers = as_floats(*named(first, t.name));
    std::ranges::copy(numbers, t.template as<float>().begin());
  }
  CHECK(named(first, "table")->type == tx::dtype::bf16);
  CHECK(as_floats(*named(first, "places")) == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(as_floats(*named(first, "blocks.2.scale")) == std::vector<float>(width, 0.75f));
  std::vector<float> const table = as_floats(*named(first, "table"));
  for (int k = 0; k < 10; ++k) {
    float const told = run(ids, wanted).loss;
    CHECK(told == static_cast<float>(same(ids, wanted).loss));
    CHECK(told == Approx(static_cast<float>(slow(ids, wanted).loss)).margin(1e-5));
  }
  auto const after = run.tensors(), other = same.tensors();
  for (auto const& t : other) {
    INFO(t.name);
    CHECK(as_floats(*named(after, t.name)) == as_floats(t));
  }
  CHECK(as_floats(*named(after, "table")) == table);
  CHECK(named(after, "runs")->as<tx::i64>()[0] == 10);
  CHECK(as_floats(*named(after, "blocks.1.dense.weight")) != as_floats(*named(tx::executor<step<mixed>, tx::cpu>{tx::seed(3)}.tensors(), "blocks.1.dense.weight")));
  run.reset_state();
  CHECK(named(run.tensors(), "runs")->as<tx::i64>()[0] == 0);
  CHECK_THROWS_WITH(named(after, "table")->as<float>(), Catch::Contains("table is of bf16; it was asked for as f32"));
}

TEST_CASE("a loop names the parameter that is NaN, whatever others are of") {
  tx::executor<step<mixed>, tx::cpu> run{tx::seed(3)};
  tx::train::loop l(run, {.report = {.line = false}});
  CHECK(l.validate());  // that the integers' bits would be a NaN is none
  auto const all = run.tensors();
  named(all, "blocks.1.scale")->as<double>()[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(l.validate(), Catch::Contains("step 0: parameter blocks.1.scale is NaN. FIX"));
}

TEST_CASE("gradients by what is trained beside other types are right") {
  auto const worst = tx::check_gradient<loss<mixed>, tx::reference, mixed>(ids, wanted);
  INFO(worst.text());
  CHECK(worst.distance < 2e-3);
  tx::executor<tx::value_and_grad<loss<mixed>, mixed>, tx::cpu> run{tx::seed(0)};
  for (auto const& t : run(ids, wanted).gradient.tensors()) CHECK((t.name.ends_with("weight") || t.name.ends_with("bias")));
}

TEST_CASE("trained elements and views have the types of their numbers") {
  tx::executor<tx::value_and_grad<loss<mixed>, mixed>, tx::cpu> run{tx::seed(0)};
  auto const before = static_cast<float>(run(ids, wanted).value);
  for (int step = 0; step < 200; ++step) {
    auto const gradient = run(ids, wanted).gradient.elements();
    auto const parameters = run.trained_elements();
    REQUIRE(gradient.size() == parameters.size());
    for (std::size_t k = 0; k < gradient.size(); ++k) parameters[k] -= 0.1f * gradient[k];
  }
  CHECK(static_cast<float>(run(ids, wanted).value) < before - 0.01f);  // the best constant, as far as so few small steps lead
  auto const all = run.tensors();
  auto const table = tx::view_of<tx::bf16>(*named(all, "table"));
  CHECK((table.extent(0) == words && table.extent(1) == width));
  CHECK(table.data_handle()[7].bits == named(all, "table")->as<tx::bf16>()[7].bits);
  CHECK_THROWS_AS(tx::view_of<float>(*named(all, "table")), tx::value_error);
}

TEST_CASE("files and checkpoints hold each parameter in its own type") {
  temp_folder const folder;
  tx::executor<step<mixed>, tx::cpu> run{tx::seed(3)}, resumed{tx::seed(4)};
  for (int k = 0; k < 3; ++k) run(ids, wanted);
  tx::io::save_checkpoint(folder.path, run);
  tx::io::load_checkpoint(folder.path, resumed);
  CHECK(static_cast<float>(resumed(ids, wanted).loss) == static_cast<float>(run(ids, wanted).loss));
  CHECK(run.read() == resumed.read());

  std::filesystem::path const file = folder.path / "model.safetensors";
  tx::io::save_parameters(file, run.tensors());
  tx::io::safetensors const written = tx::io::safetensors::read(file);
  CHECK(written.find("table")->type == tx::dtype::bf16);
  CHECK(written.find("runs")->type == tx::dtype::i64);
  CHECK(written.find("blocks.0.scale")->type == tx::dtype::f64);
  CHECK(written.find("out.weight")->type == tx::dtype::f32);
  tx::executor<step<mixed>, tx::cpu> loaded{tx::seed(5)};
  tx::io::load_parameters(file, loaded.tensors(), {.finite = true});
  CHECK(loaded.read() == run.read());
  tx::executor<step<plain>, tx::cpu> other{tx::seed(5)};
  CHECK_THROWS_WITH(tx::io::load_parameters(file, other.tensors()), Catch::Contains("tensor table is bf16[5, 6]; the model was compiled for f32[5, 6]"));

  named(run.tensors(), "table")->as<tx::bf16>()[7] = tx::bf16::from(std::numeric_limits<float>::infinity());
  tx::io::save_parameters(file, run.tensors());
  CHECK_THROWS_WITH(tx::io::load_parameters(file, loaded.tensors(), {.finite = true}), Catch::Contains("tensor table holds a NaN or an infinity at element 7"));
}

TEST_CASE("a guard and a plan name parameters of every type") {
  tx::executor<step<mixed>, tx::cpu> run{tx::seed(3)};
  tx::finite_guard const guard(run);
  run(ids, wanted);
  named(run.tensors(), "blocks.1.scale")->as<double>()[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(run(ids, wanted), Catch::Contains("parameter blocks.1.scale, element 2"));
  bool table = false, scale = false, count = false;
  for (auto const& v : tx::outline_of<step<mixed>>().values) {
    table = table || v.name == "table";
    scale = scale || v.name == "blocks.*.scale";
    count = count || v.name == "new runs";
  }
  CHECK((table && scale && count));
}

TEST_CASE("a model of which nothing is trained may be of any types") {
  struct counter {
    tx::state<tensor<tx::i64>> seen;
    tx::param<tensor<bool, 3>, tx::init::ones, tx::frozen> which;
  };
  constexpr auto f = [](counter const& m, tensor<tx::i64> more) {
    auto const next = m.seen + more;
    m.seen.set(next);
    return std::tuple{next, tensor<bool, 3>(m.which)};
  };
  tx::executor<tx::function<f, counter>, tx::cpu> run{tx::seed(0)};
  std::int64_t const large = std::int64_t{1} << 53;
  run(std::array{large});
  auto const [sum, which] = run(std::array{std::int64_t{1}});
  CHECK(static_cast<std::int64_t>(sum) == large + 1);
  CHECK(std::ranges::equal(which, std::array{true, true, true}));
}
