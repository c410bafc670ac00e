// Was the program compiled for a processor with a matrix unit that multiplies tiles of bf16 (AMX)? Whether the process may use it is another
// question: see gemm_amx.hpp.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && (defined(__AMX_BF16__) || defined(__AMXBF16__))  // as GCC and clang before 15 spell it
#define TX_HAS_AMX 1
#else
#define TX_HAS_AMX 0
#endif
