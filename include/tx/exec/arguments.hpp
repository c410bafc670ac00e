// What a run is given: ranges as they are; views as ranges, where they lie if they are dense, else as copies.
#pragma once

#include <tx/exec/view.hpp>

#include <array>
#include <vector>

namespace tx::exec {

// Copies of arguments that are views of other strides than row-major: memory that is taken when the first one comes,
// and kept.
template <int Arguments>
class view_copies {
 public:
  // Argument K of type Wanted as a range. Throws shape_error for other extents.
  template <int K, class Wanted, strided_view V>
  std::span<std::remove_const_t<view_element<V>> const> range(V const& v) {
    using T = std::remove_const_t<view_element<V>>;
    static_assert(
        std::is_same_v<T, typename Wanted::element_type>,
        "tx::executor: a view has another element type than the step's argument. FIX: pass a view of that type");
    view_extents const extents = tx::detail::extents_of(v, tx::detail::extents_of(Wanted::dims),
                                                        {"executor: argument", K}, Wanted::dims.tag.id != 0);
    auto const count = static_cast<std::size_t>(extents.count());
    if (extents.dense()) return {v.data_handle(), count};
    auto& copy = copies_[K];
    copy.resize(static_cast<std::size_t>(Wanted::info.bytes()));
    view_extents packed = extents;
    packed.pack();
    auto* const to = reinterpret_cast<T*>(copy.data());
    tx::detail::copy_axes<T>(extents, v.data_handle(), packed, to);
    return {to, count};
  }

 private:
  std::array<std::vector<std::byte>, Arguments> copies_{};
};

}  // namespace tx::exec
