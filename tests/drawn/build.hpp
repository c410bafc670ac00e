// From decisions to a graph.
#pragma once

#include "decisions.hpp"

#include <map>
#include <memory>

namespace drawn {

// A graph under construction and what its leaves are.
class builder {
 public:
  builder(program const& p, row_count rows) : type_(p.type), rows_(rows) {
    if (rows.most > 0 && rows.fixed < 0) g.bound_of = rows.bounds();
  }
  builder(builder const&) = delete;

  graph g{};

  var value(int id) const {
    auto const found = values_.find(id);
    if (found == values_.end()) throw tx::invalid("a value that is not there");
    return found->second;
  }
  bool has(int id) const { return values_.count(id) != 0; }
  row_count rows() const { return rows_; }

  void add(decision const& d) {
    g.current = d.home < 0 ? 0 : body(d.home).number();
    var const made = make(d);
    g.current = 0;
    if (made.valid()) values_[d.id] = made;
  }
  repeated& body(int open) {
    auto const found = bodies_.find(open);
    if (found == bodies_.end()) throw tx::invalid("a body that is not there");
    return *found->second.of;
  }

 private:
  struct open_body {
    std::unique_ptr<repeated> of;
    std::vector<int> carries;      // decisions
    std::map<int, var> next;       // carry -> its next value
    std::vector<var> to_stack;
  };

  shape extents(decision const& d) const { return dims(rows_, d.p[6], {d.p[0], d.p[1], d.p[2], d.p[3], d.p[4], d.p[5]}); }
  var in(decision const& d, int k) const { return d.in[static_cast<std::size_t>(k)] < 0 ? var{} : value(d.in[static_cast<std::size_t>(k)]); }

  var leaf_of_block(int number, int first, dtype type, shape const& s) {
    int& end = ends_[static_cast<std::size_t>(number)];
    end = std::max(end, first + static_cast<int>(s.count()));
    return number == 0 ? weights(g, first, parameters_++, type, s) : block(g, number, first, type, s);
  }

  var make(decision const& d) {
    switch (d.kind) {
      case what::make: {
        maker const& m = makers()[static_cast<std::size_t>(d.line)];
        var const a = in(d, 0), b = in(d, 1), c = in(d, 2);
        return m.make(g, a, b, c, d.p, rows_);
      }
      case what::input:
        return input(g, inputs_++, d.type, extents(d), d.p[7]);
      case what::parameter:
      case what::block: {
        int const number = d.kind == what::parameter ? 0 : d.p[7];
        var const made = leaf_of_block(number, ends_[static_cast<std::size_t>(number)], type_, extents(d));
        return made;
      }
      case what::part: {
        tx::node const& whole = g[in(d, 0).id];
        bool const state = whole.op == &tx::block_info;
        if (!state && whole.op != &tx::parameter_info) throw tx::invalid("a part of no leaf of a block");
        shape const s = extents(d);
        if (d.p[7] + s.count() > whole.info.count()) throw tx::invalid("a part beyond its leaf");
        int const first = static_cast<int>(whole.at.v[state ? 1 : 0]) + d.p[7];
        return leaf_of_block(state ? static_cast<int>(whole.at.v[0]) : 0, first, type_, s);
      }
      case what::open: {
        open_body& b = bodies_[d.id];
        b.of = std::make_unique<repeated>(g, d.p[0], d.p[1] != 0);
        return {};
      }
      case what::carry:
        bodies_.at(d.in[1]).carries.push_back(d.id);
        return body(d.in[1]).carry(in(d, 0));
      case what::same: return body(d.in[1]).same(in(d, 0));
      case what::slices: return body(d.in[1]).slices(in(d, 0));
      case what::next:
        bodies_.at(d.in[1]).next[d.in[2]] = in(d, 0);
        return {};
      case what::stack: {
        open_body& b = bodies_.at(d.in[1]);
        b.to_stack.push_back(in(d, 0));
        places_[d.id] = {d.in[1], static_cast<int>(b.to_stack.size()) - 1, true};
        return {};
      }
      case what::close: {
        open_body& b = bodies_.at(d.in[1]);
        for (std::size_t k = 0; k < b.carries.size(); ++k) {
          if (b.next.count(b.carries[k]) == 0) throw tx::invalid("a carry without a next value");
          b.of->next(b.next[b.carries[k]]);
          places_[b.carries[k]] = {d.in[1], static_cast<int>(k), false};
        }
        for (var const& v : b.to_stack) b.of->stack(v);
        b.of->close();
        return {};
      }
      case what::result: {
        auto const found = places_.find(d.in[0]);
        if (found == places_.end()) throw tx::invalid("a result of no body");
        auto const [open, k, stacked] = found->second;
        open_body& b = bodies_.at(open);
        return b.of->result(stacked ? static_cast<int>(b.carries.size()) + k : k);
      }
      case what::gradient: {
        int const random = g.random_streams;
        std::vector<var>& all = gradients_[d.id];
        vec<var> found{};
        if (d.in[2] < 0) found = gradients_by(in(d, 0), {in(d, 1)});
        else if (d.in[3] < 0) found = gradients_by(in(d, 0), {in(d, 1), in(d, 2)});
        else found = gradients_by(in(d, 0), {in(d, 1), in(d, 2), in(d, 3)});
        if (g.no_gradient.op != nullptr) throw tx::invalid("an op without a gradient");
        g.random_streams = random;
        all.assign(found.begin(), found.end());
        return all[0];
      }
      case what::also: {
        auto const found = gradients_.find(d.in[0]);
        if (found == gradients_.end() || found->second.size() <= static_cast<std::size_t>(d.p[0])) throw tx::invalid("no such gradient");
        return found->second[static_cast<std::size_t>(d.p[0])];
      }
      case what::flat:
        if (d.in[1] < 0) return flat_block(g, {in(d, 0)}, d.p[0], d.p[1]);
        if (d.in[2] < 0) return flat_block(g, {in(d, 0), in(d, 1)}, d.p[0], d.p[1]);
        return flat_block(g, {in(d, 0), in(d, 1), in(d, 2)}, d.p[0], d.p[1]);
      case what::out:
        g.outputs.push_back({in(d, 0).id, tx::output_kind::result, -1});
        return {};
      default: {  // assign
        var const leaf = in(d, 1);
        if (!(leaf.info() == in(d, 0).info())) throw tx::invalid("a leaf of another shape");
        if (g[leaf.id].op != &tx::parameter_info && g[leaf.id].op != &tx::block_info) throw tx::invalid("no leaf");
        g.outputs.push_back({in(d, 0).id, tx::output_kind::assign, leaf.id});
        return {};
      }
    }
  }

  struct place {
    int open, k;
    bool stacked;
  };
  dtype type_;
  row_count rows_;
  int inputs_ = 0, parameters_ = 0;
  std::array<int, 8> ends_{};  // of each block
  std::map<int, var> values_;
  std::map<int, open_body> bodies_;
  std::map<int, place> places_;
  std::map<int, std::vector<var>> gradients_;
};

// All decisions of a program. Throws tx::invalid where one cannot be made.
inline std::unique_ptr<builder> build(program const& p, row_count rows) {
  auto b = std::make_unique<builder>(p, rows);
  for (decision const& d : p.decisions) b->add(d);
  return b;
}

}  // namespace drawn
