// Watches what the calls of a program read and write: nothing outside its memory, nothing that was not written before, and of what
// a call writes over its operands no element that another one of its elements reads.
#pragma once

#include <tx/inspect/kernel_values.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace drawn {

class memory_guard {
 public:
  // Bytes of each base; scratch: of each call, at its place in the arena.
  memory_guard(std::vector<std::int64_t> sizes, std::vector<std::int64_t> scratch, tx::vec<tx::exec::call> const& calls)
      : sizes_(std::move(sizes)), scratch_(std::move(scratch)), calls_(calls), written_(static_cast<std::size_t>(sizes_[0]), 0), writer_(sizes_.size()), stamp_(sizes_.size()) {
    for (std::size_t b = 0; b < sizes_.size(); ++b) {
      writer_[b].assign(static_cast<std::size_t>(sizes_[b]), -1);
      stamp_[b].assign(static_cast<std::size_t>(sizes_[b]), 0);
    }
  }

  void before(tx::exec::frame const& f, tx::exec::called_kernel const& k, tx::exec::call const& original) {
    ++now_;
    name_ = tx::exec::name_of(k);
    use_scratch(f, original);
    if (k.sig.kind == tx::exec::kernel_kind::zero) {
      tx::exec::operand_ref const& r = k.operand(0);
      write(place(f, r), k.c.cols, 0, -1);
    } else if (k.by_rows()) {
      rows(f, k);
    } else {
      whole(f, k);
    }
    for (auto const& [base, at] : fresh_)
      if (base == 0) written_[static_cast<std::size_t>(at)] = 1;
    fresh_.clear();
  }
  // What is handed out was written.
  void check_result(std::int64_t offset, std::int64_t bytes) {
    ++now_;
    name_ = "a result";
    read({0, offset}, bytes, -1, -1, false);
  }

 private:
  struct address {
    int base;
    std::int64_t at;
  };
  [[noreturn]] void fail(std::string const& what) const { throw std::runtime_error(name_ + ": " + what); }

  address place(tx::exec::frame const& f, tx::exec::operand_ref const& r, std::int64_t elements = 0) const {
    return {r.base, f.offset_of(r) + elements * tx::size_of(r.type)};
  }
  void check_inside(address const& a, std::int64_t bytes, char const* what) const {
    if (a.base < 0 || static_cast<std::size_t>(a.base) >= sizes_.size() || a.at < 0 || a.at + bytes > sizes_[static_cast<std::size_t>(a.base)])
      fail(std::string(what) + " outside of memory " + std::to_string(a.base) + ", at " + std::to_string(a.at));
  }
  // A value per row is that of column `by_row`.
  static constexpr std::int64_t by_row = (1 << 20) - 1;

  // By element (row, column) of the call; column -1: by all.
  void write(address const& a, std::int64_t bytes, std::int64_t row, std::int64_t col) {
    check_inside(a, bytes, "writes");
    if (a.base == 1 || a.base >= tx::exec::base_input) fail("writes over an argument");
    std::int64_t const element = col < 0 ? -2 : row << 20 | col;
    for (std::int64_t i = a.at; i < a.at + bytes; ++i) {
      auto const b = static_cast<std::size_t>(a.base), k = static_cast<std::size_t>(i);
      if (stamp_[b][k] == now_) fail("writes one place twice");
      stamp_[b][k] = now_;
      writer_[b][k] = element;
      fresh_.push_back(a.base == 0 ? address{0, i} : a);
    }
  }
  void read(address const& a, std::int64_t bytes, std::int64_t row, std::int64_t col, bool again) {
    check_inside(a, bytes, "reads");
    for (std::int64_t i = a.at; i < a.at + bytes; ++i) {
      auto const b = static_cast<std::size_t>(a.base), k = static_cast<std::size_t>(i);
      if (a.base == 0 && written_[k] == 0) fail("reads what was never written, at " + std::to_string(i));
      if (stamp_[b][k] != now_) continue;
      if (again) fail("overwrites what it reads in another sweep");
      if (col < 0 || writer_[b][k] != (row << 20 | col)) fail("overwrites what another of its elements reads");
    }
  }

  // Scratch may hold anything, before and after.
  void use_scratch(tx::exec::frame const& f, tx::exec::call const& c) {
    std::int64_t const bytes = scratch_[static_cast<std::size_t>(&c - calls_.data())];
    if (bytes == 0) return;
    if (c.scratch < 0 || c.scratch + bytes > sizes_[0]) fail("has scratch outside of the arena");
    for (std::int64_t i = c.scratch; i < c.scratch + bytes; ++i) {
      f.base[0][i] = std::byte{0xff};
      written_[static_cast<std::size_t>(i)] = 0;
    }
  }

