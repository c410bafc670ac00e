// An outline says of a program what its tables say, and names what they cannot; a page holds it and nothing from
// elsewhere.
#include "../io/temp_folder.hpp"

#include <tx/expr/repeat.hpp>
#include <tx/inspect/outline.hpp>
#include <tx/io/page.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace {

using namespace tx;

struct block {
  nn::linear<8, 8> dense;
  constexpr auto operator()(auto const& x) const { return tanh(dense(x)); }
};
struct net {
  repeat<3, block> layer;
  nn::linear<8, 24> out, side;
  // Which factor is recorded first is not the same in constant evaluation and at run time.
  constexpr auto operator()(auto const& x) const { return out(layer(x)) * tanh(side(x)); }
};
constexpr auto loss = [](net const& m, tensor<float, 16, 8> x) { return sum(m(x)); };
using step = train_step<net, loss, adamw>;
using flat_step = train_step<net, loss, adamw, clip_gradient>;
using in_parts = train_step<net, loss, adamw, accumulate<4>>;

bool named(outline const& o, std::string const& name) {
  return std::ranges::any_of(o.values, [&](auto const& v) { return v.name == name; });
}

// The calls of a region as they run, with those of the loops in it.
template <class Program>
void collect(int loop, std::vector<exec::call const*>& to) {
  exec::loop const& l = Program::loops[loop];
  for (int i = l.first; i < l.first + l.count; ++i) {
    exec::instruction const s = Program::instructions[i];
    if (s.kind == exec::instruction_kind::call)
      to.push_back(&Program::calls[s.index]);
    else
      collect<Program>(s.index, to);
  }
}

// What a program itself has.
template <class Program>
void check_figures(outline const& o) {
  std::vector<exec::call const*> calls;
  collect<Program>(0, calls);
  REQUIRE(o.calls.size() == calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CHECK(o.calls[i].kernel == calls[i]->kernel);
    CHECK(o.calls[i].rows == calls[i]->rows);
    CHECK(o.calls[i].cols == calls[i]->cols);
    CHECK(o.calls[i].depth == calls[i]->depth);
    if (calls[i]->scratch > 0) {
      CHECK(std::ranges::any_of(o.buffers, [&](auto const& b) {
        return b.scratch_of == static_cast<int>(i) && b.offset == calls[i]->scratch;
      }));
    }
  }
  CHECK(o.kernels == Program::kernels.size());
  CHECK(o.arena == Program::memory.arena);
  CHECK(o.largest_live == Program::memory.largest_live);
  CHECK(o.regions.size() + o.bands.size() == static_cast<std::size_t>(Program::loops.size()));
}

// No two buffers share bytes at one moment; together they take what the plan says.
void check_buffers(outline const& o) {
  std::int64_t most = 0, end = 0;
  for (int t = 0; t < o.moments; ++t) {
    std::int64_t live = 0;
    for (auto const& b : o.buffers) live += b.first <= t && t <= b.last ? b.bytes : 0;
    most = std::max(most, live);
  }
  for (std::size_t i = 0; i < o.buffers.size(); ++i) {
    auto const& a = o.buffers[i];
    end = std::max(end, a.offset + a.bytes);
    for (std::size_t k = 0; k < i; ++k) {
      auto const& b = o.buffers[k];
      bool const together = a.first <= b.last && b.first <= a.last;
      CHECK_FALSE((together && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes));
    }
  }
  CHECK(most == o.largest_live);
  CHECK(end == o.arena);
}

// Each kernel computes something, after what it reads, and its results live when it runs.
void check_values(outline const& o) {
  std::set<int> with_values;
  for (auto const& v : o.values) {
    if (v.call >= 0 && v.kind != "region") with_values.insert(v.call);
    for (int const i : v.inputs) {
      REQUIRE(i >= 0);
      auto const& from = o.values[static_cast<std::size_t>(i)];
      if (v.call >= 0 && from.call >= 0 && v.kind != "region") CHECK(from.call <= v.call);
    }
    if (v.call < 0 || v.buffer < 0) continue;
    auto const& b = o.buffers[static_cast<std::size_t>(v.buffer)];
    int const moment = o.calls[static_cast<std::size_t>(v.call)].moment;
    CHECK((b.scratch_of < 0 && b.first <= moment && moment <= b.last));
  }
  for (std::size_t c = 0; c < o.calls.size(); ++c)
    if (o.calls[c].name != "zero") CHECK(with_values.contains(static_cast<int>(c)));
}

