// What finite_guard does, for any program: looks at what goes into a run and at what each kernel makes, and explains
// the first number that is not finite.
#pragma once

#include <tx/expr/scalar.hpp>
#include <tx/inspect/finite_finding.hpp>
#include <tx/inspect/nearest_parameter.hpp>
#include <tx/run/observer.hpp>

namespace tx {

struct finite_options {
  bool infinities = false;  // count too; masks may use them
  bool restore = true;  // keep a copy of what a step changes, and bring it back: as many bytes as trained parameters
                        // and states have
};

namespace exec {

// What a guard knows of a model.
struct watched_model {
  std::vector<std::vector<parameter_view>> names;  // of the parameters, and of what each of the optimizer's states keeps of them
  std::vector<std::int64_t> changes;               // bytes of each of these blocks that a step may change, from its front on; a program that trains
  std::vector<std::string> settings{};  // of its own
};

class finite_watch final : public observer {
 public:
  TX_COLD finite_watch(std::vector<program_tables> programs, std::vector<value_info> arguments, watched_model model,
                       finite_options options)
      : programs_(std::move(programs)),
        arguments_(std::move(arguments)),
        model_(std::move(model)),
        options_(options),
        rule_{options.infinities} {}

  TX_COLD void before_run(frame const& f) override {
    ran_.clear();
    check_settings(f);
    for (std::size_t k = 0; k < arguments_.size(); ++k) {
      check_input(arguments_[k].type, f.base[base_input + k], f.extents.count(arguments_[k].dims), [&] { return "argument " + std::to_string(k); });
    }
    for (std::size_t b = 0; b < model_.names.size(); ++b)
      for (parameter_view const& v : model_.names[b])
        check_input(v.info.type, f.base[base_block + b] + v.first_byte(), v.info.count(), [&] {
          return (b == 0 ? "parameter " : "the optimizer's state " + std::to_string(b - 1) + " of ") + v.name;
        });
    if (!options_.restore) return;
    kept_.clear();
    for_what_changes([&](std::size_t b, std::int64_t first, std::int64_t bytes) {
      std::byte const* const from = f.base[base_block + b] + first;
      kept_.insert(kept_.end(), from, from + bytes);
    });
  }

  // Results over operands are undone for the explanation.
  TX_COLD void before_kernel(frame const& f, call const& c) override {
    auto const program = std::ranges::find_if(programs_, [&](program_tables const& p) { return p.holds(c); });
    ran_.push_back({&*program, &c, f});
    called_kernel const k(*program, c, f.extents);
    overwritten_.clear();
    undo_.clear();
    if (!k.by_rows()) return;
    for (int o = 0; o < k.sig.outs; ++o) {
      byte_range const to = result_range(f, k, o);
      bool over = false;
      for (int v = 0; v < k.inputs(); ++v) over = over || (k.reads(v) && operand_range(f, k, v).overlaps(to));
      if (!over) continue;
      overwritten_.push_back(to);
      undo_.insert(undo_.end(), to.first, to.end);
    }
  }

  TX_COLD void after_kernel(frame const& f, call const& c) override {
    called_kernel const k(*ran_.back().program, c, f.extents);
    if (k.by_rows()) {
      for (int o = 0; o < k.sig.outs; ++o) look_at(f, k, o);
    } else if (k.sees_whole() && !k.sig.op.begins) {
      for (int o = 0; o < k.sig.outs; ++o) {
        operand_ref const& r = k.written_by(o);
        std::int64_t const count = f.dims(r).count();
        std::int64_t const at = first_not_finite(r.type, f.at<std::byte>(r), count, rule_.infinities);
        if (at < count) fail_whole(f, k, o, at);
      }
    }
  }

 private:
  // Rates and decays are the executor's to refuse.
  TX_COLD void check_settings(frame const& f) const {
    for (std::size_t k = 0; k < model_.settings.size(); ++k) {
      double const x = element_at(dtype::f32, f.base[base_scalars], static_cast<int>(scalar::named) + static_cast<int>(k));
      if (is_nan(x))
        throw not_finite_error(text_of(x) + " in the settings: " + model_.settings[k] + ". FIX: a number; nothing has run", {text_of(x)});
    }
  }
  template <class Name>
  TX_COLD void check_input(dtype type, std::byte const* p, std::int64_t count, Name const& name) const {
    std::int64_t const at = first_not_finite(type, p, count, rule_.infinities);
    if (at == count) return;
    std::string const value = text_of(element_at(type, p, at));
    throw not_finite_error(value + " in " + name() + ", element " + std::to_string(at) +
                               ", before the run. FIX: look at where it comes from; nothing has run",
                           {value});
  }

