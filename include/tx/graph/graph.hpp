// The static graph: a flat table of nodes in topological order, with regions for repeated blocks.
#pragma once

#include <tx/core/turns.hpp>
#include <tx/core/vec.hpp>
#include <tx/graph/leaf.hpp>

namespace tx {

// Which part of a step first asked for a node.
enum class step_phase : std::uint8_t { forward, backward, update };

// A line of source that recorded nodes; see expr/here.hpp.
struct source_site {
  char const* file = "";
  int line = 0;
};

// A number that a program reads at run time under a name; see expr/setting.hpp.
struct declared_setting {
  char const* name = "";
  float first = 0;  // until it is set
  bool (*allows)(float) = nullptr;  // which values a run takes; null: any
  char const* allowed = "";         // the same in words
};

struct node {
  op_info const* op = nullptr;
  value_info info{};
  attributes at{};
  int first = 0;   // inputs are operands[first .. first + inputs)
  int inputs = 0;
  int region = 0;  // the region whose body it is part of; 0 is the program
  step_phase when = step_phase::forward;
  std::uint16_t site = 0;  // number of the line that recorded it, from 1; 0: it was not told
};

// A body that a region node runs `iterations` times. Argument k of the body is an `argument` node with attribute 0 = k.
// The order of the region node's inputs, and of the arguments: carries, invariants, stacked.
struct region {
  int parent = 0;
  int iterations = 1;
  int carries = 0;     // results [0, carries) become the next iteration's arguments [0, carries)
  int invariants = 0;  // arguments [carries, carries + invariants) are the same in each iteration
  int stacked = 0;     // the last arguments are slices of inputs with a leading axis of `iterations`
  bool reversed = false;
  bool parts = false;  // its iterations are parts of a batch: each draws random numbers of rows of its own
  // It takes turns with other loops, each run of it being one iteration or none: carries go on from what they are given, which none leaves as it is. What it stacks stays, for all runs
  // of the loop around it: iteration number n writes slice n % iterations. Parts are counted by that number.
  turns turn{};
  int of_ranks = 0;  // its iterations are this rank's portion of so many; the last ranks may run fewer, or none. 0: all ranks run the same
  int owner = -1;      // the region node
  vec<int> arguments{};
  vec<int> results{};  // carries, then values to stack
  bool open = false;   // while a model's body is recorded: what it reads from around it is handed in as an invariant
  vec<int> given{};    // then: what each argument is given, a value of the region around it
};

enum class output_kind : std::uint8_t { result, assign, gradient };

// A value that leaves the program: handed to the caller, or stored over a leaf (parameter or state). While a step is recorded also the
// gradient by a leaf, until the update makes use of it.
struct output {
  int value = 0;
  output_kind kind = output_kind::result;
  int target = -1;  // the leaf it replaces, or is the gradient by
};

// What a state becomes when a run ends; state: as the region in which that is recorded sees it. See expr/state.hpp.
struct state_change {
  int state = 0;
  int value = 0;
};

// An op without a gradient that a gradient reached, and the value it computes.
struct missing_gradient {
  op_info const* op = nullptr;
  value_info of{};
};

// Loops around a value: regions that a region may be in, itself among them. As many as a tensor has axes but two, as a value that all of
// them stack has an axis of each.
inline constexpr int max_loops = 4;

class graph {
 public:
  vec<node> nodes{};
  vec<int> operands{};
  vec<region> regions{};
  vec<output> outputs{};
  vec<source_site> sites{};
  vec<declared_setting> settings{};
  vec<state_change> changes{};  // while a model is recorded; then they are outputs
  step_phase when = step_phase::forward;
  std::uint16_t site = 0;  // of new nodes
  int current = 0;        // region that new nodes go to
  vec<std::int64_t> numbers{};  // lists that do not fit the attributes of a node
  bound_table bound_of{};
  int random_streams = 0;  // next id for an op that draws random numbers
  bool training = true;    // dropout records nothing in inference
  bool gradients_again = false;  // are gradients of the gradients that are recorded wanted too?
  missing_gradient no_gradient{};  // the first one; a program with one does not compile

  constexpr graph() { regions.push_back(region{}); }