nlohmann::json data_of(std::string const& page) {
  std::string const before = "<script type=\"application/json\" id=\"data\">";
  std::size_t const from = page.find(before);
  REQUIRE(from != std::string::npos);
  return nlohmann::json::parse(page.substr(from + before.size(), page.find("</script>", from) - from - before.size()));
}

}  // namespace

TEST_CASE("the graph of a step is told as text") {
  graph const g = graph_of<step>();
  std::string const text = to_text(g);
  CHECK(std::ranges::count(text, '\n') >= g.size());
  for (char const* part : {"parameter", "tanh", " : f32[16, 8]", "matmul"}) CHECK(text.find(part) != std::string::npos);
  CHECK(std::ranges::any_of(g.outputs, [](output const& o) { return o.kind == output_kind::assign; }));
  CHECK(to_dot(g).starts_with("digraph"));
  for (output const& o : g.outputs) {
    if (o.kind != output_kind::result) continue;
    int value = o.value;  // through views, which are no part of a kernel
    while (g[value].op->kind == op_kind::view) value = g.input(value, 0);
    CHECK(passes::explain(g, g.input(value, 0), value) == passes::fusion_answer::fused);
  }
}

TEST_CASE("an outline is the program's plan") {
  outline const o = outline_of<step>();
  check_figures<step::program<>>(o);
  CHECK(o.memory.peak == step::memory.peak);
  CHECK(o.memory.activations == step::memory.activations);
  check_buffers(o);
  check_values(o);
  REQUIRE(o.regions.size() == 3);  // forward and backward
  CHECK((o.regions[1].iterations == 3 && o.regions[2].reversed));
  std::int64_t products = 0;
  for (auto const& c : o.calls) {
    CHECK(c.runs == (c.region == 0 ? 1 : 3));
    CHECK_FALSE(c.timed);
    if (c.depth > 0) products += c.runs * 2 * c.rows * c.cols * c.depth;
    CHECK(c.flops >= 2 * c.rows * c.cols * c.depth);
  }
  CHECK(products ==
        3 * 3 * 2 * 16 * 8 * 8 + 5 * 2 * 16 * 8 * 24);  // forward, to the input but of `side`, to the weight
}

TEST_CASE("a kernel tells which parameters it reads, a text which each is") {
  outline const o = outline_of<step>();
  auto const reads = [&](std::vector<std::string> const& wanted) {
    return std::ranges::any_of(o.calls, [&](auto const& c) {
      return c.when == step_phase::forward && c.depth > 0 && std::ranges::is_permutation(c.parameters, wanted);
    });
  };
  CHECK(reads({"layer.*.dense.weight", "layer.*.dense.bias"}));
  CHECK((reads({"out.weight", "out.bias"}) || reads({"side.weight", "side.bias"})));  // one of the two has the other's result too
  auto const data = data_of(io::page_of(outline_of<step>(), "p"));
  bool told = false;
  for (auto const& call : data.at("program").at("calls")) told = told || call.at("parameters") == nlohmann::json(o.calls[0].parameters);
  CHECK(told);
  std::string const text = to_text(graph_of<step>(), names_of<net>(step::states));
  for (char const* part : {" : f32[3, 8, 8]  layer.*.dense.weight\n", " : f32[24]  out.bias\n", "  state 1 of layer.*.dense.weight\n"})
    CHECK_THAT(text, Catch::Contains(part));
}

TEST_CASE("values that come in or leave have names") {
  outline const o = outline_of<step>();
  for (char const* name : {"argument 0", "layer.*.dense.weight", "out.bias", "state 1 of layer.*.dense.weight",
                           "new layer.*.dense.weight", "new state 0 of out.weight", "result 0", "rate of group 0"})
    CHECK(named(o, name));
  auto const weight = std::ranges::find(o.values, "layer.*.dense.weight", &outlined_value::name);
  CHECK(weight->shape == "f32[3, 8, 8]");
  CHECK(weight->kind == "outside");
  outline const flat = outline_of<tx::value_and_grad<loss, net>>();
  CHECK(named(flat, "gradient of out.weight"));
  CHECK(named(flat, "all gradients"));
  check_buffers(flat);
  check_values(flat);
}

