// Groups of PyTorch's numbers in tests/parity/data against a compiled program: GROUP.argument.NAME, GROUP.value.NAME
// and, of a weighed sum of all values, GROUP.gradient.NAME.
#pragma once

#include "grad_program.hpp"

#include <tx/io/safetensors.hpp>

#include <catch2/catch.hpp>

#include <cstring>

#ifndef TX_TEST_DIR
#define TX_TEST_DIR "tests/ops"
#endif

// Each column has another gradient, as in the scripts.
inline constexpr auto weighed = [](auto const& y, double by = 1) {
  return tx::sum(y * (tx::cast<typename std::remove_cvref_t<decltype(y)>::element_type>(tx::iota<-1>(y)) * 0.25 + by));
};

class torch_numbers {
 public:
  explicit torch_numbers(std::string const& name)
      : file_(tx::io::safetensors::read(TX_TEST_DIR "/../parity/data/" + name + ".safetensors")) {}

  // A tensor of any element type, which must be there.
  values operator[](std::string const& name) const {
    INFO(name);
    tx::io::tensor_info const* const t = file_.find(name);
    REQUIRE(t != nullptr);
    switch (t->type) {
      case tx::dtype::f64: return as_doubles<double>(*t);
      case tx::dtype::f32: return as_doubles<float>(*t);
      case tx::dtype::i64: return as_doubles<std::int64_t>(*t);
      case tx::dtype::i32: return as_doubles<std::int32_t>(*t);
      case tx::dtype::i16: return as_doubles<std::int16_t>(*t);
      case tx::dtype::i8: return as_doubles<std::int8_t>(*t);
      default: REQUIRE(tx::size_of(t->type) == 1); return as_doubles<std::uint8_t>(*t);
    }
  }
  template <class T>
  std::vector<T> as(std::string const& name) const {
    std::vector<T> typed;
    for (double x : (*this)[name]) typed.push_back(static_cast<T>(x));
    return typed;
  }

 private:
  template <class T>
  static values as_doubles(tx::io::tensor_info const& t) {
    std::vector<T> typed(t.bytes.size() / sizeof(T));
    std::memcpy(typed.data(), t.bytes.data(), t.bytes.size());
    return values(typed.begin(), typed.end());
  }

  tx::io::safetensors file_;
};

// Numbers as T holds them: f64's large ones may be infinite there.
template <class T>
values rounded(values v) {
  for (double& x : v) x = static_cast<double>(static_cast<T>(x));
  return v;
}

// Values, whose names are in the order of the loss's results, and gradients of all parameters, whose names are those of
// the file.
template <class Backend, class T, class Model, auto Loss, tx::compile_options Options = tx::compile_options{},
          class... In>
void check_group(torch_numbers const& torch, std::string const& group, std::vector<std::string> const& names,
                 double tolerance, std::vector<In> const&... in) {
  tx::executor<grad_program<Model, Loss, Options>, Backend> run{tx::seed(0), {.threads = 2}};
  auto const parameters = tx::parameters_of<Model>();
  for (auto const& parameter : parameters) {
    values const v = torch[group + ".argument." + parameter.name];
    REQUIRE(static_cast<std::int64_t>(v.size()) == parameter.info.count());
    for (std::size_t i = 0; i < v.size(); ++i)
      run.elements()[static_cast<std::size_t>(parameter.offset) + i] = static_cast<T>(v[i]);
  }
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second run finds the first one's values in the arena
    auto const told = as_values(run(in...));
    REQUIRE(told.size() == names.size() + 2);  // the loss, which holds what is not finite, and the gradients
    for (std::size_t k = 0; k < names.size(); ++k) {
      INFO("value of " << group << "." << names[k]);
      CHECK(distance(told[k + 1], rounded<T>(torch[group + ".value." + names[k]])) < tolerance);
    }
    for (auto const& parameter : parameters) {
      INFO("gradient of " << group << "." << parameter.name);
      auto const first = told.back().begin() + parameter.offset;
      CHECK(distance(values(first, first + parameter.info.count()),
                     rounded<T>(torch[group + ".gradient." + parameter.name])) < tolerance);
    }
  }
}