  // One result of a kernel that does rows, in runs of rows that lie side by side; of a sum over rows there is one row.
  void look_at(frame const& f, called_kernel const& k, int o) {
    if (!is_float(k.out(o).type)) return;
    operand_ref const& r = k.written_by(o);
    bool const sum = k.out(o).shape == form::col_reduce;
    std::int64_t const width = k.width(o), end = sum ? 1 : f.end_row(k.c);
    std::int64_t together = 1;
    if (r.rank > 0 && r.stride[r.rank - 1] == width) together = r.rank == 1 ? end : r.extent[r.rank - 1];
    for (std::int64_t row = sum ? 0 : f.first_row(k.c); row < end;) {
      std::int64_t const next = std::min(end, (row / together + 1) * together), count = (next - row) * width;
      std::byte const* const p = f.at<std::byte>(r) + row_offset(r, row) * size_of(r.type);
      std::int64_t const at = first_not_finite(r.type, p, count, rule_.infinities);
      if (at < count) fail(f, k, o, row + at / width, at % width, element_at(r.type, p, at));
      row = next;
    }
  }

  [[noreturn]] TX_COLD void fail(frame const& f, called_kernel const& k, int o, std::int64_t row, std::int64_t col,
                                 double x) {
    std::byte const* from = undo_.data();
    for (byte_range const& r : overwritten_) {
      std::copy_n(from, r.end - r.first, r.first);
      from += r.end - r.first;
    }
    bad_origin const origin = origin_finder(k, f, rule_).find(o, row, col);
    explain(f, k, x, origin, "row " + std::to_string(origin.row) + ", column " + std::to_string(origin.col));
  }
  [[noreturn]] TX_COLD void fail_whole(frame const& f, called_kernel const& k, int o, std::int64_t at) {
    bad_origin origin{k.sig.op.name, -1, 0, 0, {}};
    for (int i = 0; i < k.inputs(); ++i) {
      if (!k.reads(i)) continue;
      operand_ref const& r = k.operand(i);
      operand_values all{};
      for (std::int64_t e = 0; e < f.dims(r).count(); ++e) all.add(element_at(r.type, f.at<std::byte>(r), e));
      origin.operands.push_back(all);
    }
    explain(f, k, element_at(k.written_by(o).type, f.at<std::byte>(k.written_by(o)), at), origin,
            "element " + std::to_string(at));
  }

  [[noreturn]] TX_COLD void explain(frame const& f, called_kernel const& k, double value, bad_origin const& origin,
                                    std::string const& place) {
    program_tables const& p = *ran_.back().program;
    finite_finding found{text_of(value), origin.op};
    found.layer = layer_of(parameter_search(ran_, f, model_.names).near(origin.value, origin.row, origin.col));
    int const op = op_of(k, origin.value);
    if (source_site const* const at = line_of(p, k.planned, op); at != nullptr) {
      std::string_view const path = at->file;
      found.file = path.substr(path.rfind('/') + 1);  // all of it where there is none
      found.line = at->line;
    }
    found.kernel = name_of(k);
    found.number = static_cast<int>(&k.planned - p.calls.data()) + 1;
    found.kernels = static_cast<int>(p.calls.size());
    found.when = k.c.first_update >= 0 && op >= k.c.first_update ? step_phase::update : k.c.when;
    call_runs const runs = runs_of(p, k.planned);
    if (runs.in_part > 1) {
      found.iteration = static_cast<int>(f.iteration % runs.in_part);
      found.iterations = static_cast<int>(runs.in_part);
    }
    if (runs.parts > 1) found.part = static_cast<int>(f.part);
    std::string const text =
        text_of(found, place, origin.operands) + "; " + restore(f) +
        ". FIX: keep the operands in the op's range, as by an epsilon or a clamp, or lower the learning rate";
    throw not_finite_error(text, std::move(found));
  }

  // What is left of the parameters.
  TX_COLD std::string restore(frame const& f) const {
    if (model_.changes.empty() && !std::ranges::any_of(model_.names[0], &parameter_view::is_state)) return "parameters are as they were";
    if (!options_.restore) return "parameters and states are updated in part: load or draw them again";
    std::byte const* from = kept_.data();
    for_what_changes([&](std::size_t b, std::int64_t first, std::int64_t bytes) {
      std::copy_n(from, bytes, f.base[base_block + b] + first);
      from += bytes;
    });
    return "parameters and states are as before the step";
  }

  // Calls f(block, first byte, bytes) for what a run may change: parameters that are trained with their optimizer's states, and states of the model.
  template <class F>
  void for_what_changes(F const& f) const {
    for (std::size_t b = 0; b < model_.changes.size(); ++b) f(b, 0, model_.changes[b]);
    for (parameter_view const& v : model_.names[0])
      if (v.is_state) f(0, v.first_byte(), v.bytes());
  }

  std::vector<program_tables> programs_;
  std::vector<value_info> arguments_;
  watched_model model_;
  finite_options options_;
  finite_rule rule_;
  std::vector<ran_kernel> ran_;          // the last is the one at hand
  std::vector<byte_range> overwritten_;  // by it, of its operands
  std::vector<std::byte> undo_, kept_;
};

}  // namespace exec
}  // namespace tx
