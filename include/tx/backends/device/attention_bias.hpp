// The gradient of a bias that was added to scores: the slopes of all texts, heads, queries and keys that an element was broadcast to, added up in order. A block has a
// tile of 64 x 64 elements, or 64, or one, where queries or keys share them, and computes slopes again, as no score is in memory.
#pragma once

#include <tx/backends/device/attention_slopes.hpp>

namespace tx::backends::device {

template <dtype D, int Width>
struct attention_bias_task {
  using tile = attention_tile<D, Width>;
  using arguments = attention_gradient_arguments;
  static constexpr int threads = attention_threads, blocks_beside = Width <= 64 ? 3 : 2;
  static constexpr std::int64_t tiles_bytes = 4 * tile::bytes;  // queries and their d_out; keys and values
  static constexpr int apart = attention_lines + 1;             // of rows of sums
  static constexpr std::int64_t sums_bytes = apart * attention_lines * 4;
  static constexpr std::int64_t shared_bytes = tiles_bytes > sums_bytes ? tiles_bytes : sums_bytes;

  static std::int64_t blocks(attention_problem const& p) {
    auto const own = [&](int axis, std::int64_t n) { return p.bias_steps[axis] == 0 ? 1 : n; };
    return own(0, p.texts) * own(1, p.f.heads) * own(2, attention_tiles(p.queries)) * own(3, attention_tiles(p.keys));
  }

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    attention_problem const& p = a.p;
    range const keys = of_block(b, 3, p, attention_tiles(p.keys)), queries = of_block(b, 2, p, attention_tiles(p.queries)), heads = of_block(b, 1, p, p.f.heads), texts = of_block(b, 0, p, static_cast<int>(p.texts));
    typename tile::line_sums sums = {};
    for (int t = texts.first; t < texts.end; ++t)
      for (int h = heads.first; h < heads.end; ++h)
        for (int i = queries.first; i < queries.end; ++i)
          for (int j = keys.first; j < keys.end; ++j) add_tile(b, a, t, h, i * attention_lines, j * attention_lines, sums);
    float const weight = kept_probabilities(p).weight();
    tile::each([&](int c, int e) { sums[c][e] *= weight; });
    store(b, a, sums, texts.first * p.bias_steps[0] + heads.first * p.bias_steps[1], queries.first * attention_lines, keys.first * attention_lines);
  }

 private:
  struct range {
    int first, end;
  };
  // Along an axis, of so many: the one that is the block's, or all where the bias has one for all of them. Axes from the last on are the block's number.
  template <class Block>
  static TX_DEVICE range of_block(Block& b, int axis, attention_problem const& p, int count) {
    if (p.bias_steps[axis] == 0) return {0, count};
    int number = b.block();
    if (axis < 3 && p.bias_steps[3] != 0) number /= attention_tiles(p.keys);
    if (axis < 2 && p.bias_steps[2] != 0) number /= attention_tiles(p.queries);
    if (axis < 1 && p.bias_steps[1] != 0) number /= p.f.heads;
    return {number % count, number % count + 1};
  }

  template <class Block>
  static TX_DEVICE void add_tile(Block& b, arguments const& a, std::int64_t t, int h, int first, int j, typename tile::line_sums& sums) {
    attention_problem const& p = a.p;
    auto const queries = p.queries_of(t), keys = p.keys_of(t);
    if (first >= queries.length || j >= keys.length) return;
    if (auto const seen = p.keys_seen(first, queries.length, keys.length); j < seen.first || j >= seen.end) return;  // slopes of 0
    std::byte* const room = b.shared();
    std::int64_t const width = std::int64_t{p.f.heads} * p.head, key_width = std::int64_t{p.f.key_heads} * p.head;
    std::int64_t const of_queries = 2 * ((queries.first + first) * width + h * p.head), of_keys = 2 * ((keys.first + j) * key_width + h / (p.f.heads / p.f.key_heads) * p.head);
    tile::copy(b, room, p.q + of_queries, width, queries.length - first, p.head);
    tile::copy(b, room + tile::bytes, a.d_out + of_queries, width, queries.length - first, p.head);
    tile::copy(b, room + 2 * tile::bytes, p.k + of_keys, key_width, keys.length - j, p.head);
    tile::copy(b, room + 3 * tile::bytes, p.v + of_keys, key_width, keys.length - j, p.head);
    b.end_copies();
    attention_slopes<D, Width, true> slopes{p, t, h, first + b.thread() / warp * 16, queries.length, keys.length};
    slopes.load_numbers(b, a);
    slopes.load_products(a, b.thread() % warp);
    b.template wait_copies<0>();
    b.sync();
    typename tile::line_sums s = {};
    slopes.compute(b, s, room, room + 2 * tile::bytes, j, [&] { return kept_keys(a.kept[kept_words::at(p, t, h, first, j) + b.thread() / warp * kept_words::of_warp + kept_words::own(b.thread() % warp)]); });
    TX_UNROLL
    for (int c = 0; c < attention_lines / 8; ++c)
      for (int e = 0; e < 4; ++e) sums[c][e] += s[c][e];
    b.sync();  // before the next tile's copies
  }

  // at: the first element of the text and head; i, j: of the tile.
  template <class Block>
  static TX_DEVICE void store(Block& b, arguments const& a, typename tile::line_sums const& sums, std::int64_t at, int i, int j) {
    attention_problem const& p = a.p;
    auto* const all = reinterpret_cast<float*>(b.shared());  // [64, 64]
    int const lane = b.thread() % warp, row = b.thread() / warp * 16 + lane / 4, k = b.thread() % attention_lines;
    TX_UNROLL
    for (int c = 0; c < attention_lines / 8; ++c)
      for (int e = 0; e < 4; ++e) all[(row + e / 2 * 8) * apart + column_of(c, lane) + e % 2] = sums[c][e];
    b.sync();
    bool const of_queries = p.bias_steps[2] != 0, of_keys = p.bias_steps[3] != 0;
    if (of_queries && of_keys) {
      for (int line = b.thread() / attention_lines; line < attention_lines; line += attention_threads / attention_lines)
        if (i + line < p.queries && j + k < p.keys) a.d_bias[at + (i + line) * p.bias_steps[2] + (j + k) * p.bias_steps[3]] = all[line * apart + k];
      return;
    }
    float sum = 0;
    if (b.thread() < attention_lines)
      for (int other = 0; other < attention_lines; ++other) sum += of_keys ? all[other * apart + k] : all[k * apart + other];
    if (of_queries || of_keys) {
      int const line = of_keys ? j + k : i + k;
      if (b.thread() < attention_lines && line < (of_keys ? p.keys : p.queries)) a.d_bias[at + line * p.bias_steps[of_keys ? 3 : 2]] = sum;
      return;
    }
    b.sync();
    if (b.thread() < attention_lines) all[k] = sum;
    b.sync();
    if (b.thread() > 0) return;
    float of_all = 0;
    for (int other = 0; other < attention_lines; ++other) of_all += all[other];
    a.d_bias[at] = of_all;
  }
};

}  // namespace tx::backends::device
