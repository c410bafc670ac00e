#include "simulated.hpp"

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

simulated::simulated() : in(order_asked_for()), gpu(in), streams(in), list_(setting("PTX_LIST")) {
  if (auto const target = setting("PTX_TARGET"); !target.empty()) target_ = std::stoi(target);
  if (auto const without = setting("PTX_WITHOUT"); !without.empty()) {
    std::size_t const colon = without.rfind(':');
    without_in_ = without.substr(0, colon);
    without_ = std::stoi(without.substr(colon + 1));
  }
}

simulated::~simulated() {
  if (list_.empty()) return;
  std::ofstream out(list_);
  for (auto const& [name, f] : ran)
    for (auto const& i : f->code->code)
      if (i.wait >= 0) out << name << ':' << i.wait << '\t' << f->from->code.source_of(i) << '\n';
}

void simulated::start(function const& f, dim3 grid, dim3 threads, std::size_t shared, void** arguments, stream* s) {
  kernel const& k = *f.code;
  std::vector<std::vector<std::byte>> values;  // as they are now
  for (std::size_t p = 0; p < k.parameters.size(); ++p) {
    auto const* const from = static_cast<std::byte const*>(arguments[p]);
    values.emplace_back(from, from + k.parameters[p].bytes);
  }
  int const without = without_ >= 0 && (without_in_ == k.name || without_in_.empty()) ? without_ : -1;
  streams.add(s, [this, &f, grid, threads, shared, values = std::move(values), without] {
    std::vector<void const*> at;
    for (auto const& v : values) at.push_back(v.data());
    ++launches;
    ran[f.code->name] = &f;
    gpu.launch(*f.from, *f.code, grid, threads, static_cast<int>(shared), at.data(), without);
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
