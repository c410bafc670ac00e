#!/usr/bin/env bash
# Usage: gpu_check_selftest.sh    runs gpu_check.sh on a device, compilers and programs that are made up, some of which fail, and looks at what it says of them
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
real_python=$(command -v python3)
unset STAGES COMPARE ADD SHAPES SIZES LIMIT PREFIX JOBS TRAIN_SECONDS
mkdir -p "$folder/path" "$folder/build/bin"
program() {  # program PATH: its text from standard input
  { echo '#!/usr/bin/env bash'; cat; } >"$folder/$1"
  chmod +x "$folder/$1"
}

program path/nvidia-smi <<'END'
if [ "$1" = --list-gpus ]; then echo "GPU 0"; else echo "NVIDIA H200, 580.1, 9.0"; fi
END
program path/cmake <<'END'
echo "cmake $*"
END
program path/ctest <<'END'
echo " 1/2 Test  #7: cuda.streams ..................   Passed    1.20 sec"
echo " 2/2 Test #12: cuda.twinbert_step ............***Failed    0.30 sec"
exit 8
END
program path/compute-sanitizer <<'END'
echo "========= ERROR SUMMARY: 0 errors"
END
program path/python3 <<'END'
[ "$1" = -c ] && exit 0
script=$1 && shift
while [ $# -gt 0 ]; do case $1 in --*) declare "${1#--}=$2"; shift 2 ;; *) shift ;; esac; done
case $script in
  *peer_step.py)
    if [ "$peer" = jax ] && [ "$seq" = 512 ]; then printf 'a line\nno \\"memory\\" for that\n' >&2 && exit 1; fi
    t=0.040 && [ "$peer" = torch ] && t=0.030
    echo "{\"kind\": \"step\", \"peer\": \"$peer\", \"model\": \"$model\", \"batch\": $batch, \"seq\": $seq, \"median_s\": $t, \"peak_bytes\": 10000000000, \"loss\": [0.7, 0.6]}" ;;
  *fused_ops.py) echo "{\"kind\": \"fused\", \"peer\": \"$peer\", \"op\": \"softmax_forward\", \"mb\": $mb, \"seconds\": 1, \"gb_per_s\": 2, \"copy_gb_per_s\": 3, \"of_copy\": 0.700}" ;;
esac
END
for shape in base_128_128 base_32_512 large_64_128 large_16_512; do
  program "build/bin/device_step_$shape" <<'END'
IFS=_ read -r _ _ model batch seq <<<"${0##*/}"
at="\"model\": \"$model\", \"batch\": $batch, \"seq\": $seq"
for word; do
  if [ "$word" = --repeat ]; then echo "{\"kind\": \"same\", \"what\": \"$model twice\", \"losses\": true, \"parameters\": true, \"loss\": [0.7, 0.6]}" && exit; fi
done
t=0.025 && [ -n "${TX_CUDA_ALGORITHMS:-}" ] && t=0.020 && [ "$model" = large ] && t=0.028
echo "{\"kind\": \"step\", \"peer\": \"tx\", $at, \"median_s\": $t, \"start_us\": 61.0, \"planned_bytes\": 5500000000, \"loss\": [0.7, 0.6]}"
[[ " $* " == *" --profile "* ]] || exit 0
echo "{\"kind\": \"roofline\", $at, \"what\": \"products\", \"calls\": 100, \"measured_s\": 0.010000, \"predicted_s\": 0.009000, \"measured_over_predicted\": 1.111}"
echo "{\"kind\": \"roofline\", $at, \"what\": \"rows\", \"calls\": 20, \"measured_s\": 0.003000, \"predicted_s\": 0.002000, \"measured_over_predicted\": 1.500}"
echo "all kernels: 13 ms"
END
done
for shape in base_128_128 base_32_512 large_64_128 large_16_512; do
  program "build/bin/device_step_e4m3_$shape" <<'END'
IFS=_ read -r _ _ _ model batch seq <<<"${0##*/}"
for word; do
  if [ "$word" = --repeat ]; then echo "{\"kind\": \"same\", \"what\": \"$model of E4M3 twice\", \"losses\": true, \"parameters\": true, \"loss\": [0.7, 0.6]}" && exit; fi
done
echo "{\"kind\": \"step\", \"peer\": \"tx\", \"model\": \"$model\", \"batch\": $batch, \"seq\": $seq, \"dtype\": \"e4m3\", \"median_s\": 0.018, \"start_us\": 40.0, \"planned_bytes\": 5000000000, \"loss\": [0.7, 0.6]}"
END
done
for mb in 1 16 64 256 1024; do
  program "build/bin/device_fused_$mb" <<'END'
