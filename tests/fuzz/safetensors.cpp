// Whatever the bytes: a format_error, or tensors that lie within them and survive being written and read again.
#include "tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const* bytes = reinterpret_cast<std::byte const*>(data);
  fuzz::check_file({bytes, bytes + size});
  return 0;
}
