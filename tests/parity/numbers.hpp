// Tensors of tests/parity/data by name.
#pragma once

#include <tx/io/safetensors.hpp>

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

inline tx::io::safetensors parity_file(std::string const& name) {
  return tx::io::safetensors::read(TX_TEST_DIR "/../parity/data/" + name + ".safetensors");
}

inline std::vector<double> parity_numbers(tx::io::safetensors const& file, std::string const& name) {
  INFO(name);
  tx::io::tensor_info const* const t = file.find(name);
  REQUIRE(t != nullptr);
  REQUIRE(t->type == tx::dtype::f64);
  std::vector<double> v(t->bytes.size() / sizeof(double));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}
