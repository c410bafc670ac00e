#!/usr/bin/env bash
# Usage: drawn_compiled.sh [K [SEED]]
# Compiles K (2) drawn programs, those behind SEED (from the date, so that each day has others), as real programs for cpu, reference and the
# interpreted device, runs them and compares with the evaluator. DRAWN_SEEDS is a built drawn_seeds; else it is compiled. The exit status is 1
# if a program differs or does not compile; what was compiled stays then, in build/drawn.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
count=${1:-2}
seed=${2:-$(($(date -u +%s) / 86400 * 1000))}
compiler=${CXX:-g++}
work=build/drawn
mkdir -p "$work"
flags=(-std=c++20 -march=native -ffp-contract=off -pthread -Iinclude -Itests)
if [ "$compiler" = g++ ]; then flags+=(-fconstexpr-ops-limit=4000000000 -fconstexpr-loop-limit=100000000 -fconstexpr-depth=4096 -ftemplate-depth=2048)
else flags+=(-fconstexpr-steps=2000000000 -fconstexpr-depth=4096 -fbracket-depth=4096 -ftemplate-depth=2048); fi

drawn=${DRAWN_SEEDS:-$work/drawn_seeds}
"$compiler" "${flags[@]}" -O1 -c tests/interpreter/evaluator.cpp -o "$work/evaluator.o" || exit 1
if [ -z "${DRAWN_SEEDS:-}" ]; then
  "$compiler" "${flags[@]}" -O1 tests/drawn/alone/drawn_seeds.cpp tests/drawn/check.cpp tests/drawn/planned.cpp "$work/evaluator.o" -o "$drawn" || exit 1
fi
failed=0
done=0
for ((s = seed; done < count && s < seed + 100 * count; ++s)); do
  text=$("$drawn" "$s" $((s + 1)) print) || exit 1
  [ -n "$text" ] || continue
  done=$((done + 1))
  source=$work/program_$s.cpp
  printf '#include "drawn/compiled.hpp"\n\n%s\n\nint main() { return drawn::agrees_everywhere<program_%s>() ? 0 : 1; }\n' "$text" "$s" >"$source"
  if "$compiler" "${flags[@]}" -O1 -w "$source" "$work/evaluator.o" -o "$work/program_$s" && "$work/program_$s"; then
    rm -f "$source" "$work/program_$s"
  else
    echo "drawn_compiled.sh: seed $s fails: $source"
    failed=1
  fi
done
echo "$done drawn programs compiled"
[ "$failed" = 0 ] && [ "$done" = "$count" ]
