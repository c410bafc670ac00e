// Matrices of low rank beside linear layers: values and gradients against the formula, what is trained and what the plan holds, dropout, and
// PEFT's numbers (tests/parity/lora.py).
#include <tx/backends/cpu.hpp>
#include <tx/io/adapter_folder.hpp>
#include <tx/io/pretrained.hpp>
#include <tx/nn/lora.hpp>
#include <tx/nn/projection.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace {

using tx::nn::lora_options;
using values = std::vector<double>;

// ---- one layer -------------------------------------------------------------------------------------------------------

constexpr int rows = 3, in = 5, out = 4;
struct net {
  tx::nn::linear<in, out> query;
  tx::nn::projection<out, 2> other;
  constexpr auto operator()(auto const& x) const { return query(x); }
};
using adapted = tx::nn::lora<net, lora_options{.rank = 2, .alpha = 3}, tx::names<"query">>;
constexpr auto square = [](auto const& m, tx::tensor<float, rows, in> x) {
  auto const y = m(x);
  return tx::mean(y * y);
};

std::vector<float> drawn(std::size_t count, double phase) {
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<float>(std::sin(1.3 * static_cast<double>(i) + phase));
  return v;
}
template <class Run>
void draw_all(Run& run) {
  double phase = 0;
  for (auto const& t : run.tensors()) {
    auto const v = drawn(t.data.size(), phase += 0.7);
    std::ranges::copy(v, t.data.begin());
  }
}
template <class Tensors>
auto const& named(Tensors const& tensors, std::string const& name) {
  for (auto const& t : tensors)
    if (t.name == name) return t;
  FAIL("no tensor " << name);
  return tensors[0];
}
template <class Tensors>
values of(Tensors const& tensors, std::string const& name) {
  auto const& t = named(tensors, name);
  return {t.data.begin(), t.data.end()};
}

// [m, k] x [n, k]^T -> [m, n]
values product(values const& a, values const& b, std::size_t m, std::size_t k, std::size_t n) {
  values c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l) c[i * n + j] += a[i * k + l] * b[j * k + l];
  return c;
}
values transposed(values const& a, std::size_t m, std::size_t n) {
  values t(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) t[j * m + i] = a[i * n + j];
  return t;
}
bool near(std::span<float const> a, values const& b) {
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!(std::abs(static_cast<double>(a[i]) - b[i]) < 1e-5)) return false;
  return a.size() == b.size();
}

struct told {
  tx::tensor<float> loss;
  tx::tensor<float, rows, in> y;
};
struct same_width {
  tx::nn::projection<in, in> query;
  constexpr auto operator()(auto const& x) const { return query(x); }
};
using dropped = tx::nn::lora<same_width, lora_options{.rank = in, .alpha = in, .dropout = 0.5}, tx::names<"query">>;
constexpr auto tell = [](dropped const& m, tx::tensor<float, rows, in> x) {
  auto const y = m(x);
  return told{tx::mean(y), y};
};
constexpr auto give = [](dropped const& m, tx::tensor<float, rows, in> x) { return m(x); };

// ---- a classifier of texts -------------------------------------------------------------------------------------------

struct config {
  static constexpr int layers = 2, hidden = 8, heads = 2, ffn = 12, vocabulary = 20, positions = 6, types = 2;
};
using network = tx::nn::bert_classifier<config, 2>;
using tuned = tx::nn::lora<network, lora_options{.rank = 2, .alpha = 3}, tx::names<"*.query", "*.value">, tx::names<"classifier.*">>;
using alone = tx::nn::lora<network, lora_options{.rank = 2, .alpha = 3}>;
constexpr auto loss = [](auto const& m, tx::tensor<tx::i32, 4, 6> ids, tx::tensor<tx::i32, 4> labels) { return tx::cross_entropy(m(ids), labels); };
constexpr auto logits = [](auto const& m, tx::tensor<tx::i32, 4, 6> ids) { return m(ids); };
constexpr auto two_texts = [](tuned const& m, tx::tensor<tx::i32, 12> ids, tx::tensor<tx::i32, 12> positions, tx::tensor<tx::i32, 3> offsets) {
  return tx::unwrapped(m).packed<6>(ids, positions, offsets);
};
template <class Model>
using step = tx::train_step<Model, loss, tx::adamw>;
template <class Model>
using infer = tx::function<logits, Model>;

// Neither states nor gradients of what is not trained are in the plan.
template <class Model>
constexpr std::int64_t trained_bytes = [] {
  std::int64_t sum = 0;
  for (auto const& e : tx::layout<Model>::entries)
    if (tx::layout<Model>::trains(e)) sum += e.info.bytes();
  return sum;
}();
static_assert(trained_bytes<alone> == 2 * 2 * 4 * (2 * 8 + 8 * 2));  // layers, query and value, bytes, A and B
static_assert(step<alone>::memory.optimizer == 2 * 4 * tx::layout<alone>::trained && tx::layout<alone>::trained <= 1024);

