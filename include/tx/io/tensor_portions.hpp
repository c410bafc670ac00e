// Portions of tensors: some rows of each, as one of several ranks keeps them, in a safetensors file; and the whole tensors again, from the files of all.
//
//   a file's tensor "in.weight" [256, 384], and among its metadata "portion in.weight": "0 256 1024"     rows 256 to 511 of 1,024 along axis 0
//
// A tensor without such a line is whole.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/safetensors.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tx::io {

// Which rows of a tensor.
struct portion_rows {
  int axis = 0;
  std::int64_t first = 0, extent = 0;  // of all portions together
};

namespace detail {

inline constexpr std::string_view portion_key = "portion ";

inline std::string text_of(portion_rows const& rows) { return std::to_string(rows.axis) + ' ' + std::to_string(rows.first) + ' ' + std::to_string(rows.extent); }

// Throws format_error for what text_of would not write, or rows that the tensor cannot be.
TX_COLD inline portion_rows rows_in(std::string const& text, tensor_info const& t) {
  portion_rows rows;
  char const *at = text.data(), *const end = at + text.size();
  auto const number = [&](auto& to, bool last) {
    auto const [behind, code] = std::from_chars(at, end, to);
    bool const right = code == std::errc{} && (last ? behind == end : behind != end && *behind == ' ');
    at = right && !last ? behind + 1 : behind;
    return right;
  };
  bool const read = number(rows.axis, false) && number(rows.first, false) && number(rows.extent, true);
  bool const right = read && rows.axis >= 0 && rows.axis < static_cast<int>(t.shape.size()) && rows.first >= 0 && rows.extent >= 0 && rows.first <= rows.extent &&
                     t.shape[static_cast<std::size_t>(rows.axis)] <= rows.extent - rows.first && text_of(rows) == text;
  if (!right) throw format_error("tensor " + shown(t.name) + ": " + shown(text) + " says no portion of it");
  return rows;
}

// One tensor as it is in several files.
struct joined_tensor {
  struct piece {
    tensor_info const* from;
    std::int64_t first;
  };
  int axis = -1;  // -1: one file has it whole
  tensor_info whole{};
  std::vector<piece> pieces{};

  std::int64_t before() const {  // blocks of rows, one behind the other
    std::int64_t n = 1;
    for (int a = 0; a < axis; ++a) n *= whole.shape[static_cast<std::size_t>(a)];
    return n;
  }
};

TX_COLD inline void add_piece(joined_tensor& to, tensor_info const& t, std::string const* rows_text) {
  auto const fail = [&](std::string const& what) { throw format_error("tensor " + shown(t.name) + ": " + what); };
  bool const first = to.pieces.empty();
  if (rows_text == nullptr) {
    if (!first) fail("it is in several files, of which one has it whole");
    to.whole = t;
    to.pieces.push_back({&t, 0});
    return;
  }
  portion_rows const rows = rows_in(*rows_text, t);
  tensor_info whole{t.name, t.type, t.shape, {}};
  whole.shape[static_cast<std::size_t>(rows.axis)] = rows.extent;
  if (!byte_count(whole.type, whole.shape)) fail("its portions are too many for one tensor");
  if (first) to.axis = rows.axis, to.whole = whole;
  if (to.axis != rows.axis || to.whole.type != whole.type || to.whole.shape != whole.shape) fail("its portions are of unlike tensors");
  to.pieces.push_back({&t, rows.first});
}

// Are all rows there, each once?
TX_COLD inline void check_pieces(joined_tensor& t) {
  if (t.axis < 0) return;
  auto const axis = static_cast<std::size_t>(t.axis);
  std::ranges::stable_sort(t.pieces, {}, [&](joined_tensor::piece const& p) { return std::pair(p.first, p.from->shape[axis]); });  // of no rows first
  std::int64_t next = 0;
  for (auto const& p : t.pieces) {
    if (p.first != next) throw format_error("tensor " + shown(t.whole.name) + ": of its rows those from " + std::to_string(std::min(next, p.first)) + " on are " + (p.first > next ? "missing" : "there twice"));
    next += p.from->shape[axis];
  }
  if (next != t.whole.shape[axis]) throw format_error("tensor " + shown(t.whole.name) + ": of its rows those from " + std::to_string(next) + " on are missing");
}

}  // namespace detail

// The tensors that files of portions make together. Throws format_error where portions do not make whole tensors. `source` stands for the files' name in messages.
TX_COLD inline safetensors joined_portions(std::vector<safetensors> const& files, std::string const& source) {
  std::map<std::string, detail::joined_tensor> all;
  try {
    for (safetensors const& file : files)
      for (tensor_info const& t : file.tensors()) {
        auto const rows = file.metadata().find(std::string(detail::portion_key) + t.name);
        detail::add_piece(all[t.name], t, rows == file.metadata().end() ? nullptr : &rows->second);
      }
    for (auto& [name, t] : all) detail::check_pieces(t);
  } catch (format_error const& e) {
    throw format_error(source + ": " + e.what());
  }
  // Written as a file would be, in memory.
  std::vector<tensor_info> infos;
  std::vector<detail::joined_tensor const*> joined;
  std::size_t bytes = 0;
  for (auto const& [name, t] : all) {
    std::size_t own = 0;
    for (auto const& p : t.pieces) own += p.from->bytes.size();
    infos.push_back({name, t.whole.type, t.whole.shape, {static_cast<std::byte const*>(nullptr), own}});
    joined.push_back(&t);
    bytes += own;
  }
  std::vector<tensor_info const*> order;
  for (auto const& t : infos) order.push_back(&t);
  std::string const header = detail::safetensors_header_text(order, {});
  std::vector<std::byte> file(8 + header.size() + bytes);
  std::uint64_t const length = header.size();
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  std::byte* to = file.data() + 8 + header.size();
  for (auto const* t : joined) {
    std::int64_t const blocks = t->before();
    for (std::int64_t b = 0; b < blocks; ++b)
      for (auto const& p : t->pieces) {
        std::size_t const each = p.from->bytes.size() / static_cast<std::size_t>(blocks);
        if (each == 0) continue;
        std::memcpy(to, p.from->bytes.data() + static_cast<std::size_t>(b) * each, each);
        to += each;
      }
  }
  return safetensors::parse(std::move(file), source);
}

}  // namespace tx::io