TEST_CASE("a step in parts is a loop over them, which carries the sums of gradients") {
  outline const o = outline_of<in_parts>();
  check_figures<in_parts::program<>>(o);
  CHECK(o.memory.peak == in_parts::memory.peak);
  REQUIRE(o.regions.size() == 4);  // parts, and in them forward and backward
  CHECK(std::ranges::count_if(o.regions, [](auto const& r) { return r.iterations == 4; }) == 1);
  CHECK(std::ranges::count_if(graph_of<in_parts>().regions, [](auto const& r) { return r.parts; }) == 1);
  check_buffers(o);
  check_values(o);
}

TEST_CASE("times of a log go to their kernels") {
  exec::kernel_log log;
  int const last = step::program<>::calls.size() - 1;
  for (int const i : {0, last, last})
    log.events.push_back(
        {&step::program<>::calls[i], 0, 0.25, 0, step::program<>::calls[i].rows, {}});
  auto const seconds = seconds_of<step>(log);
  REQUIRE(seconds.size() == static_cast<std::size_t>(last + 1));
  outline const o = outline_of<step>(seconds);
  double sum = 0;
  for (auto const& c : o.calls) {
    CHECK(c.timed);
    sum += c.seconds;
  }
  CHECK(sum == 0.75);
  CHECK(o.calls[0].seconds == 0.25);
  log.runs = 2;  // of two runs, what one took
  CHECK(seconds_of<step>(log)[0] == 0.125);
  CHECK_THROWS_WITH(seconds_of<flat_step>(log), Catch::Contains("another program"));
}

TEST_CASE("a page has the program's figures and needs nothing else") {
  temp_folder const folder;
  auto all = outline_of<step>();
  io::write_page(folder / "p.html", all);
  std::string const page = io::read_text(folder / "p.html");
  for (char const* from_elsewhere : {"http", "src=", "href=", "import", "url("})
    CHECK(page.find(from_elsewhere) == std::string::npos);
  auto const program = data_of(page).at("program");
  CHECK(program.at("calls").size() == static_cast<std::size_t>(step::program<>::calls.size()));
  CHECK(program.at("kernels") == step::program<>::kernels.size());
  CHECK(program.at("memory").at("peak") == step::memory.peak);
  CHECK(program.at("largest_live") == step::program<>::memory.largest_live);
  CHECK(program.at("values").size() == all.values.size());
  CHECK(program.at("values").at(3).at("inputs").size() == all.values[3].inputs.size());
  CHECK(program.at("calls").at(1).at("name") == all.calls[1].name);
  CHECK_THROWS_AS(io::write_page(folder / "none/p.html", all), io_error);
}

TEST_CASE("names on a page are text, whatever is in them") {
  auto all = outline_of<step>();
  std::string const hostile = "</script><script>alert(1)</script><!-- \"'&\\ \xFF";
  all.values[0].name = all.calls[0].name = all.name = hostile;
  std::string const page = io::page_of(all, hostile);
  CHECK(page.find("alert(1)</") == std::string::npos);
  CHECK(page.find("<!--") == std::string::npos);
  std::size_t scripts = 0;
  for (std::size_t at = page.find("</script>"); at != std::string::npos; at = page.find("</script>", at + 1)) ++scripts;
  CHECK(scripts == 2);
  std::string const told = hostile.substr(0, hostile.size() - 1) + "\xEF\xBF\xBD";
  auto const data = data_of(page);
  CHECK(data.at("title") == told);
  CHECK(data.at("program").at("name") == told);
  CHECK(data.at("program").at("values").at(0).at("name") == told);
  CHECK(data.at("program").at("calls").at(0).at("name") == told);
  CHECK_THAT(page, Catch::Contains("<title>&lt;/script&gt;"));
}
