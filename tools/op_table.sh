#!/usr/bin/env bash
# Usage: op_table.sh          writes docs/ops.md: a line for each op and module, from the first sentences of their headers
#        op_table.sh --check  exits 1 where that would change
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What a header says first, up to the first full stop that ends a sentence. Headers of what ops and modules share begin with a
# capital letter and are left out.
first_sentence() {
  awk '
    /^#pragma once/ || /^\/\/$/ || /^\/\/   / { exit }
    { sub(/^\/\/ ?/, ""); text = text (text == "" ? "" : " ") $0 }
    END {
      if (text !~ /^[a-z-]/) exit
      if (match(text, /[^.]\.( [A-Z"`]|$)/)) text = substr(text, 1, RSTART)
      gsub(/\|/, "\\|", text)
      gsub(/</, "\\<", text)
      print text
    }' "$1"
}
table() {
  printf '| in `tx/%s/` | what it is |\n|---|---|\n' "$1"
  for header in include/tx/"$1"/*.hpp; do
    text=$(first_sentence "$header")
    [ -z "$text" ] || printf '| [%s](../%s) | %s |\n' "$(basename "$header" .hpp)" "$header" "$text"
  done
}
page() {
  cat <<'PAGE'
# Ops and modules

Written by `tools/op_table.sh` from the first sentences of the headers, which say more: shapes, gradients, errors. Axes are counted from 0, negative ones from
the end. `x`, `a`, `b` are tensors; arithmetic and comparisons broadcast as numpy does.

## Ops

PAGE
  table ops
  printf '\n## Modules\n\n'
  table nn
}

if [ "${1:-}" = --check ]; then
  if ! diff <(page) docs/ops.md; then
    echo "op_table.sh: docs/ops.md is not what the headers say. FIX: tools/op_table.sh"
    exit 1
  fi
else
  page >docs/ops.md
fi