struct wide {
  tx::nn::linear<256, 256> query;
  constexpr auto operator()(auto const& x) const { return query(x); }
};
constexpr auto wide_loss = [](auto const& m, tx::tensor<float, 4, 256> x) {
  auto const y = m(x);
  return tx::mean(y * y);
};
template <class Model>
constexpr tx::exec::memory_use wide_memory = tx::train_step<Model, wide_loss, tx::adamw, tx::clip_gradient>::memory;
using beside_wide = tx::nn::lora<wide, lora_options{.rank = 2}, tx::names<"query">>;
constexpr std::int64_t of_weight = 4 * 256 * 256, of_matrices = 4 * 2 * (256 + 256);
static_assert(wide_memory<beside_wide>.optimizer == 2 * of_matrices);
static_assert(wide_memory<beside_wide>.gradients < wide_memory<wide>.gradients - of_weight + 4 * of_matrices);
static_assert(wide_memory<beside_wide>.arena < wide_memory<wide>.arena - of_weight + 4 * of_matrices);

std::string const data = TX_TEST_DIR "/../parity/data/lora";
tx::io::adapter_description const described{.rank = 2, .alpha = 3, .trained = {"classifier"}};

template <class T>
std::vector<T> numbers(tx::io::safetensors const& file, std::string const& name) {
  tx::io::tensor_info const* const t = file.find(name);
  INFO(name);
  REQUIRE(t != nullptr);
  std::vector<T> typed(t->bytes.size() / sizeof(T));
  std::memcpy(typed.data(), t->bytes.data(), t->bytes.size());
  return typed;
}
template <class Run>
void load_parity(Run& run) {
  auto const report = tx::io::load_pretrained(tx::io::model_folder::open(data + "/base"), tx::io::base_parameters(run.tensors()), "bert");
  REQUIRE(report.fresh.empty());
  tx::io::load_adapter(data + "/adapter", run.tensors(), described);
}

}  // namespace

TEST_CASE("values and gradients of a layer with low rank beside it are those of the formula", "[lora]") {
  tx::executor<tx::value_and_grad<square, adapted>, tx::cpu> run{tx::seed(1)};
  draw_all(run);
  auto const x32 = drawn(rows * in, 0.1);
  auto const r = run(x32);
  auto const tensors = run.tensors();
  REQUIRE(tensors.size() == 5);
  values const x(x32.begin(), x32.end()), w = of(tensors, "query.weight"), b = of(tensors, "query.bias");
  values const a = of(tensors, "query.lora_A.weight"), up = of(tensors, "query.lora_B.weight");
  values const narrow = product(x, a, rows, in, 2);  // x A^T
  values y = product(x, w, rows, in, out);
  values const beside = product(narrow, up, rows, 2, out);
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] += b[i % out] + 1.5 * beside[i];
    sum += y[i] * y[i];
  }
  CHECK(r.value == Approx(sum / (rows * out)).epsilon(1e-5));
  values dy(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) dy[i] = 1.5 * 2 * y[i] / (rows * out);  // by what is beside the layer
  values const dy_t = transposed(dy, rows, out);
  auto const gradients = r.gradient.tensors();
  REQUIRE(gradients.size() == 2);
  CHECK(near(named(gradients, "query.lora_B.weight").data, product(dy_t, transposed(narrow, rows, 2), out, rows, 2)));
  values const back = product(dy, transposed(up, out, 2), rows, out, 2);  // dy B
  CHECK(near(named(gradients, "query.lora_A.weight").data, product(transposed(back, rows, 2), transposed(x, rows, in), 2, rows, in)));
}

TEST_CASE("A begins as PEFT's, B with zeros, so that a fresh one changes nothing", "[lora]") {
  using large = tx::nn::lora<tx::nn::bert_layer<tx::nn::bert_base>, lora_options{.rank = 16}, tx::names<"*.query">>;
  tx::parameter_block<large, tx::cpu> const block{tx::seed(2), 0};
  auto const tensors = block.tensors();
  values const a = of(tensors, "attention.self.query.lora_A.weight");
  double const bound = 1 / std::sqrt(768.0);
  double squares = 0, most = 0;
  for (double const v : a) squares += v * v, most = std::max(most, std::abs(v));
  CHECK(most <= bound);
  CHECK(most > 0.99 * bound);
  CHECK(std::sqrt(squares / static_cast<double>(a.size())) == Approx(bound / std::sqrt(3.0)).epsilon(0.02));
  for (double const v : of(tensors, "attention.self.query.lora_B.weight")) REQUIRE(v == 0);

  tx::executor<infer<tuned>, tx::cpu> run{tx::seed(3)};
  tx::executor<infer<network>, tx::cpu> plain{tx::seed(4)};
  auto const base = tx::io::base_parameters(run.tensors());
  auto const all = plain.tensors();
  REQUIRE(base.size() == all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    CHECK(base[k].name == all[k].name);
    std::ranges::copy(base[k].data, all[k].data.begin());
  }
  std::vector<tx::i32> ids(24);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<tx::i32>(1 + i * 5 % 19);
  auto const& y = run(ids).value;
  auto const& z = plain(ids).value;
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == z[i]);
}

