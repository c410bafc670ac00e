#include "simulated.hpp"

#include "analysis.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace ptx {

namespace {

std::string setting(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

order order_asked_for() { return setting("PTX_ORDER") == "backwards" ? order::backwards : order::forwards; }

}  // namespace

simulated& simulated::get() {
  static simulated s;
  return s;
}

simulated::simulated()
    : in(order_asked_for()), gpu(in), streams(in), list_(setting("PTX_LIST")), table_(setting("PTX_TABLE")) {
  if (auto const target = setting("PTX_TARGET"); !target.empty()) target_ = std::stoi(target);
  if (auto const without = setting("PTX_WITHOUT"); !without.empty()) {
    std::size_t const colon = without.rfind(':');
    without_in_ = without.substr(0, colon);
    without_ = std::stoi(without.substr(colon + 1));
  }
}

simulated::~simulated() {
  if (!table_.empty()) write_table();
  if (list_.empty()) return;
  std::ofstream out(list_);
  for (auto const& [name, u] : ran)
    for (auto const& i : u.what->code->code)
      if (i.wait >= 0) out << name << ':' << i.wait << '\t' << u.what->from->code.source_of(i) << '\n';
}

void simulated::write_table() const {
  std::ofstream(table_ + ".ptx") << text;
  std::ofstream out(table_);
  for (auto const& [name, u] : ran) {
    kernel_facts const f = facts_of(*u.what->code);
    out << "{\"kernel\": \"" << name << "\", \"launches\": " << u.launches << ", \"blocks\": " << u.blocks
        << ", \"threads\": " << u.most_threads
        << ", \"shared_bytes\": " << static_cast<std::size_t>(u.what->code->shared_bytes) + u.most_shared
        << ", \"instructions\": " << f.instructions << ", \"widest_load\": " << f.widest_load
        << ", \"widest_store\": " << f.widest_store << ", \"divisions_in_loops\": " << f.divisions_in_loops
        << ", \"barriers\": " << f.barriers << ", \"warp_instructions\": " << u.paced->used.instructions
        << ", \"cycles\": " << u.paced->used.cycles << ", \"lines\": " << u.paced->used.lines << "}\n";
  }
}

void simulated::start(function const& f, dim3 grid, dim3 threads, std::size_t shared, void** arguments, stream* s) {
  kernel const& k = *f.code;
  std::vector<std::vector<std::byte>> values;  // as they are now
  for (std::size_t p = 0; p < k.parameters.size(); ++p) {
    auto const* const from = static_cast<std::byte const*>(arguments[p]);
    values.emplace_back(from, from + k.parameters[p].bytes);
  }
  int const without = without_ >= 0 && without_in_ == k.name ? without_ : -1;
  streams.add(s, [this, &f, grid, threads, shared, values = std::move(values), without] {
    std::vector<void const*> at;
    for (auto const& v : values) at.push_back(v.data());
    use_of& u = ran[f.code->name];
    u.what = &f;
    ++u.launches;
    u.blocks += grid.count();
    u.most_threads = std::max(u.most_threads, threads.count());
    u.most_shared = std::max(u.most_shared, shared);
    if (!table_.empty() && !u.paced) u.paced = std::make_unique<pace>(*f.code);
    gpu.launch(*f.from, *f.code, grid, threads, static_cast<int>(shared), at.data(), without, u.paced.get());
    ++launches;
  });
}

bool simulated::is_pinned(void const* p) const {
  auto const* const at = static_cast<std::byte const*>(p);
  auto next = pinned.upper_bound(at);
  return next != pinned.begin() && at < (--next)->first + next->second;
}

void simulated::stop(char const* what) {
  std::fprintf(stderr, "ptx: %s\n", what);
  std::fflush(nullptr);
  std::_Exit(86);
}

}  // namespace ptx
