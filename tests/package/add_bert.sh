#!/usr/bin/env bash
# What tx_add_bert refuses, and that it says so while CMake configures.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

refused() {  # refused TEXT ARGUMENT...: tx_add_bert(small ARGUMENT...) says TEXT
  printf 'cmake_minimum_required(VERSION 3.21)\ninclude(%s/../../cmake/TxAddBert.cmake)\ntx_add_bert(small %s)\n' "$here" "${*:2}" >"$work/case.cmake"
  if cmake -P "$work/case.cmake" >"$work/said" 2>&1; then
    echo "tx_add_bert(small ${*:2}) was taken" && failed=1
  elif ! tr -s ' \n' ' ' <"$work/said" | grep -qF -- "$1"; then
    echo "tx_add_bert(small ${*:2}) did not say: $1" && cat "$work/said" && failed=1
  fi
}

minilm=$here/../../examples/bert/minilm.json
refused "there is no $work/none.json. FIX: the config.json" "$work/none.json"
refused "a head sequence=1 is not known" "$minilm" HEADS sequence=1
refused "a program has one head of a kind" "$minilm" HEADS sequence=2 sequence=3
refused "regression is one for whole texts as sequence=N is" "$minilm" HEADS sequence=2 regression
refused "LENGTHS are one number or two" "$minilm" HEADS embed LENGTHS 64 128 256
refused "all from 1 on" "$minilm" HEADS embed BATCH many
refused "all from 1 on" "$minilm" HEADS pretrain PREDICTIONS 0
refused "texts that are learned from are no longer than others" "$minilm" HEADS embed LENGTHS 128 64
refused "the model's 512 positions" "$minilm" HEADS embed LENGTHS 600
refused "HIDDEN_STATES are a teacher's. FIX: TEACHER config.json" "$minilm" HEADS sequence=2 HIDDEN_STATES
refused "LAYERS;3 is not known" "$minilm" LAYERS 3
echo '{"model_type": "gpt2"}' >"$work/gpt2.json"
refused "is of a model gpt2; known are bert, roberta, distilbert and electra" "$work/gpt2.json"
sed 's/"hidden_act": "gelu"/"hidden_act": "relu"/' "$minilm" >"$work/relu.json"
refused "is relu; known is gelu" "$work/relu.json"
exit $failed
