// The header of a backend whose sources another compiler reads.
// expect: tx/backends/cuda.hpp is for sources that nvcc compiles. FIX: name the file .cu, or use <tx/backends/cpu.hpp>
#include <tx/backends/cuda.hpp>
