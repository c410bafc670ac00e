// ldmatrix and mma.sync: a warp's lanes hold parts of small matrices. Layouts are those of the PTX ISA, "Warp-level
// matrix instructions".
#include "instructions.hpp"

namespace ptx {

namespace {

struct tf32 {
  float of(std::uint32_t x) const { return std::bit_cast<float>(x & 0xffffe000u); }
};

// Element k of a register that holds as many as fit.
template <class T>
float element(std::uint32_t x, int k) {
  if constexpr (std::is_same_v<T, tf32>) {
    return tf32{}.of(x);
  } else {
    T h;
    h.bits = static_cast<std::uint16_t>(x >> (16 * k));
    return h;
  }
}

// D [16, 8] = A [16, depth] x B [depth, 8] + C, sums in f32; each of A's registers covers 8 rows and half of the depth,
// or all of it where it has two registers.
template <class T, int Depth>
void multiply(warp& w, instruction const& i, lanes m) {
  constexpr int each_holds = std::is_same_v<T, tf32> ? 1 : 2;  // elements of a register
  constexpr int columns = 4 * each_holds;                      // of the depth that a register of all lanes covers
  constexpr int a_registers = 2 * Depth / columns, b_registers = Depth / columns;
  if (m != all_lanes)
    w.of.fail(w, std::countr_zero(m), "a product of matrices that not all lanes of the warp take part in");
  auto const reg = [&](int k) { return lanes_of<std::uint32_t>(w, i, k); };
  float a[16][Depth], b[Depth][8], d[16][8];
  for (int l = 0; l < warp_size; ++l) {
    int const row = l / 4, col = l % 4 * each_holds;
    for (int r = 0; r < a_registers; ++r)
      for (int k = 0; k < each_holds; ++k) a[row + r % 2 * 8][r / 2 * columns + col + k] = element<T>(reg(4 + r)[l], k);
    for (int r = 0; r < b_registers; ++r)
      for (int k = 0; k < each_holds; ++k) b[r * columns + col + k][row] = element<T>(reg(4 + a_registers + r)[l], k);
    for (int r = 0; r < 4; ++r)
      d[row + r / 2 * 8][l % 4 * 2 + r % 2] = std::bit_cast<float>(reg(4 + a_registers + b_registers + r)[l]);
  }
  for (int r = 0; r < 16; ++r)
    for (int c = 0; c < 8; ++c)
      for (int k = 0; k < Depth; ++k) d[r][c] = __builtin_fmaf(a[r][k], b[k][c], d[r][c]);
  for (int l = 0; l < warp_size; ++l)
    for (int r = 0; r < 4; ++r) reg(r)[l] = std::bit_cast<std::uint32_t>(d[l / 4 + r / 2 * 8][l % 4 * 2 + r % 2]);
}

// Matrices of 8 x 8 halves: lanes 8k to 8k + 7 say where the rows of matrix k are; each lane gets two neighbours of a
// row, or of a column.
template <int Count, bool Transposed>
void load_matrices(warp& w, instruction const& i, lanes m) {
  if (m != all_lanes)
    w.of.fail(w, std::countr_zero(m), "a load of matrices that not all lanes of the warp take part in");
  std::uint16_t rows[Count][8][8];
  for (int k = 0; k < Count; ++k)
    for (int r = 0; r < 8; ++r) {
      int const lane = 8 * k + r;
      std::memcpy(rows[k][r], w.of.shared(w, lane, address_of(w, i, Count, lane, i.offset), 16, use::read), 16);
    }
  for (int k = 0; k < Count; ++k)
    for (int l = 0; l < warp_size; ++l) {
      int const r = l / 4, c = l % 4 * 2;
      std::uint32_t const low = Transposed ? rows[k][c][r] : rows[k][r][c],
                          high = Transposed ? rows[k][c + 1][r] : rows[k][r][c + 1];
      lanes_of<std::uint32_t>(w, i, k)[l] = low | high << 16;
    }
}

meaning together(action run) { return {run, flow::meeting, 0, false, true}; }

template <bool Transposed>
meaning loads(spelled const& s) {
  return together(s.has("x4")   ? load_matrices<4, Transposed>
                  : s.has("x2") ? load_matrices<2, Transposed>
                                : load_matrices<1, Transposed>);
}

}  // namespace

found matrix_instruction(spelled const& s) {
  if (s.name() == "ldmatrix" && s.has("m8n8") && s.has("b16")) return s.has("trans") ? loads<true>(s) : loads<false>(s);
  // mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
  if (s.name() != "mma" || !s.has("sync") || s.parts.size() != 10 || s.parts[6] != "f32" || s.parts[9] != "f32" ||
      s.parts[4] != "row" || s.parts[5] != "col" || s.parts[7] != s.parts[8])
    return {};
  auto const shape = s.parts[3], type = s.parts[7];
  if (type == "bf16" && shape == "m16n8k16") return together(multiply<brain_half, 16>);
  if (type == "f16" && shape == "m16n8k16") return together(multiply<half, 16>);
  if (type == "bf16" && shape == "m16n8k8") return together(multiply<brain_half, 8>);
  if (type == "f16" && shape == "m16n8k8") return together(multiply<half, 8>);
  if (type == "tf32" && shape == "m16n8k8") return together(multiply<tf32, 8>);
  if (type == "tf32" && shape == "m16n8k4") return together(multiply<tf32, 4>);
  return {};
}

}  // namespace ptx
