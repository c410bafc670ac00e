#!/usr/bin/env bash
# Usage: op_table.sh          writes docs/ops.md: a line for each op, module and what programs are made of, from the first sentences of their headers
#        op_table.sh --check  exits 1 where that would change
# Either exits 1 where the line of an op or a module does not say shapes, "[..., K] -> [..., N]", or an op has no line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What passes, gradients and shards record, and no user writes.
internal=(ops/copy ops/fitting_power ops/gather_all ops/join dist/shard_add dist/swap_ranks dist/begun)
# A line without shapes, or an op without a line, and why.
exempt() {
  case $1 in
    ops/attention) echo "nn/attend and nn/attend_packed are its front ends" ;;
    ops/constant) echo "a number, which arithmetic with tensors records" ;;
    ops/elementwise) echo "what ops of that kind share" ;;
    nn/lora) echo "takes and gives what the model does that it wraps" ;;
    nn/taught_by) echo "of numbers of layers" ;;
    *) return 1 ;;
  esac
}
is_internal() { [[ " ${internal[*]} " == *" $1 "* ]]; }

# What a header says first, up to the first full stop that ends a sentence. Headers of what ops and modules share begin with a
# capital letter and are left out.
first_sentence() {
  awk '
    /^#pragma once/ || /^\/\/$/ || /^\/\/   / { exit }
    { sub(/^\/\/ ?/, ""); text = text (text == "" ? "" : " ") $0 }
    END {
      if (text !~ /^[a-z-]/) exit
      if (match(text, /[^.]\.( [A-Z"`]|$)/)) text = substr(text, 1, RSTART)
      sub(/:$/, "", text)
      gsub(/\|/, "\\|", text)
      gsub(/</, "\\<", text)
      print text
    }' "$1"
}
line() {
  local text
  text=$(first_sentence "include/tx/$1.hpp")
  [ -z "$text" ] || printf '| [%s](../include/tx/%s.hpp) | %s |\n' "${1##*/}" "$1" "$text"
}
names() { for header in include/tx/"$1"/*.hpp; do echo "$1/$(basename "$header" .hpp)"; done; }
table() {
  printf '| in `tx/%s/` | what it is |\n|---|---|\n' "$1"
  for name in $(names "$1"); do is_internal "$name" || line "$name"; done
}
page() {
  cat <<'PAGE'
# Ops and modules

Written by `tools/op_table.sh` from the first sentences of the headers, which say more: shapes, gradients, errors. Axes are counted from 0, negative ones from
the end. `x`, `a`, `b` are tensors; arithmetic and comparisons broadcast as numpy does. Behind a sentence stand shapes, of what is given and of what comes of it:
`[...]` are any extents, `[4, 1], [3] -> [4, 3]` is an example. A scalar has no extents; a type is named where it is not that of what is given.

## Ops

PAGE
  table ops
  printf '\n## Modules\n\n'
  table nn
  printf '\n## Parts of a program\n\nHandles and parameters, loops, numbers that are set between runs, what is chosen by name.\n\n'
  table expr
  printf '\nGradients within a program.\n\n'
  table autodiff
  printf '\n## Programs\n\nInference.\n\n'
  table step
  printf '\nTraining: steps, their options, optimizers.\n\n'
  table train
  printf '\nOn several devices or machines.\n\n'
  table dist
  printf '\n## Internal\n\nWhat passes, gradients and shards record; no user writes these.\n\n| op | what it is |\n|---|---|\n'
  for name in "${internal[@]}"; do line "$name"; done
}

wrong=0
tell() {
  echo "op_table.sh: include/tx/$1.hpp: $2"
  wrong=1
}
check_shapes() {
  local text name
  for name in $(names ops) $(names nn); do
    is_internal "$name" && continue
    text=$(first_sentence "include/tx/$name.hpp")
    if [[ $text == *" -> "* ]]; then
      if exempt "$name" >/dev/null; then tell "$name" "it says shapes and is on the list of those that need not. FIX: take it off the list in tools/op_table.sh"; fi
    elif [ -n "$text" ]; then
      exempt "$name" >/dev/null || tell "$name" "its first sentence does not say shapes. FIX: \"[...] -> the same.\" behind it, or what is right, or a reason in tools/op_table.sh"
    elif grep -q 'constexpr op_info' "include/tx/$name.hpp"; then
      exempt "$name" >/dev/null || tell "$name" "an op without a line in docs/ops.md. FIX: begin its comment with its name, as \"tanh(x). [...] -> the same.\""
    fi
  done
}
check_shapes

if [ "${1:-}" = --check ]; then
  if ! diff <(page) docs/ops.md; then
    echo "op_table.sh: docs/ops.md is not what the headers say. FIX: tools/op_table.sh"
    wrong=1
  fi
else
  page >docs/ops.md
fi
exit "$wrong"