  void rows(tx::exec::frame const& f, tx::exec::called_kernel const& k) {
    using namespace tx::exec;
    std::int64_t const first = f.first_row(k.c), end = f.end_row(k.c);
    std::vector<char> const again = read_in_passes(k);
    for (int o = 0; o < static_cast<int>(k.outs.size()); ++o) {
      operand_ref const& r = k.written_by(o);
      std::int64_t const size = tx::size_of(r.type);
      bool const column = k.outs[static_cast<std::size_t>(o)].shape == form::col_reduce;
      for (std::int64_t row = first; row < end; ++row) {
        if (column && row != first) break;
        std::int64_t const from = column ? 0 : row_offset(r, row);
        for (std::int64_t c = 0; c < k.width(o); ++c) write(place(f, r, from + c), size, row, column ? -1 : k.out(o).per_row && k.c.cols != 1 ? by_row : c);
      }
      if (column && first == end)  // a sum of nothing is written too
        for (std::int64_t c = 0; c < k.width(o); ++c) write(place(f, r, c), size, 0, -1);
    }
    for (std::int64_t row = first; row < end; ++row) {
      for (int v = 0; v < k.inputs(); ++v) {
        if (!k.reads(v)) continue;
        operand_ref const& r = k.read_by(v);
        bool const one = k.in(v).how == access::row;
        for (std::int64_t c = 0; c < (one ? 1 : k.c.cols); ++c)
          read(place(f, r, row_offset(r, row) + (one ? 0 : c * r.col)), tx::size_of(r.type), row, one && k.c.cols != 1 ? by_row : c, !one && again[static_cast<std::size_t>(v)] != 0);
      }
      if (k.has_product()) sides(f, k, row);
    }
  }
  // Inputs that a kernel may read in more than one sweep over the columns: what a row reduction is made of, and what values of
  // several sweeps are.
  static std::vector<char> read_in_passes(tx::exec::called_kernel const& k) {
    using namespace tx::exec;
    std::vector<int> sweep(static_cast<std::size_t>(k.inputs()), 0);
    std::vector<char> again(static_cast<std::size_t>(k.inputs()), 0);
    for (int v = k.inputs(); v < k.inputs() + static_cast<int>(k.lets.size()); ++v) {
      known_let const& l = k.let(v);
      int latest = 0;
      for (int o = 0; o < l.operands; ++o) latest = std::max(latest, sweep[static_cast<std::size_t>(l.operand[o])]);
      sweep.push_back(latest + (l.shape == form::row_reduce ? 1 : 0));
    }
    for (int input = 0; input < k.inputs(); ++input) {
      std::vector<char> follows(sweep.size(), 0);
      follows[static_cast<std::size_t>(input)] = 1;
      int seen = -1;
      for (int v = k.inputs(); v < static_cast<int>(sweep.size()); ++v) {
        known_let const& l = k.let(v);
        bool reads = false;
        for (int o = 0; o < l.operands; ++o) reads = reads || follows[static_cast<std::size_t>(l.operand[o])] != 0;
        if (!reads) continue;
        char& twice = again[static_cast<std::size_t>(input)];
        if (l.shape == form::row_reduce) twice = 1;
        if (l.shape != form::map) continue;
        follows[static_cast<std::size_t>(v)] = 1;
        if (seen >= 0 && seen != sweep[static_cast<std::size_t>(v)]) twice = 1;
        seen = sweep[static_cast<std::size_t>(v)];
      }
    }
    return again;
  }
  void sides(tx::exec::frame const& f, tx::exec::called_kernel const& k, std::int64_t row) {
    using namespace tx::exec;
    std::int64_t const depth = k.c.depth, in_matrix = f.matrix_rows(k.c);
    operand_ref const& a = k.operand(0);
    operand_ref const& b = k.operand(1);
    for (std::int64_t d = 0; d < depth; ++d)
      read(place(f, a, row_offset(a, row / in_matrix) + row % in_matrix * a.row + d * a.col), tx::size_of(a.type), -1, -1, true);
    if (row % in_matrix != 0) return;
    for (std::int64_t d = 0; d < depth; ++d)
      for (std::int64_t c = 0; c < k.c.cols; ++c)
        read(place(f, b, row_offset(b, row / in_matrix) + d * b.row + c * b.col), tx::size_of(b.type), -1, -1, true);
  }

  void whole(tx::exec::frame const& f, tx::exec::called_kernel const& k) {
    auto const bytes_of = [&](tx::exec::operand_ref const& r) { return f.dims(r).count() * tx::size_of(r.type); };
    auto const read_whole = [&](int i) {
      if (tx::exec::operand_ref const& r = k.read_by(i); k.reads(i) && bytes_of(r) > 0) read(place(f, r), bytes_of(r), -1, -1, true);
    };
    bool over_first = k.sig.op.over_first && k.inputs() > 0 && k.reads(0);  // then it is read where it is written, before
    if (over_first) {
      address const at = place(f, k.read_by(0)), result = place(f, k.written_by(0));
      over_first = at.base == result.base && at.at == result.at;
    }
    if (over_first) read_whole(0);
    for (int o = 0; o < static_cast<int>(k.outs.size()); ++o)
      if (tx::exec::operand_ref const& r = k.written_by(o); bytes_of(r) > 0) write(place(f, r), bytes_of(r), 0, -1);
    bool const awaited = over_first && std::string_view(k.sig.op.name) == "awaited";
    for (int i = over_first ? 1 : 0; i < k.inputs(); ++i) {
      address const at = place(f, k.read_by(i)), result = place(f, k.written_by(0));
      if (awaited && at.base == result.base && at.at == result.at) continue;  // what was begun with has its result over it
      read_whole(i);
    }
  }

  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> scratch_;
  tx::vec<tx::exec::call> const& calls_;
  std::vector<char> written_;                        // of the arena
  std::vector<std::vector<std::int64_t>> writer_;    // of each byte: the element that wrote it
  std::vector<std::vector<int>> stamp_;              // in which call
  std::vector<address> fresh_;
  std::string name_;
  int now_ = 0;
};

}  // namespace drawn
