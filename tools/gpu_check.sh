#!/usr/bin/env bash
# Usage: gpu_check.sh [FOLDER]          what there is to see of tx on a machine with an NVIDIA device, into FOLDER (build/gpu)
#        gpu_check.sh --carry FOLDER    copies what the build needs of this system's packages to FOLDER, for a machine that has neither them nor a network
#        gpu_check.sh --help            prints this
#        gpu_check.sh --selftest        checks this script, on a machine and programs that are made up
# Needs git, CMake, a C++ compiler, nvcc and no network; the headers of Eigen and nlohmann's JSON (tools/setup.sh installs them) may lie in PREFIX (build/gpu_prefix), where --carry puts them.
# STAGES, those that are wanted, in this order:
#   build     what the others of them run, by nvcc for this device, JOBS (all processors) at a time
#   tests     each program of tests/cuda: the device against the CPU
#   sanitize  the small ones of them under compute-sanitizer
#   same      two trainings from one seed, of BERT-base and of TwinBERT: losses and parameters, bit by bit
#   steps     training steps of BERT-base and BERT-large in bf16, with cuBLASLt's own choice of algorithms and with the fastest (TX_CUDA_ALGORITHMS), with products of E4M3 where the
#             device has such (E4M3=0: without), and how long the host is busy with starting one, ROUNDS (2) times in turns with PyTorch, its compiler and JAX, where python3 imports them (COMPARE="torch jax": these alone; COMPARE=0: none). What one of
#             those cannot do is in the table, and no failure
#   kernels   each kind of kernel in those steps beside what tx/inspect/roofline.hpp predicts; each kernel is in kernels.txt
#   fused     fused rows on matrices of 1 MB to 1 GB, beside a copy within the device, and the same of the others
#   train     TwinBERT on the device for TRAIN_SECONDS (60), and its scores: on PAIRS, a folder as examples/twinbert/data/fetch.sh makes it, else on texts that are made up
# Each leaves STAGE.jsonl and STAGE.txt as soon as it has ended; gpu.json has all of them, and table.txt what there is to read, which is printed too. One that fails does not stop the next; then the
# exit status is 1. A program is ended after LIMIT (300) seconds. A second run into the same FOLDER replaces what the stages that it runs have found, or adds to it (ADD=1), so that no
# command need take long: STAGES="build tests same" first, then STAGES=steps SHAPES=base_128_128 ROUNDS=1, then STAGES=steps SHAPES=large_64_128 ADD=1; SIZES="64 256" are megabytes of fused rows.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

all_stages="build tests sanitize same steps kernels fused train"
shapes=${SHAPES:-base_128_128 base_32_512 large_64_128 large_16_512}
sizes=${SIZES:-1 16 64 256 1024}
build=${BUILD:-build/device}
stages=${STAGES:-$all_stages}
limit=${LIMIT:-300}

