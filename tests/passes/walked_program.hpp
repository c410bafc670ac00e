// Runs a program that was lowered at run time, call by call in doubles: no kernel is compiled for it, so that thousands
// of programs can be tried. Of kernels on whole operands it knows what the graph's evaluator has been taught.
#pragma once

#include "../interpreter/evaluator.hpp"

#include <tx/inspect/kernel_values.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

class walked_program {
 public:
  // The program must stay where it is.
  explicit walked_program(tx::exec::lowered const& l) : l_(l), tables_(l), p_(tables_.get()) {}

  // Told of each call before it runs.
  using watcher = std::function<void(tx::exec::frame const&, tx::exec::called_kernel const&)>;
  void watch(watcher w) { watch_ = std::move(w); }

  void run(tx::exec::frame& f) const { region(f, p_.loops[0]); }

 private:
  void region(tx::exec::frame& f, tx::exec::loop const& l) const {
    for (int k = 0; k < l.count; ++k) {
      tx::exec::instruction const& s = p_.instructions[static_cast<std::size_t>(l.first + k)];
      for (int last = s.together; last > 1; --last)  // what starts together may run in any order, as in this one
        call(f, p_.calls[static_cast<std::size_t>(p_.instructions[static_cast<std::size_t>(l.first + k + last - 1)].index)]);
      if (s.together == 0) continue;
      if (s.kind == tx::exec::instruction_kind::call)
        call(f, p_.calls[static_cast<std::size_t>(s.index)]);
      else
        inner(f, p_.loops[static_cast<std::size_t>(s.index)]);
    }
  }
  void inner(tx::exec::frame& f, tx::exec::loop const& l) const {
    tx::exec::for_each_iteration(f, l, [&] { region(f, l); });
  }

  void call(tx::exec::frame const& f, tx::exec::call const& c) const {
    tx::exec::called_kernel const k(p_, c, f.extents);
    if (watch_) watch_(f, k);
    if (k.sig.kind == tx::exec::kernel_kind::zero)
      std::memset(f.at<std::byte>(k.operand(0)), 0, static_cast<std::size_t>(c.cols));
    else if (k.by_rows())
      rows(f, k);
    else
      whole(f, k);
  }

  void whole(tx::exec::frame const& f, tx::exec::called_kernel const& k) const {
    auto const rule = whole_rules().find(l_.kernels[k.c.kernel].op);
    if (rule == whole_rules().end()) throw std::logic_error(std::string("walked_program: no rule for ") + k.sig.op.name);
    std::vector<std::vector<double>> held(static_cast<std::size_t>(k.operands()));
    std::vector<tx::whole_operand<double const>> in;
    whole_results to;
    for (int i = 0; i < static_cast<int>(held.size()); ++i) {
      tx::exec::operand_ref const& r = k.operand(i);
      auto& of = held[static_cast<std::size_t>(i)];
      if (i < k.inputs() && k.in(i).how == tx::exec::access::random) {
        draw(f, r, of);
        in.push_back({of.data(), f.dims(r)});
        continue;
      }
      of.resize(static_cast<std::size_t>(f.dims(r).count()));
      if (i >= k.inputs()) {
        to.push_back({of.data(), f.dims(r)});
        continue;
      }
      for (std::size_t e = 0; e < of.size(); ++e)
        of[e] = tx::element_at(r.type, f.at<std::byte>(r), static_cast<std::int64_t>(e));
      in.push_back({of.data(), f.dims(r)});
    }
    tx::node n{};
    n.op = rule->first;
    n.at = k.c.at;
    n.inputs = static_cast<int>(in.size());
    if (n.op->awaits) arrive(f, k, held[0]), in[0].data = held[0].data();
    rule->second(n, to, in);
    if (n.op->begins) {
      tx::exec::operand_ref const &from = k.operand(0), &result = k.written_by(0);
      on_the_way_[n.at.v[tx::max_rank - 2]] = {held[1], held[0], f.at<std::byte>(from), f.at<std::byte>(result)};
      for (double& x : held[1]) x = std::numeric_limits<double>::quiet_NaN();
    }
    for (int o = 0; o < k.sig.outs; ++o) {
      tx::exec::operand_ref const& r = k.written_by(o);
      put(r.type, f.at<std::byte>(r), held[static_cast<std::size_t>(k.inputs() + o)]);
    }
  }
  // What was begun arrives where it belongs when it is awaited, and not before: until then nobody has written there, nor over what it was begun with.
  void arrive(tx::exec::frame const& f, tx::exec::called_kernel const& k, std::vector<double>& result) const {
    auto const found = on_the_way_.find(k.c.at.v[tx::max_rank - 2]);
    if (found == on_the_way_.end()) throw std::runtime_error("walked_program: what is awaited was not begun");
    sent const& s = found->second;
    if (s.to != f.at<std::byte>(k.operand(0)) || s.from != f.at<std::byte>(k.operand(1))) throw std::runtime_error("walked_program: what is awaited is not what was begun");
    for (double const x : result)
      if (!std::isnan(x)) throw std::runtime_error("walked_program: the place of a result that is on its way was written to");
    tx::dtype const type = k.operand(0).type, of = k.operand(1).type;
    for (std::size_t e = 0; s.from != s.to && e < s.sends.size(); ++e) {
      double const now = tx::element_at(of, s.from, static_cast<std::int64_t>(e));
      if (!(now == s.sends[e] || (std::isnan(now) && std::isnan(s.sends[e])))) throw std::runtime_error("walked_program: what was begun with was written over before it was awaited");
    }
    put(type, s.to, s.result);
    result = s.result;
    on_the_way_.erase(found);
  }
  // Random numbers that a kernel draws where it needs them.
  static void draw(tx::exec::frame const& f, tx::exec::operand_ref const& r, std::vector<double>& to) {
    tx::shape const dims = f.dims(r);
    for (std::int64_t e = 0; e < dims.count(); ++e)
      to.push_back(static_cast<double>(tx::uniform(f.key, f.stream(r), f.random_row(r, e / dims.last()), static_cast<std::uint32_t>(e % dims.last()))));
  }

