// Reads safetensors files: u64 little-endian header length, JSON header, tensor bytes.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/files.hpp>
#include <tx/io/safetensors_format.hpp>
#include <tx/io/safetensors_header.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tx::io {

static_assert(std::endian::native == std::endian::little, "safetensors bytes are handed out as they lie in the file");

// A whole file in memory, every rule of the format checked:
// - the header is at most 100,000,000 bytes of UTF-8 JSON that begin with '{' and end with '}' and then spaces only;
// - no key occurs twice; a tensor has dtype, shape and data_offsets and nothing else; metadata are strings;
// - the tensors' bytes cover what follows the header without hole or overlap, each as long as its type and shape say;
// - a BOOL byte is 0 or 1.
// Throws format_error naming the file, the tensor and the rule, io_error when the file cannot be read. Types outside
// tx::dtype (F8_E5M2, U16 and so on) are refused, as are keys the format does not define.
class safetensors {
 public:
  static safetensors read(std::filesystem::path const& path) {
    safetensors file;
    file.load(read_file(path), path.string());
    return file;
  }

  // `source` stands for the file's name in messages.
  static safetensors parse(std::vector<std::byte>&& data, std::string_view source = "safetensors data") {
    safetensors file;
    file.load(std::move(data), source);
    return file;
  }

  // The tensors point into this object, so it moves but does not copy.
  safetensors(safetensors&&) = default;
  safetensors& operator=(safetensors&&) = default;

  // In the order of their bytes.
  std::vector<tensor_info> const& tensors() const { return tensors_; }
  std::map<std::string, std::string> const& metadata() const { return metadata_; }

  // Null if there is no such tensor. The pointer lives as long as this object, wherever it is moved.
  tensor_info const* find(std::string_view name) const {
    auto const at = std::ranges::lower_bound(by_name_, name, {},
                                             [&](std::size_t i) -> std::string_view { return tensors_[i].name; });
    return at != by_name_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
  }

 private:
  safetensors() = default;

  void load(std::vector<std::byte>&& data, std::string_view source) {
    data_ = std::move(data);
    auto const fail = [&](std::string const& what) { throw format_error(std::string(source) + ": " + what); };
    if (data_.size() < 8) fail("shorter than the 8 bytes that hold the header's length");
    std::uint64_t length = 0;
    std::memcpy(&length, data_.data(), 8);
    if (length > max_safetensors_header) {
      fail("header of " + std::to_string(length) + " bytes, allowed are " + std::to_string(max_safetensors_header) +
           "; is it a safetensors file?");
    }
    if (length > data_.size() - 8) fail("header of " + std::to_string(length) + " bytes goes past the file's end");
    detail::safetensors_header header(source);
    header.parse({reinterpret_cast<char const*>(data_.data()) + 8, static_cast<std::size_t>(length)});
    place(header.entries, std::span(data_).subspan(8 + static_cast<std::size_t>(length)), source);
    metadata_ = std::move(header.metadata);
  }

  void place(std::vector<detail::safetensors_entry>& entries, std::span<std::byte const> bytes,
             std::string_view source) {
    auto const key = [](auto const& e) { return std::pair(e.begin, e.end); };
    // Stable, so that tensors without bytes keep the header's order.
    std::ranges::stable_sort(entries, {}, key);
    std::uint64_t next = 0;
    tensors_.reserve(entries.size());
    for (auto& e : entries) {
      auto const fail = [&](std::string const& what) {
        throw format_error(std::string(source) + ": tensor " + shown(e.name) + ": " + what);
      };
      auto const range = "bytes " + std::to_string(e.begin) + " to " + std::to_string(e.end);
      if (e.begin > e.end) fail(range + " end before they begin");
      if (e.begin > next) fail(range + " leave a hole after byte " + std::to_string(next));
      if (e.begin < next) fail(range + " overlap another tensor's");
      if (e.end > bytes.size()) fail(range + " go past the file's " + std::to_string(bytes.size()) + " bytes of data");
      auto const count = detail::byte_count(e.type, e.shape);
      if (!count) fail("the product of its shape does not fit 64 bits");
      if (static_cast<std::uint64_t>(*count) != e.end - e.begin) {
        fail(range + " where its type and shape take up " + std::to_string(*count));
      }
      auto const part = bytes.subspan(static_cast<std::size_t>(e.begin), static_cast<std::size_t>(*count));
      if (e.type == dtype::boolean && std::ranges::any_of(part, [](std::byte b) { return b > std::byte{1}; })) {
        fail("a BOOL byte is neither 0 nor 1");
      }
      next = e.end;
      tensors_.push_back({std::move(e.name), e.type, std::move(e.shape), part});
    }
    if (next != bytes.size()) {
      throw format_error(std::string(source) + ": " + std::to_string(bytes.size() - next) +
                         " bytes after the last tensor belong to none");
    }
    by_name_.resize(tensors_.size());
    std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
    auto const name = [&](std::size_t i) -> std::string_view { return tensors_[i].name; };
    std::ranges::sort(by_name_, {}, name);
    auto const twin = std::ranges::adjacent_find(by_name_, {}, name);
    if (twin != by_name_.end()) {
      throw format_error(std::string(source) + ": tensor " + shown(name(*twin)) + " is given twice");
    }
  }

  std::vector<std::byte> data_;
  std::vector<tensor_info> tensors_;
  std::vector<std::size_t> by_name_;  // indices into tensors_, sorted by name
  std::map<std::string, std::string> metadata_;
};

}  // namespace tx::io