carry() {  # carry FOLDER
  local file
  for package in libeigen3-dev nlohmann-json3-dev; do
    dpkg -L "$package" | while IFS= read -r file; do
      if [ -f "$file" ] && [[ $file != /usr/share/doc/* ]]; then install -D -m 644 "$file" "$1/${file#/usr/}"; fi
    done || return 1
  done
  [ -e "$1/include/eigen3/Eigen/Core" ] && [ -e "$1/include/nlohmann/json.hpp" ]
}

# Has the device units for products of E4M3, and are they wanted?
has_e4m3() { [ "${E4M3:-1}" = 1 ] && [ "$capability" -ge 89 ]; }
wants() { [[ " $stages " == *" $1 "* ]]; }
within_limit() { timeout --kill-after=10 "$limit" "$@"; }
# A line of a stage that is not a program's own.
line() { echo "{$1}" >>"$out/$stage.jsonl"; }
# What a stage prints; lines of JSON among it are what it has found.
keep() { awk -v text="$out/$stage.txt" -v found="$out/$stage.jsonl" '{ print; print >>text; fflush(text) } /^\{/ { print >>found; fflush(found) } { fflush() }'; }

stage_build() {
  local targets=()
  if wants tests || wants sanitize; then targets+=(device_tests); fi
  if wants steps || wants kernels; then for shape in $shapes; do targets+=("device_step_$shape"); done; fi
  if wants steps && has_e4m3; then for shape in $shapes; do targets+=("device_step_e4m3_$shape"); done; fi
  if wants same; then
    targets+=(device_step_base_128_128)
    if has_e4m3; then targets+=(device_step_e4m3_base_128_128); fi
  fi
  if wants fused; then for mb in $sizes; do targets+=("device_fused_$mb"); done; fi
  if wants train || wants same; then targets+=(twinbert); fi
  local generator=() go_on=()
  if command -v ninja >/dev/null; then generator=(-G Ninja) go_on=(-- -k 0); else go_on=(-- -k); fi
  cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DTX_CUDA=ON -DTX_CUDA_ARCHITECTURES="$capability" -DCMAKE_PREFIX_PATH="${PREFIX:-$root/build/gpu_prefix}" &&
    cmake --build "$build" -j "${JOBS:-$(nproc)}" --target "${targets[@]}" "${go_on[@]}"
}

stage_tests() {
  local status=0 devices
  ctest --test-dir "$build" -L device --timeout "$limit" --output-on-failure | tee "$out/ctest.txt" || status=1
  devices=$(nvidia-smi --list-gpus | wc -l)
  if [ "$devices" -gt 1 ] && [ -x "$build/bin/cuda_ranks_step" ]; then
    within_limit "$build/bin/cuda_ranks_step" 2 || status=1
    within_limit "$build/bin/cuda_ranks_step" "$devices" || status=1
  fi
  # " 3/12 Test #7: cuda.streams ......   Passed    1.20 sec"
  sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.+ *(\**[A-Za-z ]+[a-z]) +([0-9.]+) sec.*/"kind": "test", "name": "\1", "result": "\2", "seconds": \3/p' "$out/ctest.txt" |
    while IFS= read -r fields; do line "$fields"; done
  return $status
}

stage_sanitize() {
  local status=0 found
  command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not there: nothing was looked at"; return 1; }
  for program in row_numbers wide_rows twinbert_halves library_step; do
    found=true
    echo "compute-sanitizer $program"
    within_limit compute-sanitizer --error-exitcode 1 "$build/bin/cuda_$program" | tail -n 1 || { found=false; status=1; }
    line "\"kind\": \"sanitized\", \"name\": \"$program\", \"clean\": $found"
  done
  return $status
}

# Pairs whose document has the query's words among others, for where there are no real ones.
made_up_pairs() {  # made_up_pairs COUNT SEED
  awk -v count="$1" -v seed="$2" 'BEGIN {
    srand(1)  # the words are the same whatever the seed
    split("ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to", s, " ")
    for (w = 0; w < 3000; ++w) { word[w] = ""; for (k = 0; k < 2 + w % 3; ++k) word[w] = word[w] s[1 + int(40 * rand())] }
    srand(seed)
    for (i = 0; i < count; ++i) {
      a = int(3000 * rand() * rand()); b = int(3000 * rand())
      d = ""
      for (k = 0; k < 20; ++k) d = d word[int(3000 * rand() * rand())] " "
      print word[a] " " word[b] "\t" d word[b] " " word[int(3000 * rand())] " " word[a]
    }
  }'
}
twinbert_pairs() {  # sets pairs to the training file
  pairs=${PAIRS:-.cache/twinbert}/train.tsv
  if [ -s "$pairs" ]; then return; fi
  pairs=$out/made_up.tsv
  [ -s "$pairs" ] || made_up_pairs 20000 1 >"$pairs"
}

stage_same() {
  local status=0 same=true
  within_limit "$build/bin/device_step_base_128_128" --repeat --steps 10 || status=1
  if has_e4m3; then within_limit "$build/bin/device_step_e4m3_base_128_128" --repeat --steps 10 || status=1; fi
  twinbert_pairs
  for run in first second; do
    within_limit "$build/bin/twinbert" train --device cuda --pairs "$pairs" --out "$out/same_$run" --force --bag-steps 200 --steps 40 >/dev/null || status=1
  done
  cmp "$out/same_first/model.safetensors" "$out/same_second/model.safetensors" || same=false status=1
  line "\"kind\": \"same\", \"what\": \"TwinBERT, 40 steps twice\", \"parameters\": $same"
  rm -rf "$out/same_first" "$out/same_second"
  return $status
}

find_peers() {  # sets peers
  local peer needs
  peers=
  for peer in torch torch-compile jax; do
    if [ "${COMPARE:-1}" != 1 ] && [[ " $COMPARE " != *" $peer "* ]]; then continue; fi
    needs=$peer
    if [ "$peer" != jax ]; then needs=$1; fi
    if python3 -c "import $needs" 2>/dev/null; then peers="$peers $peer"; fi
  done
}
# What another framework prints; where it fails, why.
of_peer() {  # of_peer PEER AT COMMAND...
  within_limit "${@:3}" 2>"$out/peer.log" || line "\"kind\": \"peer_failed\", \"peer\": \"$1\", \"at\": \"$2\", \"why\": \"exit status $?, $(tail -n 1 "$out/peer.log" | tr -d '"\\\000-\037' | cut -c1-150)\""
}

stage_steps() {
  local status=0 shape model batch tokens peer
  find_peers "torch, transformers"
  for _ in $(seq "${ROUNDS:-2}"); do
    for shape in $shapes; do
      IFS=_ read -r model batch tokens <<<"$shape"
      within_limit "$build/bin/device_step_$shape" --steps 20 || status=1
      TX_CUDA_ALGORITHMS=$out/algorithms.txt within_limit "$build/bin/device_step_$shape" --steps 20 | sed 's/"peer": "tx"/"peer": "tx-measured"/' || status=1
      if has_e4m3; then TX_CUDA_ALGORITHMS=$out/algorithms.txt within_limit "$build/bin/device_step_e4m3_$shape" --steps 20 | sed 's/"peer": "tx"/"peer": "tx-e4m3"/' || status=1; fi
      for peer in $peers; do
        of_peer "$peer" "$model $batch x $tokens" python3 bench/compare/peer_step.py --peer "$peer" --model "$model" --dtype bf16 --device cuda --batch "$batch" --seq "$tokens" --steps 6
      done
    done
  done
  return $status
}

stage_kernels() {
  local status=0
  for shape in $shapes; do
    echo "$shape"
    TX_CUDA_ALGORITHMS=$out/algorithms.txt within_limit "$build/bin/device_step_$shape" --steps 5 --profile | sed '/"kind": "step"/d' || status=1
  done
  return $status
}

stage_fused() {
  local status=0 peer mb runs
  find_peers torch
  for mb in $sizes; do
    runs=9
    if [ "$mb" -ge 1024 ]; then runs=4; fi  # as each has such a matrix sent and fetched
    within_limit "$build/bin/device_fused_$mb" --runs $runs || status=1
    for peer in $peers; do of_peer "$peer" "$mb MB" python3 bench/compare/fused_ops.py --peer "$peer" --mb "$mb" --runs $runs; done
  done
  return $status
}

stage_train() {
  local status=0 test
  twinbert_pairs
  test=$(dirname "$pairs")/test.random.tsv
  within_limit "$build/bin/twinbert" train --device cuda --pairs "$pairs" --out "$out/twinbert" --force --seconds "${TRAIN_SECONDS:-60}" || status=1
  if [ ! -s "$test" ]; then
    test=$out/made_up_test.tsv  # each query with its own document, and with the next one's
    made_up_pairs 1000 2 | awk -F '\t' '{ q[NR] = $1; d[NR] = $2 } END { for (i = 1; i <= NR; ++i) { print q[i] "\t" d[i] "\t1"; print q[i] "\t" d[i % NR + 1] "\t0" } }' >"$test"
  fi
  within_limit "$build/bin/twinbert" eval --device cuda --model "$out/twinbert" --pairs "$test" | tee "$out/scores.txt" || status=1
  line "\"kind\": \"trained\", \"pairs\": \"$(basename "$pairs")\", \"scores\": \"$(grep -o 'AUC.*' "$out/scores.txt" | head -n 1 | tr -s ' ')\", \"steps\": $(wc -l <"$out/twinbert/metrics.jsonl" 2>/dev/null || echo 0)"
  return $status
}

# All that there is so far: one file of JSON, one table.
write_all() {
  {
    printf '{"device": "%s", "driver": "%s", "capability": "%s", "commit": "%s", "results": [\n' "$name" "$driver" "$capability" "$(git rev-parse --short HEAD 2>/dev/null)"
    for stage in $all_stages; do cat "$out/$stage.jsonl" 2>/dev/null; done | sed '$!s/$/,/'
    echo ']}'
  } >"$out/gpu.json"
  awk -f tools/gpu_table.awk "$out/gpu.json" >"$out/table.txt"
}

check() {  # check FOLDER
  command -v nvidia-smi >/dev/null || { echo "gpu_check.sh: no nvidia-smi, so no device. FIX: run it where one is" >&2; return 1; }
  mkdir -p "$1"
  out=$(cd "$1" && pwd)
  IFS=, read -r name driver capability < <(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader | head -1)
  driver=${driver# } capability=$(tr -d ' .' <<<"$capability")
  for stage in $stages; do
    [[ " $all_stages " == *" $stage "* ]] || { echo "gpu_check.sh: no stage $stage. FIX: STAGES of: $all_stages" >&2; return 1; }
  done
  local failed=0 status start
  for stage in $all_stages; do
    wants "$stage" || continue
    start=$SECONDS
    if [ "${ADD:-0}" != 1 ]; then rm -f "$out/$stage.jsonl" "$out/$stage.txt"; fi
    touch "$out/$stage.jsonl" "$out/$stage.txt"
    echo "== $stage"
    "stage_$stage" > >(keep) 2>&1
    status=$?
    wait $! 2>/dev/null  # for the last lines
    line "\"kind\": \"stage\", \"name\": \"$stage\", \"passed\": $([ $status = 0 ] && echo true || echo false), \"seconds\": $((SECONDS - start))"
    if [ $status != 0 ]; then failed=1; fi
    (write_all)
  done
  cat "$out/table.txt"
  return $failed
}

case ${1:-} in
  -h | --help) sed -n '2,/^set -/ { /^set -/d; s/^# \{0,1\}//; p }' "${BASH_SOURCE[0]}" ;;
  --carry) carry "${2:?gpu_check.sh: --carry FOLDER}" ;;
  --selftest) exec bash tools/gpu_check_selftest.sh ;;
  *) check "${1:-build/gpu}" ;;
esac
