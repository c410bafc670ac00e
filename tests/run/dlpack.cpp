// DLPack: the structs are laid out as the interface says, what tx cannot read is refused, and each tensor is given back
// once.
#include <tx/run/dlpack.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <vector>

namespace {

using namespace tx;
using dlpack::managed_tensor;
using dlpack::managed_tensor_versioned;

// Sizes and places on a machine of 64 bits, by the interface's description.
static_assert(sizeof(dlpack::device) == 8 && offsetof(dlpack::device, device_id) == 4);
static_assert(sizeof(dlpack::data_type) == 4 && offsetof(dlpack::data_type, bits) == 1 &&
              offsetof(dlpack::data_type, lanes) == 2);
static_assert(sizeof(dlpack::tensor) == 48 && offsetof(dlpack::tensor, data) == 0 &&
              offsetof(dlpack::tensor, device) == 8 && offsetof(dlpack::tensor, ndim) == 16 &&
              offsetof(dlpack::tensor, dtype) == 20 && offsetof(dlpack::tensor, shape) == 24 &&
              offsetof(dlpack::tensor, strides) == 32 && offsetof(dlpack::tensor, byte_offset) == 40);
static_assert(sizeof(managed_tensor) == 64 && offsetof(managed_tensor, manager_ctx) == 48 &&
              offsetof(managed_tensor, deleter) == 56);
static_assert(sizeof(managed_tensor_versioned) == 80 && offsetof(managed_tensor_versioned, manager_ctx) == 8 &&
              offsetof(managed_tensor_versioned, deleter) == 16 && offsetof(managed_tensor_versioned, flags) == 24 &&
              offsetof(managed_tensor_versioned, dl_tensor) == 32);
static_assert(std::is_standard_layout_v<managed_tensor_versioned> && std::is_trivial_v<managed_tensor_versioned>);

static_assert(dlpack::data_type_of(dtype::f64) == dlpack::data_type{2, 64, 1} &&
              dlpack::data_type_of(dtype::f32) == dlpack::data_type{2, 32, 1} &&
              dlpack::data_type_of(dtype::f16) == dlpack::data_type{2, 16, 1} &&
              dlpack::data_type_of(dtype::bf16) == dlpack::data_type{4, 16, 1} &&
              dlpack::data_type_of(dtype::i64) == dlpack::data_type{0, 64, 1} &&
              dlpack::data_type_of(dtype::i8) == dlpack::data_type{0, 8, 1} &&
              dlpack::data_type_of(dtype::u8) == dlpack::data_type{1, 8, 1} &&
              dlpack::data_type_of(dtype::boolean) == dlpack::data_type{6, 8, 1} &&
              dlpack::data_type_of(dtype::e4m3) == dlpack::data_type{10, 8, 1});

// The structs as another header has them: other names and enumerations, members of the same names.
namespace theirs {
enum device_kind : std::int32_t { on_host = 1 };
struct place {
  device_kind device_type;
  std::int32_t device_id;
};
struct type {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct array {
  void* data;
  place device;
  std::int32_t ndim;
  type dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct managed {
  array dl_tensor;
  void* manager_ctx;
  void (*deleter)(managed*);
};
}  // namespace theirs
static_assert(dlpack::managed_like<theirs::managed> && !dlpack::versioned_like<theirs::managed> &&
              dlpack::versioned_like<managed_tensor_versioned>);

// [2, 3] elements 0 ... 5 behind two others.
struct sample {
  std::vector<f32> elements = {-2, -1, 0, 1, 2, 3, 4, 5};
  std::int64_t shape[2] = {2, 3};
  std::int64_t strides[2] = {3, 1};
  dlpack::tensor tensor() {
    return {elements.data(), {dlpack::device_type::cpu, 0}, 2, dlpack::data_type_of(dtype::f32), shape, strides, 8};
  }
};

}  // namespace

TEST_CASE("a borrowed tensor is a view of its elements") {
  sample s;
  auto const v = dlpack::borrow<f32>(s.tensor());
  CHECK((v.rank() == 2 && v.extent(0) == 2 && v.extent(1) == 3 && v.stride(0) == 3 && v.stride(1) == 1));
  CHECK(v.data == s.elements.data() + 2);
  s.strides[0] = 1;
  s.strides[1] = 2;
  CHECK((dlpack::borrow<f32 const>(s.tensor()).stride(1) == 2));
  auto no_strides = s.tensor();
  no_strides.strides = nullptr;
  CHECK((dlpack::borrow<f32>(no_strides).stride(0) == 3 && dlpack::borrow<f32>(no_strides).stride(1) == 1));
  auto scalar = s.tensor();
  scalar.ndim = 0;
  scalar.shape = scalar.strides = nullptr;
  CHECK((dlpack::borrow<f32>(scalar).rank() == 0 && *dlpack::borrow<f32>(scalar).data == 0));
  theirs::managed const foreign{
      {s.elements.data(), {theirs::on_host, 0}, 2, {2, 32, 1}, s.shape, s.strides, 12}, nullptr, nullptr};
  CHECK(dlpack::borrow<f32>(foreign).data[0] == 1);
}

TEST_CASE("what cannot be read is refused") {
  sample s;
  auto const refused = [&](auto change) {
    dlpack::tensor t = s.tensor();
    change(t);
    try {
      static_cast<void>(dlpack::borrow<f32>(t));
    } catch (value_error const& e) {
      return std::string("value: ") + e.what();
    } catch (shape_error const& e) {
      return std::string("shape: ") + e.what();
    }
    return std::string("not refused");
  };
  using Catch::Contains;
  using dlpack::tensor;
  CHECK(refused([](tensor&) {}) == "not refused");
  for (auto reached : {dlpack::device_type::cuda_host, dlpack::device_type::rocm_host})
    CHECK(refused([=](tensor& t) { t.device.device_type = reached; }) == "not refused");
  CHECK_THAT(refused([](tensor& t) {
               t.device = {dlpack::device_type::cuda, 3};
             }),
             Contains("value: ") && Contains("device type 2, number 3. FIX: "));
  CHECK_THAT(refused([](tensor& t) { t.device.device_type = dlpack::device_type::cuda_managed; }),
             Contains("device type 13"));
  CHECK_THAT(refused([](tensor& t) { t.dtype.bits = 64; }),
             Contains("shape: ") && Contains("are f64; those asked for are f32"));
  CHECK_THAT(refused([](tensor& t) { t.dtype = {4, 16, 1}; }), Contains("are bf16;"));
  CHECK_THAT(refused([](tensor& t) { t.dtype.lanes = 4; }), Contains("of code 2, 32 bits and 4 lanes;"));
  CHECK_THAT(refused([](tensor& t) { t.ndim = max_rank + 1; }), Contains("shape: ") && Contains("7 axes. FIX: 0 to 6"));
  CHECK_THAT(refused([](tensor& t) { t.ndim = -1; }), Contains("-1 axes"));
  CHECK_THAT(refused([](tensor& t) { t.data = nullptr; }), Contains("value: ") && Contains("no memory"));
  CHECK_THAT(refused([](tensor& t) { t.byte_offset = 6; }),
             Contains("value: ") && Contains("multiples of 4 bytes. FIX: "));
  s.shape[1] = -3;
  CHECK_THAT(refused([](tensor&) {}), Contains("extent -3"));
  s.shape[1] = 0;
  CHECK(refused([](tensor& t) { t.data = nullptr; }) == "not refused");
}

TEST_CASE("versioned tensors say what may not be done with them") {
  sample s;
  managed_tensor_versioned m{{1, 3}, nullptr, nullptr, 0, s.tensor()};
  CHECK(dlpack::borrow<f32>(m).data == s.elements.data() + 2);
  m.flags = dlpack::read_only | dlpack::is_copied;
  CHECK(dlpack::borrow<f32 const>(m).data == s.elements.data() + 2);
  CHECK_THROWS_WITH(dlpack::borrow<f32>(m), Catch::Contains("read-only. FIX: "));
  m.flags = dlpack::is_copied;
  CHECK_NOTHROW(dlpack::borrow<f32>(m));
  m.version.major = 2;
  CHECK_THROWS_WITH(dlpack::borrow<f32 const>(m), Catch::Contains("version 2; this is version 1"));
}

TEST_CASE("a tensor that was taken is given back once") {
  static int given_back = 0;
  given_back = 0;
  sample s;
  managed_tensor theirs{s.tensor(), nullptr, [](managed_tensor*) { ++given_back; }};
  {
    auto first = dlpack::take(&theirs);
    auto const second = std::move(first);
    CHECK((given_back == 0 && second->dl_tensor.ndim == 2));
  }
  CHECK(given_back == 1);
  CHECK(dlpack::take(&theirs).release() == &theirs);  // handed on
  CHECK(given_back == 1);
  theirs.deleter = nullptr;  // nothing to be done
  CHECK(dlpack::take(&theirs) != nullptr);
}

TEST_CASE("a tensor that was lent keeps what it shows, until its deleter is called") {
  auto elements = std::make_shared<std::vector<f32>>(std::vector<f32>{0, 1, 2, 3, 4, 5});
  std::weak_ptr<std::vector<f32>> const still = elements;
  array_view<f32> const across{{2, {3, 2}, {1, 3}}, elements->data()};
  managed_tensor* const lent = dlpack::lend(across, elements).release();  // as who takes it sees it
  elements.reset();
  REQUIRE(!still.expired());
  auto const& t = lent->dl_tensor;
  CHECK((t.device.device_type == dlpack::device_type::cpu && t.device.device_id == 0 && t.byte_offset == 0));
  CHECK((t.ndim == 2 && t.shape[0] == 3 && t.shape[1] == 2 && t.strides[0] == 1 && t.strides[1] == 3));
  CHECK((t.dtype == dlpack::data_type{2, 32, 1} && t.data == still.lock()->data()));
  CHECK(dlpack::borrow<f32>(*lent).data[5] == 5);
  lent->deleter(lent);
  CHECK(still.expired());

  sample s;
  auto const foreign = dlpack::lend<theirs::managed>(dlpack::borrow<f32>(s.tensor()), nullptr);
  CHECK((foreign->dl_tensor.device.device_type == theirs::on_host && foreign->dl_tensor.dtype.bits == 32));
}

TEST_CASE("versioned tensors that are lent say that they are read-only, or copies") {
  sample s;
  auto const writable = dlpack::lend<managed_tensor_versioned>(dlpack::borrow<f32>(s.tensor()), nullptr);
  CHECK((writable->version.major == 1 && writable->version.minor == 0 && writable->flags == 0));
  auto const constant = dlpack::lend<managed_tensor_versioned>(dlpack::borrow<f32 const>(s.tensor()), nullptr);
  CHECK(constant->flags == dlpack::read_only);
  CHECK_THROWS_AS(dlpack::borrow<f32>(*constant), value_error);

  s.strides[0] = 1;  // [2, 3], column by column
  s.strides[1] = 2;
  auto const copy = dlpack::copy_of<managed_tensor_versioned>(dlpack::borrow<f32 const>(s.tensor()));
  s.elements.assign(8, -7.f);
  CHECK(copy->flags == dlpack::is_copied);
  CHECK(reinterpret_cast<std::uintptr_t>(copy->dl_tensor.data) % 256 == 0);
  auto const v = dlpack::borrow<f32>(*copy);
  CHECK((v.dense() && v.extent(0) == 2 && v.extent(1) == 3));
  CHECK(std::vector<f32>(v.data, v.data + 6) == std::vector<f32>{0, 2, 4, 1, 3, 5});
}
