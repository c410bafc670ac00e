// nn::batch_norm against PyTorch's BatchNorm1d and BatchNorm2d (tests/parity/batch_norm.py): three runs that train, of x, 2 x and 3 x, then one
// that infers.
#include "../ops/torch_groups.hpp"

#include <tx/expr/inference.hpp>
#include <tx/nn/batch_norm.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

namespace {

template <int C>
using norm_of = tx::nn::batch_norm<C, std::ratio<1, 100'000>, std::ratio<1, 4>>;

template <class X>
struct model {
  norm_of<X::info.dims.dim[1]> norm;
  tx::param<X> x;
};
template <class X>
struct told {
  tx::tensor<float> loss;
  X y;
};
template <class X>
constexpr auto loss = [](model<X> const& m, tx::tensor<float> times) {
  auto const y = m.norm(m.x * times);
  return told<X>{weighed(y), y};
};
template <class X>
constexpr auto infer = [](model<X> const& m) { return m.norm(m.x); };

template <class Block>
auto& named(Block& parameters, std::string const& name) {
  for (auto& p : parameters)
    if (p.name == name) return p;
  FAIL("there is no tensor " << name);
  return parameters[0];
}
template <class Values>
values doubles(Values const& of) {
  return values(of.begin(), of.end());
}

template <class X>
void check(std::string const& group) {
  auto const torch = torch_numbers("batch_norm");
  tx::executor<tx::value_and_grad<loss<X>, model<X>>, tx::cpu> train{tx::seed(0), {.threads = 2}};
  tx::executor<tx::function<infer<X>, model<X>>, tx::cpu> inferred{train};
  auto parameters = train.tensors();
  for (std::string const name : {"norm.weight", "norm.bias", "x"}) {
    values const v = torch[group + ".argument." + name];
    auto& p = named(parameters, name);
    REQUIRE(p.data.size() == v.size());
    for (std::size_t i = 0; i < v.size(); ++i) p.data[i] = static_cast<float>(v[i]);
  }
  for (float times : {1.0f, 2.0f}) train(std::array{times});
  auto const last = train(std::array{3.0f});
  CHECK(distance(doubles(last.value.y), torch[group + ".value.trained"]) < 2e-6);
  for (std::string const name : {"norm.weight", "norm.bias", "x"}) {
    INFO(name);
    auto const gradients = last.gradient.tensors();
    CHECK(distance(doubles(named(gradients, name).data), torch[group + ".gradient." + name]) < 4e-6);
  }
  for (std::string const name : {"running_mean", "running_var"}) {
    INFO(name);
    CHECK(distance(doubles(named(parameters, "norm." + name).data), torch[group + ".value." + name]) < 2e-6);
  }
  auto const before = train.read();
  CHECK(distance(doubles(inferred().value), torch[group + ".value.inferred"]) < 2e-6);
  CHECK(train.read() == before);  // who infers changes nothing
}

// A step trains one network on what another one, with running statistics of its own, infers.
struct pair {
  norm_of<3> teacher, student;
};
using rows = tx::tensor<float, 6, 3>;
constexpr auto distil = [](pair const& m, rows x) {
  auto const error = m.student(x) - tx::inference(m.teacher)(x);
  return tx::sum(error * error);
};

// A layer in halves keeps its statistics in f32.
using halves = tx::tensor<tx::bf16, 6, 3>;
struct told_halves {
  tx::tensor<float> loss;
  halves y;
};
constexpr auto of_halves = [](norm_of<3> const& m, halves x) {
  auto const y = m(x);
  return told_halves{tx::sum(tx::cast<tx::f32>(y)), y};
};

// Rows that there are, of at most six.
using some_rows = tx::tensor<float, tx::dyn<6>, 3>;
constexpr auto of_some = [](norm_of<3> const& m, some_rows x) { return tx::sum(m(x) * x); };
template <int Rows>
constexpr auto of_rows = [](norm_of<3> const& m, tx::tensor<float, Rows, 3> x) { return tx::sum(m(x) * x); };

std::vector<float> numbers(std::size_t count) {
  std::vector<float> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i * i % 7) - 2;
  return x;
}

}  // namespace

TEST_CASE("batch norm is PyTorch's") {
  check<tx::tensor<float, 6, 3>>("rows");
  check<tx::tensor<float, 4, 3, 5>>("lines");
  check<tx::tensor<float, 3, 4, 2, 5>>("images");
}

