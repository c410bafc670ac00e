// The parameter that is the fewest ops away from a value of a run: what its layer is called by. Operands lead through
// the kernels that wrote them, results to what reads them within their kernel (the scale of a norm comes after the
// norm).
#pragma once

#include <tx/expr/parameter_names.hpp>
#include <tx/inspect/tables.hpp>

#include <algorithm>

namespace tx::exec {

// A call as it ran.
struct ran_kernel {
  program_tables const* program = nullptr;
  call const* c = nullptr;
  loop_position when{};

  frame as_in(frame f) const {
    static_cast<loop_position&>(f) = when;
    return f;
  }
};

// The bytes between the first and the last element of some that a call reads or writes by rows. Strides are never
// negative.
struct byte_range {
  std::byte* first = nullptr;
  std::byte* end = nullptr;

  bool overlaps(byte_range const& o) const { return first < o.end && o.first < end; }
  bool holds(std::byte const* p) const { return p >= first && p < end; }
};
inline byte_range range_of(frame const& f, called_kernel const& k, operand_ref const& r, std::int64_t width,
                           bool all_rows = true) {
  bool const band = f.band_count > 0;
  std::int64_t const first = band ? f.first_row(k.c) : 0, end = band ? f.end_row(k.c) : k.c.rows;
  if (end <= first || width <= 0) return {};
  std::byte* const p = f.at<std::byte>(r);
  std::int64_t const size = size_of(r.type);
  if (!all_rows) return {p, p + width * size};
  return {p + row_offset(r, first) * size, p + (row_offset(r, end - 1) + width) * size};
}
inline byte_range result_range(frame const& f, called_kernel const& k, int o) {
  if (k.sees_whole()) {
    operand_ref const& r = k.written_by(o);
    return {f.at<std::byte>(r), f.at<std::byte>(r) + f.dims(r).count() * size_of(r.type)};
  }
  return range_of(f, k, k.written_by(o), k.width(o), k.out(o).shape != form::col_reduce);
}

inline byte_range operand_range(frame const& f, called_kernel const& k, int v) {
  operand_ref const& r = k.read_by(v);
  return range_of(f, k, r, k.in(v).how == access::row ? 1 : (k.c.cols - 1) * r.col + 1);
}

class parameter_search {
 public:
  // names: the tensors of each block, the parameters first; the search begins in the last of the kernels that ran.
  TX_COLD parameter_search(std::vector<ran_kernel> const& ran, frame const& f, std::span<std::vector<parameter_view> const> names)
      : ran_(ran), f_(f), names_(names) {}

  // The nearest ones, several if they are equally near. value -1: of an op that sees whole operands.
  TX_COLD std::vector<std::string> near(int value, std::int64_t row, std::int64_t col) {
    visit(static_cast<int>(ran_.size()) - 1, value, 0);
    for (std::size_t at = 0; at < queue_.size() && at < most; ++at) {
      place const p = queue_[at];
      if (found_distance_ >= 0 && p.distance > found_distance_) break;
      ran_kernel const& e = ran_[static_cast<std::size_t>(p.kernel)];
      called_kernel const k(*e.program, *e.c, f_.extents);
      frame const f = e.as_in(f_);
      bool const here = p.kernel + 1 == static_cast<int>(ran_.size());  // where the element is known
      if (p.value < 0) {
        for (int i = 0; i < k.inputs(); ++i)
          if (k.reads(i)) follow(p, f.at<std::byte>(k.operand(i)), k.operand(i).base);
        continue;
      }
      std::int64_t const r = here ? row : f.first_row(k.c), c = here ? col : 0;
      if (p.value >= k.inputs()) {
        known_let const& l = k.let(p.value);
        for (int o = 0; o < l.operands; ++o) visit(p.kernel, l.operand[o], p.distance + 1);
      } else if (k.in(p.value).how == access::product) {
        for (int side : {0, 1}) follow(p, f.at<std::byte>(k.operand(side)), k.operand(side).base);
      } else if (k.reads(p.value)) {
        operand_ref const& from = k.read_by(p.value);
        std::int64_t const element = row_offset(from, r) + (k.in(p.value).how == access::row ? 0 : c * from.col);
        follow(p, f.at<std::byte>(from) + element * size_of(from.type), from.base);
      }
      for (int v = k.inputs(); v < k.inputs() + k.sig.lets; ++v)
        for (int o = 0; o < k.let(v).operands; ++o)
          if (k.let(v).operand[o] == p.value) visit(p.kernel, v, p.distance + 1);
    }
    return found_;
  }

 private:
  static constexpr std::size_t most = 4096;  // values looked at: one without a parameter nearby has no layer
  struct place {
    int kernel, value, distance;
  };

  TX_COLD void visit(int kernel, int value, int distance) {
    for (place const& p : queue_)
      if (p.kernel == kernel && p.value == value) return;
    queue_.push_back({kernel, value, distance});
  }

  // What lies at an address that a kernel reads.
  TX_COLD void follow(place const& from, std::byte const* p, int base) {
    if (base >= base_block && base < base_block + static_cast<int>(names_.size())) {
      std::int64_t const byte = p - f_.base[base];
      for (parameter_view const& v : names_[static_cast<std::size_t>(base - base_block)])
        if (byte >= v.first_byte() && byte < v.first_byte() + v.bytes() &&
            std::ranges::find(found_, v.name) == found_.end()) {
          found_distance_ = from.distance;
          found_.push_back(v.name);
        }
    }
    for (int e = from.kernel; base == base_arena && e-- > 0;) {
      ran_kernel const& earlier = ran_[static_cast<std::size_t>(e)];
      called_kernel const k(*earlier.program, *earlier.c, f_.extents);
      frame const f = earlier.as_in(f_);
      for (int o = 0; o < k.sig.outs; ++o)
        if (result_range(f, k, o).holds(p)) return visit(e, k.sees_whole() ? -1 : k.out(o).value, from.distance + 1);
    }
  }

  std::vector<ran_kernel> const& ran_;
  frame const& f_;
  std::span<std::vector<parameter_view> const> names_;
  std::vector<place> queue_{};
  std::vector<std::string> found_{};
  int found_distance_ = -1;
};

// What parameters' names have in common, up to a dot: "layer.3.attention" of "layer.3.attention.query.weight" and
// "layer.3.attention.key.bias". Of one alone, the module that it is a member of; its own name if that is the model.
TX_COLD inline std::string layer_of(std::vector<std::string> const& parameters) {
  if (parameters.empty()) return {};
  std::string layer = parameters.front();
  auto const within = [&](std::string const& name) { return name.starts_with(layer + '.'); };
  do {
    std::size_t const dot = layer.rfind('.');
    if (dot == std::string::npos) return parameters.front();
    layer.resize(dot);
  } while (!std::ranges::all_of(parameters, within));
  return layer;
}

}  // namespace tx::exec
