# tx_add_flags(TARGET): what a compiler must be told to compile tx: an instruction set, and the limits that constant evaluation of
# whole models needs. Whoever links the interface library TARGET gets them. The property TX_GCC_KILOBYTES of a target that links it
# says how much GCC may use before it collects garbage.
include(CheckCXXCompilerFlag)

option(TX_FATAL_ERRORS "Compilers stop at the first error: the message of a wrong model is on the first screen, not before hundreds of lines" ON)
set(TX_ARCH native CACHE STRING "Instruction set to compile for (-march=); empty leaves the compiler's default")

# Says so where nobody has chosen how to optimize.
function(tx_warn_unoptimized)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    message(WARNING "tx: there is no CMAKE_BUILD_TYPE, so kernels are compiled without optimization. FIX: -DCMAKE_BUILD_TYPE=Release")
  endif()
endfunction()

function(tx_add_flags TARGET)
  # GCC would collect garbage from 128 MB on. A collection leaves it a long list of free pages, and from then on each larger
  # block it needs costs a walk along all of it: up to two fifths of the time of a unit. So it may use 4 GB first.
  set(own "$<TARGET_PROPERTY:TX_GCC_KILOBYTES>")
  set(gnu -fconstexpr-ops-limit=4000000000 -fconstexpr-loop-limit=100000000 -fconstexpr-depth=4096
      -ftemplate-depth=2048 --param=ggc-min-expand=10 "--param=ggc-min-heapsize=$<IF:$<BOOL:${own}>,${own},4000000>")
  # With -fsanitize=undefined GCC holds that the address of an op may be null, and then no program is a constant expression.
  list(APPEND gnu -fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
  set(clang -fconstexpr-steps=2000000000 -fconstexpr-depth=4096 -fbracket-depth=4096 -ftemplate-depth=2048)
  # Kernels are templates in headers: every program that includes them must agree on the instruction set.
  # A product and a sum are rounded one by one, wherever they stand: what a backward pass computes again is what forward had, to the last bit, whichever
  # kernels both are in. Where rounding once is faster, kernels say fma.
  set(code -fno-math-errno -ffp-contract=off)
  if(TX_ARCH)
    string(MAKE_C_IDENTIFIER TX_HAS_ARCH_${TX_ARCH} has_arch)
    check_cxx_compiler_flag(-march=${TX_ARCH} ${has_arch})
    if(${has_arch})
      list(APPEND code -march=${TX_ARCH})
    else()
      message(WARNING "This compiler has no -march=${TX_ARCH}: compiling for its default instruction set")
    endif()
  endif()
  if(TX_FATAL_ERRORS)
    list(APPEND code -Wfatal-errors)
    list(APPEND code -Wformat)  # printf("%f", told.loss), where a struct has a tensor<float> and not a number
  endif()
  target_compile_options(${TARGET} INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${gnu}>"
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:${clang}>"
    "$<$<COMPILE_LANGUAGE:CXX>:${code}>")
endfunction()
