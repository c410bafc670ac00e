// What a loop and its data leave in a checkpoint beside the run: numbers and texts by name, and arrays.
#pragma once

#include <tx/core/dtype.hpp>
#include <tx/io/checkpoint_manifest.hpp>
#include <tx/io/safetensors_reader.hpp>

#include <bit>
#include <concepts>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tx::train {

// Throws value_error for a name that is put twice: one of the loop's own, or of the data's.
class to_save {
 public:
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  void put(std::string const& name, T value) {
    if constexpr (std::floating_point<T>)
      add(name, static_cast<double>(value));
    else
      add(name, static_cast<std::int64_t>(value));  // all bits of a std::uint64_t
  }
  void put(std::string const& name, std::string const& text) { add(name, text); }

  // Elements that stay as they are until the checkpoint is written. None are not written at all.
  template <class T>
  void put(std::string const& name, std::span<T const> elements) {
    for (auto const& other : arrays_)
      if (other.name == name) twice(name);
    if (!elements.empty())
      arrays_.push_back({name, dtype_v<T>, {static_cast<std::int64_t>(elements.size())}, std::as_bytes(elements)});
  }
  template <class T>
  void put(std::string const& name, std::vector<T> const& elements) {
    put(name, std::span<T const>(elements));
  }
  // Elements made for this checkpoint.
  template <class T>
  void put_copy(std::string const& name, std::vector<T> elements) {
    auto const held = std::make_shared<std::vector<T> const>(std::move(elements));
    held_.push_back(held);
    put(name, *held);
  }

  io::checkpoint_values const& values() const { return values_; }
  std::vector<io::tensor_info> const& arrays() const { return arrays_; }

 private:
  [[noreturn]] static void twice(std::string const& name) {
    throw value_error("the checkpoint has " + io::shown(name) + " already. FIX: another name for what your data or options add");
  }
  void add(std::string const& name, io::checkpoint_value value) {
    if (!values_.emplace(name, std::move(value)).second) twice(name);
  }

  io::checkpoint_values values_;
  std::vector<io::tensor_info> arrays_;
  std::vector<std::shared_ptr<void const>> held_;
};

// The same, as it comes back. Everything throws format_error for a name that is not there or is of another type.
class saved {
 public:
  saved(io::checkpoint_values const& values, io::safetensors const& arrays) : values_(values), arrays_(arrays) {}

  bool has(std::string const& name) const { return values_.contains(name); }
  template <class T>
  T value(std::string const& name) const {
    if constexpr (std::same_as<T, std::uint64_t>)
      return std::bit_cast<std::uint64_t>(io::value_of<std::int64_t>(values_, name));
    else
      return io::value_of<T>(values_, name);
  }
  // Of a name that older checkpoints lack.
  template <class T>
  T value(std::string const& name, T otherwise) const {
    return has(name) ? value<T>(name) : otherwise;
  }
  // Empty where there is none.
  template <class T>
  std::vector<T> array(std::string const& name) const {
    io::tensor_info const* const t = arrays_.find(name);
    if (t == nullptr) return {};
    if (t->type != dtype_v<T>) throw format_error("the saved tensor " + name + " is of another type. FIX: resume with the program that saved it, or begin a new run");
    std::vector<T> out(t->bytes.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), t->bytes.data(), t->bytes.size());
    return out;
  }

 private:
  io::checkpoint_values const& values_;
  io::safetensors const& arrays_;
};

}  // namespace tx::train
