// An extent that is said to be bounded by something else than what its tag is bound by.
// expect: a bounded extent is no multiple of the bound that the program's arguments give its tag. FIX: dyn<Max, Tag> with the same Max, or a multiple
#include <tx/backends/cpu.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

constexpr auto pairs = [](tx::tensor<float, tx::dyn<512>, 64> x) { return tx::reshape<tx::dyn<256>, 128>(x); };
tx::executor<tx::function<pairs>, tx::cpu> run{};
