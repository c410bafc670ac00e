// cp.async: copies from global to shared memory, which run beside their thread and are there once it has waited for
// them.
#include "instructions.hpp"

namespace ptx {

namespace {

// [to], [from], bytes{, bytes that are read}
void begin(warp& w, instruction const& i, lanes m) {
  each(m, [&](int l) {
    int const bytes = static_cast<int>(w.narrow<std::uint32_t>(i.slots[2], l));
    if (i.count > 3 && i.slots[3].width == 0)
      w.of.fail(w, l, "a copy whose source is ignored where a predicate says so, which the runner does not know");
    int const real = i.count > 3 ? static_cast<int>(w.narrow<std::uint32_t>(i.slots[3], l)) : bytes;
    if ((bytes != 4 && bytes != 8 && bytes != 16) || real < 0 || real > bytes)
      w.of.fail(w, l, "a copy of " + std::to_string(real) + " in " + std::to_string(bytes) + " bytes");
    w.of.begin_copy(w, l,
                    {static_cast<std::uint32_t>(address_of(w, i, 0, l, i.offset)),
                     address_of(w, i, 1, l, i.second_offset),
                     bytes,
                     real,
                     {}});
  });
}
void commit(warp& w, instruction const&, lanes m) {
  each(m, [&](int l) { w.of.close_group(w.thread(l)); });
}
void wait_group(warp& w, instruction const& i, lanes m) {
  each(m, [&](int l) { w.of.wait_for_groups(w, l, static_cast<int>(w.narrow<std::uint32_t>(i.slots[0], l))); });
}
void wait_all(warp& w, instruction const&, lanes m) {
  each(m, [&](int l) {
    w.of.close_group(w.thread(l));
    w.of.wait_for_groups(w, l, 0);
  });
}

}  // namespace

found copy_instruction(spelled const& s) {
  if (s.name() != "cp" || !s.has("async") || s.has("bulk") || s.has("mbarrier")) return {};
  if (s.has("commit_group")) return meaning{commit};
  if (s.has("wait_group")) return meaning{wait_group, flow::plain, 0, true};
  if (s.has("wait_all")) return meaning{wait_all, flow::plain, 0, true};
  for (auto part : s.parts)
    if (part == "L2::cache_hint") return {};
  return s.has("ca") || s.has("cg") ? found(meaning{begin}) : found();
}

}  // namespace ptx
