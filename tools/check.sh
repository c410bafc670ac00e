#!/usr/bin/env bash
# Usage: check.sh
# What `make check` runs beyond `make test`: layering, the API reference, clang, steps in device code, each header on its own, drawn programs, slow tests, compile cost,
# aarch64, nvcc, fuzzing for FUZZ_SECONDS (60) a target, sanitizers, the tests with other compilers. A failing step does not stop the next one; the last line is `N passed, N failed`.
# With CHECK_MINUTES, a step that would begin later than so many minutes from now is left out, one that is at work ten minutes after that is ended, and the
# last lines name them. The longest come last, the sanitizers' programs and other compilers, each day with another one first: what one day's slow machine
# leaves out is another day's first.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
jobs=${JOBS:-$(nproc)}
FUZZ_SECONDS=${FUZZ_SECONDS:-60}
CHECK_MINUTES=${CHECK_MINUTES:-1000}
passed=0
failed=0

failures=()
left_out=()

# within_limit COMMAND...: 124 where it had to be ended
within_limit() {
  local left=$(((CHECK_MINUTES + 10) * 60 - SECONDS))
  timeout --kill-after=10 $((left > 1 ? left : 1)) "$@"
}
in_time() {  # in_time NAME: else it is one of those left out
  [ $SECONDS -lt $((CHECK_MINUTES * 60)) ] && return
  left_out+=("$1")
  return 1
}

verdict() {  # verdict NAME STATUS SECONDS
  if [ "$2" = 124 ]; then left_out+=("$1") && echo "== $1: ended after $3 s" && return; fi
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) failures+=("$1"); fi
  [ "$2" = 0 ] && echo "== $1: passed in $3 s" || echo "== $1: FAILED in $3 s"
}
step() {  # step NAME COMMAND...
  in_time "$1" || return
  local start=$SECONDS
  echo "== $1"
  "${@:2}"
  verdict "$1" $? $((SECONDS - start))
}