TEST_CASE("of one row there is no variance that running statistics could move towards") {
  tx::executor<tx::value_and_grad<of_some, norm_of<3>>, tx::cpu> run{tx::seed(0)};
  CHECK_THROWS_WITH(run(numbers(3)), Catch::Contains("is 1 in this run") && Catch::Contains("FIX: at least 2"));
  auto kept = run.tensors();
  CHECK(doubles(named(kept, "running_var").data) == values(3, 1.0));
  CHECK(std::isfinite(static_cast<float>(run(numbers(6)).value)));
  constexpr auto of_lines = [](norm_of<3> const& m, tx::tensor<float, tx::dyn<6>, 3, 1> x) { return tx::sum(m(x) * x); };
  tx::executor<tx::value_and_grad<of_lines, norm_of<3>>, tx::cpu> lines{tx::seed(0)};
  CHECK_THROWS_WITH(lines(numbers(3)), Catch::Contains("FIX: at least 2"));
}

TEST_CASE("a teacher's running statistics stay, a student's move") {
  tx::executor<tx::train_step<pair, distil, tx::sgd>, tx::cpu> run{tx::seed(0)};
  run(numbers(18));
  auto parameters = run.tensors();
  CHECK(doubles(named(parameters, "teacher.running_mean").data) == values(3, 0.0));
  CHECK(doubles(named(parameters, "teacher.running_var").data) == values(3, 1.0));
  CHECK(doubles(named(parameters, "student.running_mean").data) != values(3, 0.0));
  CHECK(doubles(named(parameters, "student.running_var").data) != values(3, 1.0));
}

TEST_CASE("batch norm of halves has statistics in f32") {
  std::vector<tx::bf16> x;
  for (float v : numbers(18)) x.push_back(tx::bf16::from(v));
  tx::executor<tx::value_and_grad<of_halves, norm_of<3>>, tx::cpu> halved{tx::seed(0)};
  tx::executor<tx::value_and_grad<of_rows<6>, norm_of<3>>, tx::cpu> whole{tx::seed(0)};
  halved(x);
  whole(numbers(18));  // small integers are halves too
  CHECK(halved.read() == whole.read());
}

TEST_CASE("batch norm is over the rows that there are") {
  tx::executor<tx::value_and_grad<of_some, norm_of<3>>, tx::cpu> some{tx::seed(0)};
  tx::executor<tx::value_and_grad<of_rows<4>, norm_of<3>>, tx::cpu> four{tx::seed(0)};
  auto const x = numbers(12);
  auto const a = some(x), b = four(x);
  CHECK(static_cast<double>(a.value) == Approx(static_cast<double>(b.value)));
  CHECK(distance(doubles(a.gradient), doubles(b.gradient)) < 1e-6);
  CHECK(distance(doubles(some.read()), doubles(four.read())) < 1e-6);
}

TEST_CASE("a batch of bounded extents that has no two elements for a channel moves no running statistics") {
  using three_each = tx::tensor<float, tx::dyn<4>, 1, 3>;
  using any = tx::tensor<float, tx::dyn<4, 1>, 1, tx::dyn<5, 2>>;
  struct net {
    tx::nn::batch_norm<1> norm;
  };
  constexpr auto one = [](net const& m, three_each x) { return tx::mean(m.norm(x)); };
  constexpr auto two = [](net const& m, any x) { return tx::mean(m.norm(x)); };
  auto const statistics = [](auto& run) {
    auto parameters = run.tensors();
    return std::array{named(parameters, "norm.running_mean").data[0], named(parameters, "norm.running_var").data[0]};
  };
  tx::executor<tx::train_step<net, one, tx::sgd>, tx::cpu> run{tx::seed(1)};
  run(std::vector<float>{1, 2, 3, 4, 5, 9});
  auto const moved = statistics(run);
  CHECK(moved[0] == Approx(0.4));
  CHECK(moved[1] == Approx(0.9 + 0.1 * 8));
  run(std::vector<float>{});
  CHECK(statistics(run) == moved);

  tx::executor<tx::train_step<net, two, tx::sgd>, tx::cpu> other{tx::seed(1)};
  float const element = 7;
  for (std::int64_t const rows : {0, 1}) other(tx::array_view<float const>{{3, {rows, 1, 1}, {1, 1, 1}}, &element});
  CHECK(statistics(other) == std::array{0.0f, 1.0f});
}
