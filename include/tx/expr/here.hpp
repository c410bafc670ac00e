// here(x): ops recorded from this line on, until the scope ends, carry the line, so that a guard can name it
// (inspect/finite_guard.hpp):
//
//   constexpr auto operator()(auto const& x) const {
//     auto const line = tx::here(x);  // x: any tensor of what is being recorded
//     return tx::log(dense(x));
//   }
//
// Modules that mark lines of their own keep those; gradients carry the line of what they are the gradient of. A line
// costs nothing at run time, and models without one nothing while compiling.
#pragma once

#include <tx/expr/var.hpp>

#include <string_view>

namespace tx {

class [[nodiscard]] marked_line {
 public:
  constexpr marked_line(graph* g, source_site const& at) : g_(g) {
    if (g_ == nullptr) return;  // a view of numbers
    outer_ = g_->site;
    int known = 0;
    while (known < g_->sites.size() && !same(g_->sites[known], at)) ++known;
    if (known == g_->sites.size()) g_->sites.push_back(at);
    g_->site = static_cast<std::uint16_t>(known + 1);
  }
  marked_line(marked_line const&) = delete;
  marked_line& operator=(marked_line const&) = delete;
  constexpr ~marked_line() {
    if (g_ != nullptr) g_->site = outer_;
  }

 private:
  static constexpr bool same(source_site const& a, source_site const& b) {
    return a.line == b.line && std::string_view(a.file) == b.file;
  }

  graph* g_;
  std::uint16_t outer_ = 0;
};

template <class X>
constexpr marked_line here(X const& x, char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return {x.g, source_site{file, line}};
}

}  // namespace tx
