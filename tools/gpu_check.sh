#!/usr/bin/env bash
# Usage: gpu_check.sh [FOLDER]
# On a machine with an NVIDIA device: builds every program of tests/cuda with nvcc and runs it there against the CPU, some of them under compute-sanitizer;
# times training steps of BERT-base in bf16 (bench/device) beside PyTorch, its compiler and JAX, where python3 imports them, all in turns; and writes to FOLDER
# (build/gpu) gpu.jsonl, a line of JSON for each timing, kernels.txt, where a step's time goes, and tests.txt. Prints a table. Needs git, CMake, a C++ compiler, nvcc, the
# packages of tools/setup.sh, and no network. COMPARE=0 leaves the others out, ROUNDS (2) says how often each side runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-build/gpu}
mkdir -p "$out"
out=$(cd "$out" && pwd)
rounds=${ROUNDS:-2}

command -v nvidia-smi >/dev/null || { echo "gpu_check.sh: no nvidia-smi, so no device. FIX: run it where one is" >&2; exit 1; }
device=$(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader | head -1)
echo "$device"
capability=$(echo "$device" | sed 's/.*, //; s/\.//')

build=build/device
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTX_CUDA=ON -DTX_CUDA_ARCHITECTURES="$capability" >/dev/null
cmake --build "$build" --target device_tests device_benches

status=0
ctest --test-dir "$build" -L device --output-on-failure 2>&1 | tee "$out/tests.txt" || status=1
devices=$(nvidia-smi --list-gpus | wc -l)
if [ "$devices" -gt 1 ] && [ -x "$build/bin/cuda_ranks_step" ]; then
  "$build/bin/cuda_ranks_step" 2 | tee -a "$out/tests.txt" || status=1
  "$build/bin/cuda_ranks_step" "$devices" | tee -a "$out/tests.txt" || status=1
fi
if command -v compute-sanitizer >/dev/null; then
  for program in row_numbers wide_rows twinbert_halves; do
    echo "compute-sanitizer $program" | tee -a "$out/tests.txt"
    compute-sanitizer --error-exitcode 1 "$build/bin/cuda_$program" 2>&1 | tail -1 | tee -a "$out/tests.txt" || status=1
  done
fi

: >"$out/gpu.jsonl"
peers=
if [ "${COMPARE:-1}" = 1 ]; then
  python3 -c "import torch, transformers" 2>/dev/null && peers="torch torch-compile"
  python3 -c "import jax" 2>/dev/null && peers="$peers jax"
fi
for _ in $(seq "$rounds"); do
  for shape in "128 128" "32 512"; do
    read -r batch tokens <<<"$shape"
    "$build/bin/device_step_base_${batch}_$tokens" --steps 20 | tee -a "$out/gpu.jsonl"
    for peer in $peers; do
      python3 bench/compare/peer_step.py --peer "$peer" --model base --dtype bf16 --device cuda --batch "$batch" --seq "$tokens" --steps 10 2>/dev/null | tee -a "$out/gpu.jsonl" || status=1
    done
  done
done
"$build/bin/device_step_base_128_128" --steps 2 --profile >"$out/kernels.txt"

echo
echo "$device: BERT-base, bf16, the best median of $rounds rounds"
sed -E 's/.*"peer": "([^"]*)".*"batch": ([0-9]+), "seq": ([0-9]+).*"median_s": ([0-9.]+).*"(planned|peak)_bytes": ([0-9]+).*/\1 \2 \3 \4 \6/' "$out/gpu.jsonl" | sort -k2,2n -k3,3n -k4,4n |
  awk '!seen[$1, $2, $3]++ { printf "%-14s %4d x %-4d %8.2f ms %9.0f tokens/s %7.2f GB\n", $1, $2, $3, 1000 * $4, $2 * $3 / $4, $5 / 1e9 }'
exit $status
