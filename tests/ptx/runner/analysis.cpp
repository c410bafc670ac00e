#include "analysis.hpp"

#include "scanner.hpp"

#include <algorithm>

namespace ptx {

std::vector<std::string> name_of(instruction const& i) {
  std::vector<std::string> const words = split(i.text, ' ');
  return split(words.at(words.at(0)[0] == '@' ? 1 : 0), '.');
}

kernel_facts facts_of(kernel const& k) {
  std::vector<bool> in_loop(k.code.size(), false);
  for (std::size_t at = 0; at < k.code.size(); ++at)
    if (int const to = k.code[at].target; k.code[at].kind == flow::branch && to <= static_cast<int>(at))
      std::fill(in_loop.begin() + to, in_loop.begin() + static_cast<std::ptrdiff_t>(at) + 1, true);

  kernel_facts f;
  f.instructions = static_cast<int>(k.code.size());
  f.barriers = k.waits;
  for (std::size_t at = 0; at < k.code.size(); ++at) {
    auto const name = name_of(k.code[at]);
    auto const has = [&](char const* part) { return std::ranges::find(name, part) != name.end(); };
    std::string const& type = name.back();
    if ((name[0] == "div" || name[0] == "rem") && (type[0] == 's' || type[0] == 'u') && in_loop[at])
      ++f.divisions_in_loops;
    if (!has("global") || (name[0] != "ld" && name[0] != "st")) continue;
    int const bytes = bytes_of(scalar_of(type)) * (has("v4") ? 4 : has("v2") ? 2 : 1);
    int& widest = name[0] == "ld" ? f.widest_load : f.widest_store;
    widest = std::max(widest, bytes);
  }
  return f;
}

}  // namespace ptx