# A step of one core, beside others: what it says is kept until all have ended.
beside=()
beside() {  # beside NAME COMMAND...
  in_time "$1" || return
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  local files=$work/beside_${#beside[@]}
  beside+=("$1")
  {
    local start=$SECONDS
    "${@:2}" >"$files.said" 2>&1
    echo "$? $((SECONDS - start))" >"$files.ended"
  } &
}
all_beside() {
  wait
  local k status seconds
  for k in "${!beside[@]}"; do
    echo "== ${beside[k]}"
    cat "$work/beside_$k.said"
    read -r status seconds <"$work/beside_$k.ended" || status=1
    rm -f "$work/beside_$k.ended"  # the next ones begin at number 0 again
    verdict "${beside[k]}" "$status" "$seconds"
  done
  beside=()
}

build() {  # build PRESET TARGET...
  cmake --preset "$1" >"$log" 2>&1 || { cat "$log"; return 1; }
  within_limit cmake --build --preset "$1" -j "$jobs" --target "${@:2}" -- -k 0  # what one unit breaks is not what another one's tests miss
}
tests() {  # tests PRESET LABEL [NAMES]: counts each test
  local name="$1, label $2${3:+, $3}" counts total bad status
  in_time "tests ($name)" || return
  echo "== tests ($name)"
  within_limit tools/run_tests.sh "$1" -j 2 -L "$2" ${3:+-R "$3"} | tee "$log"
  status=$?
  if [ "$status" = 124 ]; then left_out+=("tests ($name)") && return; fi
  counts=$(tail -n 1 "$log")
  total=${counts##*out of }
  bad=$(sed -E 's/.*passed, ([0-9]+) tests?.*/\1/' <<<"$counts")
  if [[ $total =~ ^[0-9]+$ && $bad =~ ^[0-9]+$ ]]; then
    passed=$((passed + total - bad))
    failed=$((failed + bad))
  fi
  if [ "$status" != 0 ] && [ "${bad:-0}" = 0 ]; then failed=$((failed + 1)); fi
  if [ "$status" != 0 ]; then failures+=("tests ($name): $(grep -E '^[[:space:]]*[0-9]+ - .*\(' "$log" | tr -s ' ' | tr '\n' ';')"); fi
}
slow_tests() { if grep -rqs --include='*.cpp' -F '[.slow]' tests; then tests ci slow; fi; }

# Device code compiles, whether or not there is a device.
nvcc_sources() {
  if [ -e include/tx/tx.hpp ]; then
    echo '#include <tx/tx.hpp>' >"$work/tx.cu"
    echo "$work/tx.cu"
  fi
  find include/tx/backends/device include/tx/backends/cuda include/tx/backends/cuda.hpp include/tx/backends/cuda_blas.hpp -name '*.hpp' 2>/dev/null | while IFS= read -r header; do
    cu=$work/$(tr / _ <<<"$header").cu
    echo "#include <${header#include/}>" >"$cu"
    echo "$cu"
  done
}
nvcc_compiles() {  # nvcc_compiles SOURCE
  local gnu=-fconstexpr-ops-limit=4000000000,-fconstexpr-loop-limit=100000000,-fconstexpr-depth=4096,-ftemplate-depth=2048
  "$nvcc" -std=c++20 --expt-relaxed-constexpr --fmad=false -Xcompiler "$gnu" -Xcudafe "--max_cost_constexpr_call=2000000000,--max_depth_constexpr_call=4096" \
    -Iinclude -Ibuild/ci/generated -Itests/ptx/blas -c "$1" -o "$work/$(basename "$1").o"
}

# A reader of untrusted bytes, from what tests/fuzz/corpus has for it, for FUZZ_SECONDS. An input that it fails on stays in
# build/fuzz.
fuzz() {  # fuzz NAME
  local folder=$work/fuzz_$1
  mkdir -p "$folder/corpus" build/fuzz
  clang++ -std=c++20 -O1 -g1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iinclude "tests/fuzz/$1.cpp" -o "$folder/program" &&
    { "$folder/program" -max_total_time="$FUZZ_SECONDS" -timeout=20 -verbosity=0 -print_funcs=0 -artifact_prefix="build/fuzz/$1-" \
        "$folder/corpus" "tests/fuzz/corpus/$1" >"$folder/log" 2>&1 || { tail -n 40 "$folder/log"; false; }; }  # new inputs go to the first
}

work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT

step "layers" tools/check_layers.sh
step "API reference" tools/docs.sh
step "predicted steps beside measured ones" tools/scale.py check bench/results/xeon_ranks.md
# clang: the trainer and the tests of kernels, optimized; what it says of programs that must not compile.
step "build (clang)" build clang twinbert test_cpu
tests clang everyday '^(cpu|fail)[.]'
# Steps in device code, as nvcc compiles them, whatever the time is that all programs take.
device_steps=(recurrent_step wide_rows row_numbers attention_step twinbert_step twinbert_halves)
step "build of device code" build ci "${device_steps[@]/#/device_}"
tests ci check "^device[.]($(IFS='|'; echo "${device_steps[*]}"))[.]"
beside "barriers of device code, each left out" tests/ptx/without_barriers.py build/ci/bin/device_{recurrent_step,wide_rows,row_numbers,attention_step}
beside "kernels of device code" tests/ptx/kernel_table.py build/ci/bin/device_{recurrent_step,wide_rows,twinbert_step,twinbert_halves}
all_beside
step "headers on their own" build clang headers
# Kernels as they are where vectors are shorter than here.
if grep -qw avx512f /proc/cpuinfo; then
  step "build (avx2)" build avx2 test_cpu
  tests avx2 everyday '^cpu[.]'
fi
step "drawn_seeds (ci)" build ci drawn_seeds
# Of the programs that slow tests draw, and are left out with, other ones each day.
drawn=$((6000 + $(date -u +%s) / 86400 % 7 * 20000))
beside "drawn programs from $drawn on" build/ci/bin/drawn_seeds $drawn $((drawn + 10000))
beside "drawn programs from $((drawn + 10000)) on" build/ci/bin/drawn_seeds $((drawn + 10000)) $((drawn + 20000))
all_beside
step "build of programs, thorough tests and benchmarks (ci)" build ci tests programs thorough benches
slow_tests
tests ci 'check|programs'

# Every test under the sanitizers but thorough ones and those that compare values with PyTorch's, a program after the other: one now, each day another one, the others last.
sanitized() {  # sanitized PROGRAM LABEL
  step "build ($1, sanitize)" build sanitize "$1" && tests sanitize "$2" "^${1#*_}[.]"
}
programs=($(cd tests && for folder in */; do ls "$folder"*.cpp >/dev/null 2>&1 && echo "test_${folder%/}"; done | grep -vE '_(cuda|fail|fuzz|interpreter|parity|refused|bert|bert_lora|bert_distilbert|gpt)$'))
first=$(($(date -u +%s) / 86400 % ${#programs[@]}))
sanitized "${programs[first]}" 'everyday|programs'

if [ -f bench/compile_cost.sh ]; then step "compile cost" bash bench/compile_cost.sh; fi  # alone: neighbours cost it processor time too
if [ "$(uname -m)" = x86_64 ]; then beside "training steps for AMD's devices" within_limit cmake --build --preset ci --target hip_twinbert_halves hip_ranks_step hip_library_step; fi
# Programs that nobody wrote, as real programs on three backends; others each day.
beside "drawn programs, compiled" env DRAWN_SEEDS=build/ci/bin/drawn_seeds tools/drawn_compiled.sh 2
for compiler in clang++-15 clang++-16 zig; do beside "another compiler: $compiler" tools/other_compiler.sh "$compiler"; done
# Kernels for processors that this machine may not be.
if [ "$(uname -m)" = x86_64 ]; then
  for folder in tests/ops tests/cpu; do beside "$folder on aarch64, emulated" tools/aarch64.sh "$folder"; done
fi
for source in tests/cpu/gemm_kernel.cpp tests/cpu/halves.cpp; do
  beside "$source for a matrix unit" g++ @build/ci/tests/compiler.flags -march=sapphirerapids -Werror -fsyntax-only "$source"
done
nvcc=$(ls build/nvcc/lib/python*/site-packages/nvidia/cu13/bin/nvcc)
for source in $(nvcc_sources); do beside "nvcc ${source#"$work"/}" nvcc_compiles "$source"; done
for source in tests/fuzz/*.cpp; do beside "fuzz $(basename "$source" .cpp) for $FUZZ_SECONDS s" fuzz "$(basename "$source" .cpp)"; done
all_beside

# Executors in several threads at the same time.
step "build (thread)" build thread test_threads
tests thread programs '^threads[.]'
for program in "${programs[@]:first + 1}" "${programs[@]:0:first}"; do sanitized "$program" 'everyday|programs'; done
sanitized thorough_nn check
sanitized test_bert check
sanitized test_bert_lora check
sanitized test_bert_distilbert check
# The everyday tests as other compilers make them, each day another one first.
others=(clang++-15 clang++-16 zig)
first=$(($(date -u +%s) / 86400 % ${#others[@]}))
for compiler in "${others[@]:first}" "${others[@]:0:first}"; do step "tests with another compiler: $compiler" within_limit tools/other_compiler.sh "$compiler" tests; done

for step in "${left_out[@]}"; do echo "== left out, as $CHECK_MINUTES minutes were over: $step"; done
for failure in "${failures[@]}"; do echo "== failed: $failure"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