  // Sums over rows are known before anything is written, the results of a row before any of it is: a result may lie over
  // an operand.
  static void rows(tx::exec::frame const& f, tx::exec::called_kernel const& k) {
    tx::exec::kernel_values v(k, f);
    auto const outs = k.outs.size();
    auto const sums_rows = [&](std::size_t o) { return k.outs[o].shape == tx::exec::form::col_reduce; };
    std::vector<std::vector<double>> found(outs);
    for (std::size_t o = 0; o < outs; ++o)
      if (sums_rows(o)) found[o].assign(static_cast<std::size_t>(k.width(static_cast<int>(o))), 0);
    for (std::int64_t row = f.first_row(k.c); row < f.end_row(k.c); ++row) {
      v.compute(row);
      for (std::size_t o = 0; o < outs; ++o)
        for (std::size_t c = 0; sums_rows(o) && c < found[o].size(); ++c)
          found[o][c] += v.at(k.let(k.outs[o].value).operand[0], static_cast<std::int64_t>(c));
    }
    for (std::int64_t row = f.first_row(k.c); row < f.end_row(k.c); ++row) {
      v.compute(row);
      for (std::size_t o = 0; o < outs; ++o)
        if (!sums_rows(o)) {
          found[o].clear();
          for (std::int64_t c = 0; c < k.width(static_cast<int>(o)); ++c)
            found[o].push_back(v.at(k.outs[o].value, c));
        }
      for (std::size_t o = 0; o < outs; ++o)
        if (!sums_rows(o)) store(f, k, static_cast<int>(o), row, found[o]);
    }
    for (std::size_t o = 0; o < outs; ++o)
      if (sums_rows(o)) store(f, k, static_cast<int>(o), -1, found[o]);
  }

  static void store(tx::exec::frame const& f, tx::exec::called_kernel const& k, int o, std::int64_t row,
                    std::vector<double> const& of_row) {
    tx::exec::operand_ref const& r = k.written_by(o);
    std::int64_t const first = row < 0 ? 0 : tx::exec::row_offset(r, row);
    put(r.type, f.at<std::byte>(r) + first * size_of(r.type), of_row);
  }
  static void put(tx::dtype type, std::byte* to, std::vector<double> const& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) tx::put_element(type, to, static_cast<std::int64_t>(i), numbers[i]);
  }

  tx::exec::lowered const& l_;
  tx::exec::lowered_tables tables_;
  tx::exec::program_tables p_;
  watcher watch_;
  struct sent {
    std::vector<double> result, sends;
    std::byte *from, *to;
  };
  mutable std::map<std::int64_t, sent> on_the_way_;  // pair -> what was begun and is not awaited yet
};
