// DLPack: how array libraries hand each other tensors within a process. These are the structs of its C interface,
// version 1.0 (dmlc.github.io/dlpack/latest/c_api.html), with members of the same names, sizes and places: a pointer to
// one may be cast to and from that of the library's own header, which tx does not need. What works with them is
// run/dlpack.hpp.
#pragma once

#include <tx/core/dtype.hpp>

#include <concepts>
#include <type_traits>

namespace tx::dlpack {

// Where memory is; those that the host reaches are cpu, cuda_host and rocm_host (pinned memory).
enum class device_type : std::int32_t {
  cpu = 1,
  cuda = 2,
  cuda_host = 3,
  rocm = 10,
  rocm_host = 11,
  cuda_managed = 13
};
enum class type_code : std::uint8_t {
  integer = 0,
  natural = 1,
  floating = 2,
  handle = 3,
  bfloat = 4,
  complex = 5,
  boolean = 6,
  e4m3 = 10  // since version 1.1: float8_e4m3fn
};

struct device {
  dlpack::device_type device_type;
  std::int32_t device_id;
};

struct data_type {
  std::uint8_t code;    // a type_code
  std::uint8_t bits;    // of one lane
  std::uint16_t lanes;  // 1, but for vectors
  bool operator==(data_type const&) const = default;
};

struct tensor {
  void* data;
  dlpack::device device;
  std::int32_t ndim;
  data_type dtype;
  std::int64_t* shape;
  std::int64_t* strides;      // in elements; null: row-major
  std::uint64_t byte_offset;  // of the first element from `data`
};

// A tensor that is handed over. Who takes it calls the deleter once, when it is done.
struct managed_tensor {
  tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(managed_tensor* self);
};

struct version {
  std::uint32_t major;  // another one: other structs
  std::uint32_t minor;
};
inline constexpr version written{1, 0};

inline constexpr std::uint64_t read_only = 1, is_copied = 2;  // flags

struct managed_tensor_versioned {
  dlpack::version version;
  void* manager_ctx;
  void (*deleter)(managed_tensor_versioned* self);
  std::uint64_t flags;
  tensor dl_tensor;
};

// These structs, or those of the library's header.
template <class T>
concept tensor_like = requires(T const& t) {
  { t.data } -> std::convertible_to<void*>;
  t.device.device_type, t.device.device_id;
  { t.shape } -> std::convertible_to<std::int64_t const*>;
  { t.strides } -> std::convertible_to<std::int64_t const*>;
  t.ndim, t.dtype.code, t.dtype.bits, t.dtype.lanes, t.byte_offset;
};
template <class M>
concept managed_like = tensor_like<decltype(M::dl_tensor)> && requires(M m) {
  m.manager_ctx, m.deleter(&m);
};
template <class M>
concept versioned_like = managed_like<M> && requires(M m) {
  m.version.major, m.version.minor, m.flags;
};

constexpr data_type data_type_of(dtype d) {
  type_code code = type_code::integer;
  if (is_float(d)) code = type_code::floating;
  if (d == dtype::bf16) code = type_code::bfloat;
  if (d == dtype::e4m3) code = type_code::e4m3;
  if (d == dtype::u8) code = type_code::natural;
  if (d == dtype::boolean) code = type_code::boolean;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(d)), 1};
}

}  // namespace tx::dlpack