  constexpr int size() const { return nodes.size_; }
  constexpr node const& operator[](int id) const { return nodes.data_[id]; }
  constexpr int input(int id, int k) const { return operands.data_[nodes.data_[id].first + k]; }
  constexpr int input(node const& n, int k) const { return operands.data_[n.first + k]; }
  constexpr value_info const& info(int id) const { return nodes.data_[id].info; }

  // What is said of the program as a whole: everything but nodes, regions, outputs and the lists of numbers that nodes name.
  constexpr void take_program_facts(graph const& from) {
    sites = from.sites;
    settings = from.settings;
    bound_of = from.bound_of;
    random_streams = from.random_streams;
    training = from.training;
    no_gradient = from.no_gradient;
  }

  // Room for a graph of another's size: growing a table in a constant evaluation costs as much as filling it.
  constexpr void reserve(graph const& other) {
    nodes.reserve(other.size());
    operands.reserve(other.operands.size());
    hashes_.reserve(other.size());
    int slots = 16;
    while (slots < 2 * other.size()) slots *= 2;
    table_ = vec<int>(slots, -1);
  }

  // Appends a node, or returns an equal one that the same region already holds.
  constexpr int emit(op_info const* op, int const* in, int count, attributes const& at) {
    value_info infos[max_inline];
    vec<value_info> many{};
    value_info const* view = infos;
    if (count <= max_inline) {
      for (int i = 0; i < count; ++i) infos[i] = nodes.data_[in[i]].info;
    } else {
      many.reserve(count);
      for (int i = 0; i < count; ++i) many.push_back(nodes.data_[in[i]].info);
      view = many.data_;
    }
    return emit(op, in, count, at, op->infer(view, count, at));
  }

  // The same for ops whose result the inputs do not tell: leaves.
  constexpr int emit(op_info const* op, int const* in, int count, attributes const& at, value_info const& info) {
    if (regions.data_[current].open) {
      vec<int> seen(count);
      for (int k = 0; k < count; ++k) seen.data_[k] = seen_here(in[k]);
      return add(op, seen.data_, count, at, info);
    }
    for (int k = 0; k < count; ++k)
      if (nodes.data_[in[k]].region != current && !is_number_of_program(in[k])) throw invalid("a tensor of a repeated body is read outside of it. FIX: hand it out, as what the body returns");
    return add(op, in, count, at, info);
  }

  // The results of an op with several, directly behind its node: result k is node `owner` + 1 + k.
  constexpr void emit_results(int owner) {
    node const n = nodes[owner];
    vec<value_info> infos{};
    for (int i = 0; i < n.inputs; ++i) infos.push_back(nodes[input(n, i)].info);
    for (int k = 0; k < n.op->results; ++k) emit(&result_info, &owner, 1, of_result(k), n.op->infer_result(infos.data(), n.inputs, n.at, k));
  }
  // Is it one of several results of an op, and not of a region?
  constexpr bool is_result_of_op(int id) const {
    node const& n = nodes.data_[id];
    return n.op == &result_info && has_results(operands.data_[n.first]);
  }
  // An op that is read through its results alone.
  constexpr bool has_results(int id) const { return nodes.data_[id].op->infer_result != nullptr; }

  // How many loops there are around the nodes of a region.
  constexpr int loops_around(int region_id) const {
    int loops = 0;
    for (; region_id != 0; region_id = regions[region_id].parent) ++loops;
    if (loops > max_loops) throw invalid("repeated bodies are more than four deep in each other. FIX: merge two scans into one, over a product of their extents");
    return loops;
  }
  // How often the nodes of a region are computed.
  constexpr std::int64_t runs_of(int region_id) const {
    std::int64_t runs = 1;
    for (; region_id != 0; region_id = regions[region_id].parent) runs *= regions[region_id].iterations;
    return runs;
  }

  // May be read in every region: it is handed to none.
  constexpr bool is_number_of_program(int id) const { return nodes[id].region == 0 && nodes[id].info.count() == 1; }

  // One more argument of a region whose body is being recorded: inside, what `outside` is around it. They are numbered when all are known.
  constexpr int add_argument(int region_id, int outside, value_info const& info) {
    constexpr int unnumbered = 1 << 20;
    int const here = current;
    current = region_id;
    int const inside = emit(&argument_info, nullptr, 0, of_argument(unnumbered + regions[region_id].arguments.size(), region_id), info);
    current = here;
    regions[region_id].arguments.push_back(inside);
    regions[region_id].given.push_back(outside);
    return inside;
  }

