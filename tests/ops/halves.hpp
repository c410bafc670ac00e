// Ops on bf16 and f16 against PyTorch's (tests/parity/halves.py): arguments rounded to halves, gradients f32. Both
// round after each op, not always the same ones, so that a few roundings may lie between them.
#pragma once

#include "torch_groups.hpp"

#include <tx/ops/abs.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/normalize.hpp>
#include <tx/ops/pow.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/rms_norm.hpp>
#include <tx/ops/scatter_add.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/softplus.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/ops/where.hpp>

namespace {

template <auto... D>
using p = tx::param<tx::tensor<float, D...>>;
template <auto... D>
using t = tx::tensor<float, D...>;

// Members are named as in the file.
struct arguments {
  p<3, 17> x;
  p<17> y;
  p<17, 7> w;
  p<6, 17> table;
  p<17> scale, shift;
  p<3, 17> steep;
  p<2, 17> still;
};
struct others {
  t<2, 17> bags;
  t<1, 17> steep_mean;
  t<3, 17> steep_norm, steep_unit, steep_gelu;
  t<3, 17> running;
  t<1, 17> multiplied;
  t<3, 17> scattered;
  t<2, 17> still_norm;
};
struct results {
  t<3, 17> arithmetic, exp, log, sqrt, tanh, sigmoid, gelu, softplus, sine, power, chosen;
  t<3, 1> sum;
  t<1, 17> mean;
  t<3, 1> most;
  t<1, 17> least;
  t<3, 17> softmax, norm;
  t<3, 7> product;
  t<17, 17> turned;
  t<3, 7> joined;
  t<2, 3, 17> words;
  others more;
};
std::vector<std::string> const names{"arithmetic", "exp",        "log",     "sqrt",       "tanh",       "sigmoid",
                                     "gelu",       "softplus",   "sine",    "power",      "chosen",     "sum",
                                     "mean",       "most",       "least",   "softmax",    "norm",       "product",
                                     "turned",     "joined",     "words",   "bags",       "steep_mean", "steep_norm",
                                     "steep_unit", "steep_gelu", "running", "multiplied", "scattered",  "still_norm"};

template <class Half>
constexpr auto computed = [](arguments const& m, tx::tensor<tx::i32, 2, 3> ids, tx::tensor<tx::i32, 3, 3> columns) {
  auto const x = tx::cast<Half>(m.x);
  auto const y = tx::cast<Half>(m.y);
  auto const w = tx::cast<Half>(m.w);
  auto const table = tx::cast<Half>(m.table);
  auto const scale = tx::cast<Half>(m.scale);
  auto const shift = tx::cast<Half>(m.shift);
  auto const steep = tx::cast<Half>(m.steep);
  auto const wide = [](auto const& half) {
    static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(half)>::element_type, Half>,
                  "ops of halves give halves");
    return tx::cast<float>(half);
  };
  return results{
      wide((x + y) * (x - y) / (y * y + 1)),
      wide(tx::exp(x)),
      wide(tx::log(tx::abs(x) + 0.5)),
      wide(tx::sqrt(x * x + 0.25)),
      wide(tx::tanh(x)),
      wide(tx::sigmoid(x)),
      wide(tx::gelu(x)),
      wide(tx::softplus(x)),
      wide(tx::sin(x * 3)),
      wide(tx::pow(tx::abs(x) + 0.5, 1.5)),
      wide(tx::where(tx::less(x, y), tx::maximum(x, y * 2), tx::minimum(x, y * 0.5))),
      wide(tx::sum<-1>(x)),
      wide(tx::mean<0>(x)),
      wide(tx::max<-1>(x)),
      wide(tx::min<0>(x)),
      wide(tx::softmax(x)),
      wide(tx::layer_norm(x, scale, shift)),
      tx::cast<float>(tx::matmul(x, w)),  // a product of halves is f32 here
      tx::cast<float>(tx::matmul(tx::transpose(x), x)),
      wide(tx::concat<1>(tx::slice<1, 1, 4, 4>(x), tx::slice<1, 0, 3>(tx::flip<1>(x)))),
      wide(tx::take(table, ids)),
      {wide(tx::embedding(table, ids)), wide(tx::mean<0>(steep)), wide(tx::layer_norm(steep, scale, shift)),
       wide(tx::normalize(steep)), wide(tx::gelu_tanh(steep)), wide(tx::cumsum<1>(x)), wide(tx::prod<0>(x + 1)),
       wide(tx::scatter_add<1>(x, columns, tx::reshape<3, 3>(tx::slice<0, 0, 9>(y)))),
       wide(tx::rms_norm(tx::cast<Half>(m.still), scale, 1e-3))}};
};

struct loss_and_results {
  t<> loss;
  results values;
};
template <class Half>
constexpr auto loss = [](arguments const& m, tx::tensor<tx::i32, 2, 3> ids, tx::tensor<tx::i32, 3, 3> columns) {
  results const v = computed<Half>(m, ids, columns);
  others const& o = v.more;
  auto const total = weighed(v.arithmetic) + weighed(v.exp) + weighed(v.log) + weighed(v.sqrt) + weighed(v.tanh) +
                     weighed(v.sigmoid) + weighed(v.gelu) + weighed(v.softplus) + weighed(v.sine) + weighed(v.power) +
                     weighed(v.chosen) + weighed(v.sum) + weighed(v.mean) + weighed(v.most) + weighed(v.least) +
                     weighed(v.softmax) + weighed(v.norm) + weighed(v.product) + weighed(v.turned) + weighed(v.joined) +
                     weighed(v.words) + weighed(o.bags) + weighed(o.steep_mean) + weighed(o.steep_norm) +
                     weighed(o.steep_unit) + weighed(o.steep_gelu) + weighed(o.running) + weighed(o.multiplied) +
                     weighed(o.scattered) + weighed(o.still_norm);
  return loss_and_results{total, v};
};

// A program of the arguments in the file, against the values there; epsilon: half the distance of 1 and the next
// number.
template <class Program>
std::vector<values> checked(torch_numbers const& torch, std::string const& group, double epsilon) {
  tx::executor<Program, tx::cpu> run{tx::seed(0), {.threads = 2}};
  for (auto const& parameter : tx::parameters_of<arguments>()) {
    auto const v = torch.as<float>(group + ".argument." + parameter.name);
    std::copy(v.begin(), v.end(), run.elements().begin() + parameter.offset);
  }
  auto const told =
      as_values(run(std::vector<tx::i32>{3, 0, 5, 1, 1, 1}, std::vector<tx::i32>{3, 0, 5, 1, 1, 1, 3, 0, 5}));
  std::size_t const first = told.size() == names.size() ? 0 : 1;  // a loss, and a gradient at the end
  REQUIRE(told.size() == names.size() + 2 * first);
  for (std::size_t k = 0; k < names.size(); ++k) {
    INFO("value of " << names[k]);
    CHECK(distance(told[k + first], torch[group + ".value." + names[k]]) < 4 * epsilon);
  }
  return told;
}

// The same, and the gradients.
template <class Half, tx::compile_options Options>
void check_gradients(std::string const& group, double epsilon) {
  torch_numbers const torch{"halves"};
  auto const told = checked<grad_program<arguments, loss<Half>, Options>>(torch, group, epsilon);
  for (auto const& parameter : tx::parameters_of<arguments>()) {
    INFO("gradient of " << parameter.name);
    auto const first = told.back().begin() + parameter.offset;
    CHECK(distance(values(first, first + parameter.info.count()), torch[group + ".gradient." + parameter.name]) <
          12 * epsilon);
  }
}

}  // namespace