TEST_CASE("values, gradients and losses of steps are PEFT's", "[lora]") {
  auto const reference = tx::io::safetensors::read(data + "/reference.safetensors");
  auto const ids = numbers<tx::i32>(reference, "ids"), labels = numbers<tx::i32>(reference, "labels");
  auto const wanted = numbers<double>(reference, "logits"), losses = numbers<double>(reference, "losses");
  tx::executor<tx::value_and_grad<loss, tuned>, tx::cpu> run{tx::seed(1)};
  load_parity(run);
  run.settings.at("dropout") = 0;
  tx::executor<infer<tuned>, tx::cpu> predict{run};
  auto const& y = predict(ids).value;
  REQUIRE(y.size() == wanted.size());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(static_cast<double>(y[i]) == Approx(wanted[i]).epsilon(1e-5));
  auto const r = run(ids, labels);
  std::size_t seen = 0;
  for (auto const& t : r.gradient.tensors()) {
    INFO(t.name);
    auto const g = numbers<double>(reference, "gradient." + t.name);
    CHECK(near(t.data, g));
    ++seen;
  }
  CHECK(seen == 10);

  tx::executor<step<tuned>, tx::cpu> train{tx::seed(1)};
  load_parity(train);
  train.settings["dropout"] = 0;
  train.settings["learning_rate"] = 0.01f;
  for (auto& group : train.settings.groups) group.decay = 0;
  for (double const l : losses) CHECK(static_cast<double>(train(ids, labels).loss) == Approx(l).epsilon(1e-4));
}

TEST_CASE("steps leave the model bit by bit as it was, and train what stands beside it", "[lora]") {
  tx::executor<step<alone>, tx::cpu> run{tx::seed(5)};
  load_parity(run);
  std::vector<std::vector<float>> before;
  for (auto const& t : run.tensors()) before.emplace_back(t.data.begin(), t.data.end());
  std::vector<tx::i32> const ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12}, labels{0, 1, 1, 0};
  for (int i = 0; i < 3; ++i) run(ids, labels);
  std::size_t k = 0;
  for (auto const& t : run.tensors()) {
    INFO(t.name);
    bool const same = std::memcmp(t.data.data(), before[k].data(), t.data.size_bytes()) == 0;
    CHECK(same == (t.name.find(".lora_") == std::string::npos));
    ++k;
  }
  std::set<std::string> states;
  for (auto const& t : run.tensors(1)) states.insert(t.name);
  CHECK(states.size() == 8);
  CHECK(states.contains("bert.encoder.layer.1.attention.self.value.lora_B.weight"));
}

TEST_CASE("merged into the weights it gives the same", "[lora]") {
  tx::executor<infer<tuned>, tx::cpu> run{tx::seed(1)};
  load_parity(run);
  tx::executor<infer<network>, tx::cpu> merged{tx::seed(2)};
  auto const parts = tx::io::merged_parameters(run.tensors(), 1.5);
  auto const all = merged.tensors();
  REQUIRE(parts.size() == all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    CHECK(parts[k].name == all[k].name);
    std::ranges::copy(parts[k].data, all[k].data.begin());
  }
  std::vector<tx::i32> ids(24);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<tx::i32>(1 + i * 5 % 19);
  auto const& y = run(ids).value;
  auto const& z = merged(ids).value;
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::abs(y[i] - z[i]) < 1e-6f);
}

TEST_CASE("what is read is dropped where that is asked for, in training alone", "[lora]") {
  tx::executor<tx::train_step<dropped, tell, tx::adamw>, tx::cpu> run{tx::seed(1)};
  for (auto const& t : run.tensors())
    for (std::size_t i = 0; i < t.data.size(); ++i) t.data[i] = t.name != "query.weight" && i % (in + 1) == 0 ? 1.0f : 0.0f;  // units
  run.settings["learning_rate"] = 0;
  auto const x = drawn(rows * in, 0.4);
  auto const r = run(x);
  int zeros = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    zeros += r.y[i] == 0;
    CHECK((r.y[i] == 0 || r.y[i] == Approx(2 * x[i])));
  }
  CHECK(zeros > 0);
  CHECK(zeros < rows * in);
  tx::executor<tx::function<give, dropped>, tx::cpu> predict{run};
  auto const& y = predict(x).value;
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == Approx(x[i]));
}

TEST_CASE("the model inside can do what it does without", "[lora]") {
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(tx::unwrapped(tuned{}))>, network>);
  tx::executor<tx::function<two_texts, tuned>, tx::cpu> packed{tx::seed(1)};
  load_parity(packed);
  tx::executor<infer<tuned>, tx::cpu> padded{packed};
  std::vector<tx::i32> ids(24), positions(12);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<tx::i32>(1 + i * 5 % 19);
  for (std::size_t i = 0; i < 12; ++i) positions[i] = static_cast<tx::i32>(i % 6);
  auto const& y = padded(ids).value;
  auto const& z = packed(std::span(ids).first(12), positions, std::vector<tx::i32>{0, 6, 12}).value;
  for (std::size_t i = 0; i < z.size(); ++i) CHECK(z[i] == Approx(y[i]).epsilon(1e-5));
}
