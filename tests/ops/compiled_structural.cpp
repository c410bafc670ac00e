// Compiled programs of structural ops, look-ups and convolutions on both backends against the interpreter, and the same
// bits whatever the number of threads.
#include "grad_program.hpp"
#include "check_op.hpp"
#include "structural_rules.hpp"

#include <tx/ops/concat.hpp>
#include <tx/ops/conv2d.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/einsum.hpp>
#include <tx/ops/embedding_bag.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/pool2d.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/scatter_add.hpp>
#include <tx/ops/split.hpp>
#include <tx/ops/stack.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/top_k.hpp>

namespace {

knows_whole<&tx::concat_info> const concat_rule;
knows_whole<&tx::flip_info> const flip_rule;

using tx::tensor;
template <class T, auto... D>
using p = tx::param<tensor<T, D...>, tx::init::uniform<2, 1>>;

constexpr auto weighed = [](auto const& y, double by) {
  return tx::sum(y * (tx::cast<typename std::remove_cvref_t<decltype(y)>::element_type>(tx::iota<-1>(y)) * 0.25 + by));
};

template <class T>
struct joined_model {
  p<T, 3, 4, 6> x;
  p<T, 3, 6, 2> y;
  p<T, 6, 5> w;
  p<T, 11, 5> table;
};
template <class T>
struct joined_result {
  tensor<T> loss;
  tensor<T, 3, 6, 6> joined;
  tensor<T, 3, 3, 6, 2> both;
  tensor<T, 3, 4, 2, 5> product;
  tensor<T, 3, 6, 3> most;
  tensor<tx::i32, 3, 6, 3> most_at;
  tensor<tx::i32, 3, 1, 6> largest;
  tensor<tx::i32, 3, 6, 1> smallest;
  tensor<T, 3, 4, 6> added;
  tensor<T, 2, 5> mean, greatest;
};
template <class T>
constexpr auto joined_loss = [](joined_model<T> const& m, tensor<tx::i32, 3, 4, 6> ids, tensor<tx::i64, 2, 4> bags) {
  auto const joined = tx::concat<1>(m.x, tx::transpose(m.y));  // [3, 6, 6]
  auto const [a, b] = tx::split<1, 2>(joined);
  auto const both = tx::stack<-1>(a * 2, tx::flip<0, 2>(b));
  auto const sums = tx::cumsum<1>(joined) * tx::cumsum<-1, true>(tx::tanh(joined));
  auto const product = tx::einsum<"bij,bjk,jl->bikl">(m.x, m.y, m.w);
  auto const top = tx::top_k<3>(joined);
  auto const added = tx::scatter_add<1>(m.x, ids, tx::gather<1>(m.x, ids) * 0.5);
  auto const mean = tx::embedding_bag<tx::bag_mode::mean>(m.table, bags);
  auto const greatest = tx::embedding_bag<tx::bag_mode::max>(m.table, bags);
  auto const loss = weighed(both * both, 0.1) + weighed(sums, 0.2) + weighed(tx::prod<1>(m.y + 0.5), 0.3) +
                    weighed(product, 0.4) + weighed(top.values * top.values, 1) + weighed(added * added, 0.5) +
                    weighed(mean * greatest, 1);
  return joined_result<T>{
      loss,  joined * 1, both,    product, top.values, top.indices, tx::argmax<1>(joined), tx::argmin<2>(joined),
      added, mean,       greatest};
};

template <class T>
struct residual_block {
  p<T, 4, 4, 3, 3> weight;
  constexpr auto operator()(auto const& x) const {
    auto const [a, b] = tx::split<1, 2>(x);
    auto const swapped = tx::concat<1>(b, a);
    auto const most = tx::max_pool2d<tx::pool2d_options{.size = 3, .stride = 1, .padding = 1}>(x);
    return x + tx::conv2d<tx::conv2d_options{.padding = 1}>(tx::tanh(swapped), weight) * 0.1 +
           tx::cumsum<3>(most) * 0.1;
  }
};
template <class T>
struct picture_model {
  p<T, 2, 4, 7, 6> x;
  tx::repeat<2, residual_block<T>> blocks;
  p<T, 6, 2, 3, 3> grouped;
  p<T, 6> bias;
  p<T, 5, 6, 2, 1> strided;
};
template <class T>
struct picture_result {
  tensor<T> loss;
  tensor<T, 2, 6, 7, 6> first;
  tensor<T, 2, 6, 4, 3> pooled;
  tensor<T, 2, 5, 1, 2> last;
};
template <class T>
constexpr auto picture_loss = [](picture_model<T> const& m) {
  auto const first = tx::conv2d<tx::conv2d_options{.padding = 1, .groups = 2}>(m.blocks(m.x), m.grouped, m.bias);
  auto const pooled = tx::max_pool2d<tx::pool2d_options{.size = 3, .stride = 2, .padding = 1}>(tx::tanh(first * 0.3));
  auto const last = tx::conv2d<tx::conv2d_options{.stride = 2, .dilation = {2, 1}}>(pooled, m.strided);
  auto const mean = tx::avg_pool2d<tx::pool2d_options{.size = {3, 2}, .stride = 1, .padding = 1}>(first);
  return picture_result<T>{weighed(last * last, 1) + weighed(mean * mean, 0.3) + weighed(pooled, 0.1), first * 1,
                           pooled, last};
};

// Any number of pictures up to five, and halves, which these ops only move or compare.
struct seen {
  tensor<float, tx::dyn<5>, 3, 2, 2> edges, pooled;
  tensor<tx::bf16, tx::dyn<5>, 4, 4> taken;
  tensor<tx::i32, tx::dyn<5>, 1, 4> largest;
  tensor<tx::bf16, tx::dyn<5>, 4, 2> most;
  tensor<float, tx::dyn<5>, 4, 4> sums;
};
constexpr auto look = [](tensor<tx::bf16, tx::dyn<5>, 2, 4, 4> x, tensor<tx::bf16, 3, 2, 3, 3> w,
                         tensor<tx::i32, tx::dyn<5>, 4, 4> ids) {
  auto const [a, b] = tx::split<1, 2>(x);
  auto const first = tx::reshape<-1, 4, 4>(a);
  auto const joined =
      tx::concat<2>(tx::slice<-1, 0, 2>(first), tx::slice<-1, 0, 2>(tx::reshape<-1, 4, 4>(tx::flip<3>(b))));
  auto const edges = tx::conv2d(x, w);
  return seen{edges,
              tx::max_pool2d<tx::pool2d_options{.size = 2, .stride = 1, .padding = 1}>(tx::max_pool2d<2>(edges)),
              tx::gather<1>(first, ids),
              tx::argmax<1>(joined),
              tx::top_k<2>(joined).values,
              tx::cumsum<0>(tx::cast<float>(joined))};
};

template <template <class> class Model, auto Loss64, auto Loss32, class... In>
void check_programs(std::vector<In> const&... in) {
  CHECK(distance_from_interpreter<grad_program<Model<double>, Loss64>, tx::reference, Loss64>(in...) < 1e-11);
  using program = grad_program<Model<float>, Loss32>;
  CHECK(distance_from_interpreter<program, tx::cpu, Loss32>(in...) < 5e-5);
  tx::executor<program, tx::cpu> one{tx::seed(5), {.threads = 1}};
  tx::executor<program, tx::cpu> four{tx::seed(5), {.threads = 4}};
  CHECK(as_values(one(in...)) == as_values(four(in...)));
}

std::vector<tx::i32> drawn_ids() {
  number_source numbers(61);
  array const ids = numbers.integers(make_dims({3, 4, 6}), 0, 4);
  return {ids.v.begin(), ids.v.end()};
}
std::vector<tx::i64> const bags{0, 3, 10, -1, -1, -1, -1, -1};  // the second one is empty

}  // namespace

