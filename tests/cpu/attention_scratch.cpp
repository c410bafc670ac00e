// The scratch that is planned for a call of attention's gradient is what its kernel uses: sums for as many stripes of keys as the longest text may have.
#include <tx/backends/cpu/target.hpp>

#include <catch2/catch.hpp>

namespace {

namespace cpu = tx::backends::cpu;

std::int64_t planned(tx::attention_facts const& f, int tokens, int key_tokens, int head) {
  tx::exec::call c{};
  c.at = attributes_of(f);
  tx::exec::operand_ref operands[12]{};
  auto const extents = [&](tx::exec::operand_ref& o, int rows, int width) {
    o.rank = 2;
    o.extent[0] = rows;
    o.extent[1] = width;
  };
  extents(operands[4], tokens, f.heads * head);
  extents(operands[5], key_tokens, f.key_heads * head);
  return cpu::whole_scratch(tx::attention_gradient_info, c, operands);
}

}  // namespace

TEST_CASE("scratch of packed attention follows the longest text of keys", "[attention]") {
  constexpr int head = 8, tokens = 70, key_tokens = 3000;
  std::int64_t const of_shares = cpu::shares * cpu::aligned(cpu::attention_backward_scratch_bytes(head, tx::dtype::f32));
  for (int longest : {20, 1200})
    for (int longest_keys : {0, 20, 600, 1200, 2900}) {
      CAPTURE(longest, longest_keys);
      tx::attention_facts f{.heads = 2, .longest = longest, .key_longest = longest_keys};
      std::int64_t most = 0;
      for (int keys = 0; keys <= (longest_keys == 0 ? longest : longest_keys); ++keys) {
        cpu::attention_sizes const s{1, tokens, key_tokens, f.heads, f.key_heads, head};
        if (!cpu::attention_direct(s, keys)) most = std::max<std::int64_t>(most, cpu::attention_stripes(s, keys) * tokens * f.heads * head * 4);
      }
      CHECK(planned(f, tokens, key_tokens, head) == of_shares + most);
    }
}