  // A value as the body that is being recorded sees it: one of its own, a number of the program, or the argument that hands in one
  // from around it.
  constexpr int seen_here(int id) {
    int const here = current;
    if (nodes[id].region == here || is_number_of_program(id)) return id;
    if (!regions[here].open) throw invalid("a tensor of a repeated body is read outside of it. FIX: hand it out, as what the body returns");
    current = regions[here].parent;
    int const outside = seen_here(id);
    current = here;
    region const& body = regions[here];
    for (int k = body.carries + body.stacked; k < body.arguments.size(); ++k)
      if (body.given[k] == outside) return body.arguments[k];
    return add_argument(here, outside, nodes[outside].info);
  }

 private:
  static constexpr int max_inline = 4;

  // Of operands that the current region may read.
  constexpr int add(op_info const* op, int const* in, int count, attributes const& at, value_info const& info) {
    if (info.dims.bounds != 0) {
      info.dims.count_factors();  // refuses what has one too often
      if (!bound_of.divides(info.dims)) throw invalid("a bounded extent is no multiple of the bound that the program's arguments give its tag. FIX: dyn<Max, Tag> with the same Max, or a multiple");
    }
    std::uint32_t const h = hash(op, in, count, at, info);
    if (int const found = find(h, op, in, count, at, info); found >= 0) return found;
    nodes.push_back({op, info, at, operands.size_, count, current, when, site});
    for (int i = 0; i < count; ++i) operands.push_back(in[i]);
    insert(h, nodes.size_ - 1);
    return nodes.size_ - 1;
  }

  // A few small numbers: a constant evaluator pays for each new 64-bit value, and equal hashes are compared in full anyway.
  constexpr std::uint32_t hash(op_info const* op, int const* in, int count, attributes const& at, value_info const& info) const {
    std::uint32_t h = op->key + static_cast<std::uint32_t>(current);
    for (int i = 0; i < count && i < max_inline; ++i) h = 5 * h + static_cast<std::uint32_t>(in[i]);
    for (int i = 0; i < 3; ++i) h = 5 * h + static_cast<std::uint32_t>(at.v[i]);
    return (5 * h + static_cast<std::uint32_t>(info.dims.rank > 0 ? info.dims.dim[0] : 0)) * 0x9e3779b1u >> 8;
  }

  constexpr int find(std::uint32_t h, op_info const* op, int const* in, int count, attributes const& at, value_info const& info) const {
    if (table_.size_ == 0 || op->kind == op_kind::region) return -1;
    int const mask = table_.size_ - 1;
    int slot = static_cast<int>(h & static_cast<std::uint32_t>(mask));
    for (int id = table_.data_[slot]; id >= 0; id = table_.data_[slot = (slot + 1) & mask]) {
      if (hashes_.data_[id] != h) continue;
      node const& n = nodes.data_[id];
      if (n.op != op || n.inputs != count || n.region != current || !(n.at == at) || !(n.info == info)) continue;
      bool same = true;
      for (int i = 0; i < count && same; ++i) same = operands.data_[n.first + i] == in[i];
      if (same) return id;
    }
    return -1;
  }

  constexpr void insert(std::uint32_t h, int id) {
    if (4 * (filled_ + 1) > 3 * table_.size_) {
      int const grown = table_.size_ == 0 ? 16 : 4 * table_.size_;
      table_ = vec<int>(grown, -1);
      vec<std::uint32_t> old = hashes_;
      for (int i = 0; i < old.size(); ++i) place(old[i], i);
    }
    hashes_.push_back(h);
    place(h, id);
    ++filled_;
  }
  constexpr void place(std::uint32_t h, int id) {
    int const mask = table_.size_ - 1;
    int slot = static_cast<int>(h & static_cast<std::uint32_t>(mask));
    while (table_.data_[slot] >= 0) slot = (slot + 1) & mask;
    table_.data_[slot] = id;
  }

  vec<int> table_{};  // open addressing over node ids
  vec<std::uint32_t> hashes_{};
  int filled_ = 0;
};

}  // namespace tx
