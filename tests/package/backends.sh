#!/usr/bin/env bash
# Usage: backends.sh CMAKE SOURCE WORK BACKEND...
# A project whose source tx_add_program compiles for the CPU and for each BACKEND, cuda or hip, with add_subdirectory(SOURCE): it computes on the CPU, and
# says that there is no device on a machine without one, or computes the same. WORK is emptied first.
set -euo pipefail
cmake=$1 source=$2 work=$3
backends=("${@:4}")

rm -rf "$work"
mkdir -p "$work/application"
cd "$work/application"
cat >own.hpp <<'END'
#pragma once
#include <tx/ops/elementwise.hpp>
namespace own {
struct doubled_rule {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    return x + x;
  }
};
inline constexpr tx::op_info doubled_info = tx::elementwise_op<doubled_rule, 1>("doubled", nullptr, false, tx::float_infer);
template <tx::handle X>
constexpr auto doubled(X const& x) {
  return tx::lift_elementwise<&doubled_info>(x);
}
}  // namespace own
template <>
struct tx::scalar_rule<&own::doubled_info> {
  using type = own::doubled_rule;
};
END
cat >model.cpp <<'END'
#include "own.hpp"
#include <tx/backends/chosen.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, ROWS, 4> a, tx::tensor<float, 4, 2> b) { return tx::sum(own::doubled(tx::matmul(a, b))); };
float TX_ON_CHOSEN(computed)() {
  tx::executor<tx::function<f>, tx::chosen_backend> run;
  return run(std::vector<float>(32, 0.5f), std::vector<float>(8, 1.0f)).value;
}
END
cat >main.cpp <<'END'
#include <cstdio>
#include <exception>
#include <string>

float computed_on_cpu();
float computed_on_cuda();
float computed_on_hip();

int on(char const* name, float (*computed)()) {
  try {
    float const x = computed();
    std::printf("%s: %g\n", name, static_cast<double>(x));
    return x != 64;
  } catch (std::exception const& e) {
    std::printf("%s: %s\n", name, e.what());
    return std::string(e.what()).find("this machine has no usable") == std::string::npos;
  }
}
int main() {
  int wrong = computed_on_cpu() != 64;
#if defined(TX_WITH_CUDA)
  wrong += on("cuda", &computed_on_cuda);
#endif
#if defined(TX_WITH_HIP)
  wrong += on("hip", &computed_on_hip);
#endif
  return wrong;
}
END
cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.21)
project(application LANGUAGES CXX)
# Words that a project may have for itself.
set(found TRUE)
set(libraries none_of_this_name)
set(definitions nor_of_this)
add_subdirectory($source tx)
tx_add_program(model model.cpp BACKENDS cpu ${backends[@]} HEADERS own.hpp)
target_compile_definitions(model PRIVATE ROWS=8)
add_executable(application main.cpp)
target_link_libraries(application PRIVATE model)
END
"$cmake" -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DTX_CUDA_ARCHITECTURES=80
"$cmake" --build build
said=$(build/application)
echo "$said"
for backend in "${backends[@]}"; do grep -q "^$backend: " <<<"$said" || { echo "backends.sh: nothing was computed on $backend"; exit 1; }; done

# An edit that changes no kernel compiles none.
echo "// the same" >>model.cpp
if "$cmake" --build build | grep "Compiling kernels of"; then echo "backends.sh: kernels are compiled again, and none has changed"; exit 1; fi

# A rule that no other source can name.
sed -i 's/^struct doubled_rule/namespace {\nstruct doubled_rule/; s/^inline constexpr tx::op_info/}\ninline constexpr tx::op_info/' own.hpp
if refused=$("$cmake" --build build 2>&1); then echo "backends.sh: a rule without linkage is taken"; exit 1; fi
grep -qE "a type that no other source can name|anonymous namespace" <<<"$refused" || { echo "$refused"; exit 1; }

# A backend that there is none of.
sed -i 's/BACKENDS cpu.*)/BACKENDS cpu tpu)/' CMakeLists.txt
if refused=$("$cmake" -S . -B other -G Ninja 2>&1); then echo "backends.sh: BACKENDS tpu is taken"; exit 1; fi
grep -q "BACKENDS tpu is none of cpu, cuda and hip" <<<"$refused" || { echo "$refused"; exit 1; }

# Words that it does not know.
sed -i 's/BACKENDS cpu tpu)/BACKEND cpu)/' CMakeLists.txt
if refused=$("$cmake" -S . -B other -G Ninja 2>&1); then echo "backends.sh: BACKEND cpu is taken"; exit 1; fi
grep -qE "BACKEND is no source and no known word\. +FIX:" <<<"$refused" || { echo "$refused"; exit 1; }
