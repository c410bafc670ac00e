// How far numbers of two folders' models lie apart, in the mean: where a gradient is next to nothing, Adam goes by its sign.
#pragma once

#include <tx/io/safetensors_reader.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>

inline double apart(std::filesystem::path const& one, std::filesystem::path const& other) {
  auto const a = tx::io::safetensors::read(one / "model.safetensors"), b = tx::io::safetensors::read(other / "model.safetensors");
  REQUIRE(a.tensors().size() == b.tensors().size());
  double far = 0, count = 0;
  for (auto const& t : a.tensors()) {
    auto const* const same = b.find(t.name);
    REQUIRE(same != nullptr);
    REQUIRE(same->bytes.size() == t.bytes.size());
    auto const *x = reinterpret_cast<float const*>(t.bytes.data()), *y = reinterpret_cast<float const*>(same->bytes.data());
    for (std::size_t i = 0; i < t.bytes.size() / sizeof(float); ++i) far += std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    count += static_cast<double>(t.bytes.size() / sizeof(float));
  }
  return far / count;
}
