// Bytes that programs lie in: from a backend, which gets them back, or lent by the caller.
#pragma once

#include <tx/core/error.hpp>
#include <tx/plan/plan.hpp>

#include <span>
#include <utility>

namespace tx {

// Where memory of the caller's begins: at a multiple of this many bytes.
//
//   alignas(tx::memory_alignment) std::byte room[step::memory.arena];
inline constexpr std::size_t memory_alignment = exec::alignment;

namespace exec {

// A backend whose memory the host cannot reach copies to and from it.
template <class Backend>
concept remote = requires(std::byte* device, std::byte* host, std::int64_t count) {
  Backend::clear(device, count);
  Backend::upload(device, host, count);
  Backend::download(host, device, count);
};

// Held while work is started, by a backend that wants threads to do that one after the other.
template <class Backend>
auto alone() {
  if constexpr (requires { Backend::alone(); }) return Backend::alone();
  else return 0;
}

// Zeros, wherever the bytes are.
template <class Backend>
void clear_bytes(std::byte* p, std::int64_t count) {
  if (count == 0) return;
  if constexpr (remote<Backend>)
    Backend::clear(p, count);
  else
    __builtin_memset(p, 0, static_cast<std::size_t>(count));
}

// Refuses memory of the caller's that is too small (shape_error) or begins at a wrong place (value_error). who:
// "executor".
TX_COLD inline void check_lent(std::span<std::byte const> memory, std::int64_t needed, char const* who) {
  if (static_cast<std::int64_t>(memory.size()) < needed)
    throw shape_error(std::string(who) + ": memory of " + std::to_string(memory.size()) +
                      " bytes was given; it needs " + std::to_string(needed));
  if (std::size_t const over = reinterpret_cast<std::uintptr_t>(memory.data()) % memory_alignment; over != 0)
    throw value_error(std::string(who) + ": the given memory begins " + std::to_string(over) +
                      " bytes behind a multiple of " + std::to_string(memory_alignment) +
                      ". FIX: alignas(tx::memory_alignment)");
}

// Memory of the host that the backend's device reaches too; of a backend that has none, its own.
template <class Backend>
struct host_memory {
  static std::byte* allocate(std::int64_t count) {
    if constexpr (requires { Backend::allocate_on_host(count); }) return Backend::allocate_on_host(count);
    else return Backend::allocate(count);
  }
  static void release(std::byte* p, std::int64_t count) {
    if constexpr (requires { Backend::release_on_host(p, count); }) Backend::release_on_host(p, count);
    else Backend::release(p, count);
  }
};

template <class Backend>
class bytes {
 public:
  bytes() = default;
  // The backend's own.
  explicit bytes(std::int64_t count) : data_(Backend::allocate(count)), count_(count), owned_(true) {}
  // The first `needed` of the caller's. Throws as check_lent().
  bytes(std::span<std::byte> lent, std::int64_t needed, char const* who) : data_(lent.data()), count_(needed) {
    check_lent(lent, needed, who);
  }
  bytes(bytes const&) = delete;
  bytes& operator=(bytes const&) = delete;
  bytes(bytes&& other) noexcept { *this = std::move(other); }
  bytes& operator=(bytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~bytes() {
    if (owned_) Backend::release(data_, count_);
  }
  std::byte* data() const { return data_; }
  std::int64_t size() const { return count_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t count_ = 0;
  bool owned_ = false;
};

// The caller's, if there are any; else the backend's own, and never none.
template <class Backend>
bytes<Backend> room(std::span<std::byte> lent, std::int64_t needed, char const* who) {
  return lent.data() == nullptr ? bytes<Backend>(needed + alignment) : bytes<Backend>(lent, needed, who);
}

}  // namespace exec
}  // namespace tx