TEST_CASE("compiled concat, stack, split, flip, sums, products, look-ups") {
  check_programs<joined_model, joined_loss<double>, joined_loss<float>>(drawn_ids(), bags);
}
TEST_CASE("compiled convolutions and pools") {
  check_programs<picture_model, picture_loss<double>, picture_loss<float>>();
}

TEST_CASE("ids beyond the axis are refused before anything runs") {
  tx::executor<grad_program<joined_model<float>, joined_loss<float>>, tx::cpu> run{tx::seed(5)};
  for (tx::i32 wrong : {-1, 4}) {
    auto ids = drawn_ids();
    ids[5] = wrong;
    CHECK_THROWS_AS(run(ids, bags), tx::value_error);
  }
  CHECK_THROWS_AS(run(drawn_ids(), std::vector<tx::i64>{0, 3, 11, -1, -1, -1, -1, -1}), tx::value_error);
}

TEST_CASE("a batch below its bound, of halves: what the reference gives, and nothing of the places beyond it") {
  number_source numbers(62);
  auto halves = [&](int count) {
    std::vector<tx::bf16> v;
    for (int i = 0; i < count; ++i) v.push_back(tx::bf16::from(static_cast<float>(numbers.below(64)) / 16 - 2));
    return v;
  };
  auto const pictures = halves(5 * 32);
  auto const weight = halves(54);
  array const drawn = numbers.integers(make_dims({5, 4, 4}), 0, 4);
  std::vector<tx::i32> const ids(drawn.v.begin(), drawn.v.end());
  tx::executor<tx::function<look>, tx::cpu> run{{.threads = 3}};
  tx::executor<tx::function<look>, tx::reference> plain{};
  auto lists = [](seen const& r) {
    std::vector<values> all;
    tx::for_each_result(r, [&](auto const& t) {
      values v;
      for (auto x : tx::elements_of(t)) v.push_back(static_cast<double>(tx::number_of(x)));
      all.push_back(v);
    });
    return all;
  };
  auto const five = lists(run(pictures, weight, ids));
  for (std::size_t n : {5u, 3u, 1u}) {
    auto const told = lists(run(std::span(pictures).first(n * 32), weight, std::span(ids).first(n * 16)));
    auto const wanted = lists(plain(std::span(pictures).first(n * 32), weight, std::span(ids).first(n * 16)));
    for (std::size_t k = 0; k < told.size(); ++k) {
      CHECK(distance(told[k], wanted[k]) < 1e-6);
      CHECK(std::equal(told[k].begin(), told[k].end(), five[k].begin()));
    }
    CHECK(told[0].size() == n * 12);
  }
}