mb=${0##*_}
echo "{\"kind\": \"fused\", \"peer\": \"tx\", \"op\": \"softmax_forward\", \"mb\": $mb, \"seconds\": 0.1, \"gb_per_s\": 3900, \"copy_gb_per_s\": 4000, \"of_copy\": 0.$((mb == 64 ? 85 : 97))0}"
END
done
program build/bin/twinbert <<'END'
command=$1 && shift
while [ $# -gt 0 ]; do case $1 in --pairs | --out | --model) declare "${1#--}=$2"; shift 2 ;; *) shift ;; esac; done
[ -s "$pairs" ] || exit 3
case $command in
  train) mkdir -p "$out" && echo same >"$out/model.safetensors" && echo '{"step": 1}' >"$out/metrics.jsonl" ;;
  eval) printf '%s\n' "$model" "  $pairs  AUC 0.9876 over 2000 pairs  recall@1 0.5 of 1000 documents" ;;
esac
END

failed=0
out=$folder/out
run() { PATH="$folder/path:$PATH" BUILD="$folder/build" PAIRS="$folder/none" ROUNDS=1 "$@" bash tools/gpu_check.sh "$out" >"$folder/said" 2>&1; }
expect() {  # expect FILE PATTERN
  grep -Eq -- "$2" "$out/$1" || { echo "gpu_check: $1 has nothing like: $2"; failed=1; }
}
run env && { echo "gpu_check: tests failed, and the exit status is 0"; failed=1; }
expect build.txt 'TX_CUDA_ARCHITECTURES=90'
expect build.txt 'target device_tests device_step_base_128_128 .*device_fused_1024 twinbert'
expect table.txt '^NVIDIA H200, driver 580.1'
expect table.txt '^tests +FAILED in'
expect table.txt '^train +passed in'
expect table.txt 'cuda.streams +Passed in 1.20 s'
expect table.txt 'cuda.twinbert_step +\*\*\*Failed in 0.30 s'
expect table.txt 'compute-sanitizer wide_rows +nothing found'
expect table.txt 'base twice +losses the same, parameters the same'
expect table.txt 'base of E4M3 twice +losses the same, parameters the same'
expect table.txt 'base +128 x 128 +tx-e4m3 +18.00 ms'
expect table.txt 'compute-sanitizer library_step +nothing found'
expect table.txt 'TwinBERT, 40 steps twice +parameters the same'
expect table.txt 'base +128 x 128 +tx +25.00 ms +655360 tokens/s +5.50 GB, started in 61.0 us \(MORE\)'
expect table.txt 'tx-measured over torch: 1.50 times as fast in 0.55 of its memory$'
expect table.txt 'tx over torch: 1.20 times as fast \(LESS\) in 0.55 of its memory$'
expect table.txt 'jax, base 32 x 512: exit status 1, no memory for that'
expect table.txt '^steps +passed in'
expect table.txt 'rows +20 calls +3.000 ms 1.500 \(OFF\)'
expect table.txt 'products +100 calls +10.000 ms 1.111$'
expect table.txt 'softmax_forward +tx +0.970 +0.970 +0.850! +0.970 +0.970'
expect table.txt 'softmax_forward +torch-compile +0.700'
expect table.txt 'tx reaches 0.9 in 2 of 3 from 64 MB on'
expect table.txt 'TwinBERT trained on the device: AUC 0.9876 over 2000 pairs .* on made_up.tsv'
expect kernels.txt '^all kernels: 13 ms'
if [ -n "$real_python" ]; then
  "$real_python" -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["device"] == "NVIDIA H200" and len(d["results"]) > 60, len(d["results"])' "$out/gpu.json" || failed=1
fi
# Stages by themselves: what others have found stays, what they have found before does not.
lines=$(wc -l <"$out/gpu.json")
run env STAGES="fused same" COMPARE=0 || { echo "gpu_check: all is well, and the exit status is not 0"; failed=1; }
expect table.txt 'cuda.streams +Passed'
grep -q 'softmax_forward *torch' "$out/table.txt" && { echo "gpu_check: a stage that ran again has lines of before"; failed=1; }
[ "$(wc -l <"$out/gpu.json")" -lt "$lines" ] || { echo "gpu_check: gpu.json keeps what was replaced"; failed=1; }
# What is added.
run env STAGES="fused" SIZES=64 COMPARE=jax ADD=1 || { echo "gpu_check: all is well with what is added, and the exit status is not 0"; failed=1; }
expect table.txt 'softmax_forward +jax +- +- +0.700'
expect table.txt 'softmax_forward +tx +0.970'
grep -q 'softmax_forward *torch' "$out/table.txt" && { echo "gpu_check: others were not asked for"; failed=1; }
run env STAGES="build steps" SHAPES=base_128_128 COMPARE=0 E4M3=0 || { echo "gpu_check: all is well without E4M3, and the exit status is not 0"; failed=1; }
grep -q 'tx-e4m3' "$out/table.txt" && { echo "gpu_check: E4M3 was not asked for"; failed=1; }
run env STAGES="nothing" && { echo "gpu_check: takes a stage that is none"; failed=1; }
if [ $failed = 0 ]; then
  echo "gpu_check: all checks passed"
else
  echo "--- what it said:"
  cat "$folder/said"
  echo "--- its table:"
  cat "$out/table.txt"
fi
exit $failed
