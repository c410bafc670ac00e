// Whatever the bytes: a format_error, or tensors that lie within them and survive being written and read again.
#include <tx/io/safetensors.hpp>

#include <cstdint>
#include <algorithm>
#include <cstdlib>
#include <optional>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const* bytes = reinterpret_cast<std::byte const*>(data);
  std::optional<tx::io::safetensors> parsed;
  try {
    parsed = tx::io::safetensors::parse({bytes, bytes + size});
  } catch (tx::format_error const&) {
    return 0;
  }
  auto const& file = *parsed;
  std::size_t total = 0;
  for (auto const& t : file.tensors()) {
    if (file.find(t.name) != &t) std::abort();
    total += t.bytes.size();
    for (std::byte const b : t.bytes) {
      if (t.type == tx::dtype::boolean && b > std::byte{1}) std::abort();
    }
    tx::io::detail::check_tensor(t);
  }
  if (total > size) std::abort();
  // What was read can be written, and is the same when it is read again.
  std::vector<tx::io::tensor_info const*> order;
  for (auto const& t : file.tensors()) order.push_back(&t);
  std::string const header = tx::io::detail::safetensors_header_text(order, file.metadata());
  std::vector<std::byte> again(8 + header.size());
  std::uint64_t const length = header.size();
  std::memcpy(again.data(), &length, 8);
  std::memcpy(again.data() + 8, header.data(), header.size());
  for (auto const& t : file.tensors()) again.insert(again.end(), t.bytes.begin(), t.bytes.end());
  auto const back = tx::io::safetensors::parse(std::move(again));
  if (back.tensors().size() != file.tensors().size() || back.metadata() != file.metadata()) std::abort();
  for (auto const& t : file.tensors()) {
    auto const* found = back.find(t.name);
    if (found == nullptr || found->type != t.type || found->shape != t.shape || !std::ranges::equal(found->bytes, t.bytes)) std::abort();
  }
  return 0;
}
