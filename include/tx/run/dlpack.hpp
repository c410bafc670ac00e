// Tensors of other libraries as arguments and parameter values, and parameters and results for them, by DLPack. Nothing
// is copied but by copy_elements() and copy_of().
//
//   run(tx::dlpack::borrow<float const>(*theirs), labels);              // their tensor as an argument
//   tx::copy_elements(tx::dlpack::borrow<float const>(*theirs),         // ... as the values of a parameter
//                     tx::view_of(weight));
//   auto mine = tx::dlpack::lend(tx::view_of(weight), run.owner());     // a parameter for them, where it lies
//   auto logits = tx::dlpack::copy_of(tx::view_of(run(x).value));       // a result, which the next run overwrites
//   hand_over(mine.release());                                          // who takes it calls its deleter
//   auto const taken = tx::dlpack::take(theirs);                        // its deleter is called when `taken` ends
//
// Functions take and give tx's structs or, named as a template argument, those of the library's own header.
// Errors: shape_error for another element type or more axes than max_rank; value_error for memory that the host does
// not reach or the element type does not allow, for a tensor to be written that is read-only, and for another major
// version.
#pragma once

#include <tx/core/dlpack.hpp>
#include <tx/run/view.hpp>

#include <memory>
#include <new>

namespace tx::dlpack {

namespace detail {

TX_COLD inline std::string name_of(data_type t) {
  for (dtype d : {dtype::f64, dtype::f32, dtype::bf16, dtype::f16, dtype::i64, dtype::i32, dtype::i16, dtype::i8,
                  dtype::u8, dtype::boolean, dtype::e4m3})
    if (t == data_type_of(d)) return tx::name_of(d);
  return "of code " + std::to_string(t.code) + ", " + std::to_string(t.bits) + " bits and " + std::to_string(t.lanes) +
         " lanes";
}
TX_COLD inline std::string text_of(device d) {
  return "device type " + std::to_string(static_cast<int>(d.device_type)) + ", number " + std::to_string(d.device_id);
}

// Throws unless the host may read elements of the type there.
inline void check(tensor const& t, dtype wanted, std::size_t alignment) {
  if (auto const where = t.device.device_type;
      where != device_type::cpu && where != device_type::cuda_host && where != device_type::rocm_host)
    throw value_error("dlpack: the tensor lies on " + text_of(t.device) + ". FIX: copy it to the host before");
  if (t.dtype != data_type_of(wanted))
    throw shape_error("dlpack: the tensor's elements are " + name_of(t.dtype) + "; those asked for are " +
                      tx::name_of(wanted));
  if (t.ndim < 0 || t.ndim > max_rank)
    throw shape_error("dlpack: the tensor has " + std::to_string(t.ndim) + " axes. FIX: 0 to " +
                      std::to_string(max_rank));
  std::int64_t count = 1;
  for (int i = 0; i < t.ndim; ++i) {
    if (t.shape[i] < 0) throw shape_error("dlpack: the tensor has the extent " + std::to_string(t.shape[i]));
    count = t.shape[i] == 0 ? 0 : count;
  }
  if (count == 0) return;
  if (t.data == nullptr) throw value_error("dlpack: the tensor has no memory");
  if ((reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset) % alignment != 0)
    throw value_error("dlpack: the tensor's elements do not lie at multiples of " + std::to_string(alignment) +
                      " bytes. FIX: a copy of it");
}

}  // namespace detail

// A view of a tensor that stays whose it is and must outlive the view. T: its element type; const, unless it is to be
// written.
template <class T, tensor_like D>
array_view<T> borrow(D const& theirs) {
  tensor const t{theirs.data,       {static_cast<device_type>(theirs.device.device_type), theirs.device.device_id},
                 theirs.ndim,       {theirs.dtype.code, theirs.dtype.bits, theirs.dtype.lanes},
                 theirs.shape,      theirs.strides,
                 theirs.byte_offset};
  detail::check(t, dtype_v<std::remove_const_t<T>>, alignof(T));
  array_view<T> v{};
  v.axes = t.ndim;
  for (int i = 0; i < t.ndim; ++i) v.extents[i] = t.shape[i];
  if (t.strides == nullptr)
    v.pack();
  else
    for (int i = 0; i < t.ndim; ++i) v.strides[i] = t.strides[i];
  if (t.data != nullptr) v.data = reinterpret_cast<T*>(static_cast<std::byte*>(t.data) + t.byte_offset);
  return v;
}
template <class T, managed_like M>
array_view<T> borrow(M const& theirs) {
  if constexpr (versioned_like<M>) {
    if (theirs.version.major != written.major)
      throw value_error("dlpack: the tensor is of version " + std::to_string(theirs.version.major) +
                        "; this is version " + std::to_string(written.major));
    if (!std::is_const_v<T> && (theirs.flags & read_only) != 0)
      throw value_error("dlpack: the tensor is read-only. FIX: borrow<T const>");
  }
  return borrow<T>(theirs.dl_tensor);
}

// Calls the deleter, once.
struct give_back {
  template <managed_like M>
  void operator()(M* m) const {
    if (m->deleter != nullptr) m->deleter(m);
  }
};
// A tensor that was handed over. release() hands it on.
template <managed_like M>
using owner = std::unique_ptr<M, give_back>;
template <managed_like M>
owner<M> take(M* theirs) {
  return owner<M>(theirs);
}

namespace detail {

// What a tensor that was lent refers to; its deleter deletes it.
template <class M>
struct lent {
  M managed{};
  view_extents extents{};
  std::shared_ptr<void const> keeps{};
};

template <class M, class T>
owner<M> lend(array_view<T> const& v, std::shared_ptr<void const> keeps, std::uint64_t flags) {
  auto made = std::make_unique<lent<M>>();
  made->extents = v;
  made->keeps = std::move(keeps);
  M& m = made->managed;
  auto& t = m.dl_tensor;
  t.data = v.count() == 0 ? nullptr : const_cast<std::remove_const_t<T>*>(v.data);
  t.device.device_type = static_cast<decltype(t.device.device_type)>(device_type::cpu);
  t.ndim = v.axes;
  constexpr data_type type = data_type_of(dtype_v<std::remove_const_t<T>>);
  t.dtype.code = type.code;
  t.dtype.bits = type.bits;
  t.dtype.lanes = type.lanes;
  t.shape = made->extents.extents;
  t.strides = made->extents.strides;
  if constexpr (versioned_like<M>) {
    m.version.major = written.major;
    m.version.minor = written.minor;
    m.flags = flags | (std::is_const_v<T> ? read_only : 0);
  }
  m.deleter = [](M* self) { delete static_cast<lent<M>*>(self->manager_ctx); };
  m.manager_ctx = made.get();
  return owner<M>(&made.release()->managed);
}

}  // namespace detail

// A view's elements where they lie, for another library. `keeps` is let go with the tensor: executor::owner() where the
// executor made its parameters, nothing where the memory outlives whoever takes the tensor. Runs that change parameters
// change what it shows.
template <managed_like M = managed_tensor, class T>
[[nodiscard]] owner<M> lend(array_view<T> const& v, std::shared_ptr<void const> keeps) {
  static_assert(!std::is_const_v<T> || versioned_like<M>,
                "tx::dlpack::lend: an unversioned tensor cannot say that it is only to be read. FIX: "
                "lend<tx::dlpack::managed_tensor_versioned>, or copy_of");
  return detail::lend<M>(v, std::move(keeps), 0);
}

// A copy of its own, row-major, that ends with the tensor. It lies at a multiple of 256 bytes, as the interface asks
// for.
template <managed_like M = managed_tensor, class T>
[[nodiscard]] owner<M> copy_of(array_view<T> const& v) {
  using E = std::remove_const_t<T>;
  constexpr std::align_val_t line{256};
  struct release {
    void operator()(E* p) const { ::operator delete(p, line); }
  };
  std::shared_ptr<E> const memory(
      static_cast<E*>(::operator new(static_cast<std::size_t>(v.count()) * sizeof(E), line)), release{});
  array_view<E> copy{v, memory.get()};
  copy.pack();
  copy_elements(v, copy);
  return detail::lend<M>(copy, memory, is_copied);
}

}  // namespace tx::dlpack
