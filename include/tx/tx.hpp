// Ops, gradients, modules, training and executors. Include a backend, io/, text/ and dist/ by name, e.g. <tx/backends/cpu.hpp>.
#pragma once

// First, as compilers show by what chain of includes they came to a wrong shape, and these are the shortest.
#include <tx/ops/lift.hpp>
#include <tx/ops/matmul.hpp>

#include <tx/autodiff/custom_vjp.hpp>
#include <tx/autodiff/hessian_vector.hpp>
#include <tx/expr/inference.hpp>
#include <tx/expr/scan.hpp>
#include <tx/expr/setting.hpp>
#include <tx/expr/state.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/fits.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#if !__has_include(<tx/all.hpp>)
#error "tx/all.hpp, which the build writes, is not in the include path. FIX: link the CMake target tx::tx, or configure and `cmake --install`; see docs/using.md"
#endif
// Every header of ops/, nn/ and train/, listed by the build.
#include <tx/all.hpp>
