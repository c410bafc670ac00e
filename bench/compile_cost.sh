#!/usr/bin/env bash
# What compiling costs: user + system seconds, largest resident size, object size. Compares with the limits and exits 1 where
# one is passed. Limits on seconds are those of a machine that compiles reference.cpp in `reference` seconds (one core of a
# Zen 4 server); a slower or busier one is allowed as much more as it needs for that, and a sixth, by which two compilations of one
# file differ on a shared machine. Usage: bench/compile_cost.sh [COMPILER]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cxx=${1:-g++}
build=build/release
[ -f "$build/compile_commands.json" ] || cmake --preset release >/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
g++ -O1 -std=c++20 bench/compile_cost/measure.cpp -o "$work/measure"
flags=(@"$build/tests/compiler.flags" -O3)
failed=0
reference=5.0

limit() {  # limit WHAT VALUE MOST
  if awk "BEGIN { exit !($2 <= $3) }"; then verdict=ok; else verdict="OVER $3"; failed=1; fi
  printf '%-58s %12s   %s\n' "$1" "$2" "$verdict"
}
measure() {  # measure COMMAND...: sets seconds, kilobytes
  local out
  out=$("$work/measure" "$@") || { echo "failed: $*" >&2; exit 1; }
  read -r seconds kilobytes <<<"$out"
}
smaller() { printf '%s\n' "$1" "$2" | sort -n | head -n 1; }
faster_of_two() {  # faster_of_two measure COMMAND...: neighbours slow one down, nothing speeds one up
  local first
  "$@"
  first=$seconds
  "$@"
  seconds=$(smaller "$first" "$seconds")
}
compile() { measure "$cxx" "${flags[@]}" "${@:3}" -c "$1" -o "$2"; }  # compile SOURCE OBJECT FLAGS...

calibrate() {  # sets slower: this machine's time over the reference machine's, now, at least 1, and the sixth
  faster_of_two compile bench/compile_cost/reference.cpp "$work/reference.o"
  slower=$(awk "BEGIN { r = $seconds / $reference; print 7 / 6 * (r > 1 ? r : 1) }")
  printf '  %-56s %12s   limits on seconds x %.2f\n' "the standard library's part alone" "$seconds" "$slower"
}
limit_seconds() { limit "$1: seconds" "$2" "$(awk "BEGIN { print $3 * $slower }")"; }  # limit_seconds WHAT VALUE MOST

# In turns with what it is held against, so that a neighbour slows both: the smallest of each, of up to six rounds while it is too slow.
quiet='' including=''
for round in 1 2 3 4 5 6; do
  calibrate
  compile bench/compile_cost/include.cpp "$work/include.o"
  including=$(smaller "${including:-$seconds}" "$seconds")
  slower=$(smaller "${quiet:-$slower}" "$slower")
  quiet=$slower
  if awk "BEGIN { exit !($including <= 1.0 * $slower) }"; then break; fi
done
limit_seconds "#include <tx/tx.hpp>" "$including" 1.0

# As the build compiles them, objects and dependencies put elsewhere: the fastest of two rounds, or of up to five while that is too slow.
units=()
while IFS= read -r command; do units+=("$command"); done < <(ninja -C "$build" -t commands twinbert | grep -E ' -c ' | grep -v engine_of_ranks)
[ ${#units[@]} != 0 ] || { echo "the build knows no program twinbert" >&2; exit 1; }
fastest=() megabytes=()
largest=0
for round in 1 2 3 4 5; do
  total=0
  for k in "${!units[@]}"; do
    command=$(sed -E "s# -o [^ ]+# -o $work/unit.o#; s# -MF [^ ]+# -MF $work/unit.d#" <<<"${units[$k]}")
    measure bash -c "cd $build && $command"
    [ "$round" = 1 ] || seconds=$(smaller "${fastest[$k]}" "$seconds")
    fastest[k]=$seconds megabytes[k]=$((kilobytes / 1024))
    total=$(awk "BEGIN { print $total + $seconds }")
    if [ "$kilobytes" -gt "$largest" ]; then largest=$kilobytes; fi
  done
  before=$slower
  calibrate  # again: the machine may have become busier meanwhile
  slower=$(awk "BEGIN { print ($before + $slower) / 2 }")
  if [ "$round" -gt 1 ] && awk "BEGIN { exit !($total <= 33 * $slower) }"; then break; fi
done
for k in "${!units[@]}"; do printf '  %-56s %12s   %s MB\n' "$(sed -E 's#.*/([^/ ]+)$#\1#' <<<"${units[$k]}")" "${fastest[$k]}" "${megabytes[$k]}"; done
limit_seconds "TwinBERT trainer, all units" "$total" 33  # 28 on Zen 5, 32 on a Xeon
limit "TwinBERT trainer, largest unit: MB" $((largest / 1024)) 1536
# Beside them with RANKS, another unit of the same programs.
command=$(ninja -C "$build" -t commands twinbert | grep -E ' -c .*engine_of_ranks' | sed -E "s# -o [^ ]+# -o $work/unit.o#; s# -MF [^ ]+# -MF $work/unit.d#")
for round in 1 2; do
  measure bash -c "cd $build && $command"
  [ "$round" = 1 ] || seconds=$(smaller "$before" "$seconds")
  before=$seconds
done
limit_seconds "TwinBERT trainer, the unit for several processes" "$seconds" 25
limit "TwinBERT trainer, that unit: MB" $((kilobytes / 1024)) 1536

ratio() { awk "BEGIN { r = $1 / $2; print (r > 1 ? r : 1 / r) }"; }
# Two programs of one source, in turns, so that a neighbour slows both: sets s1 s2 (seconds, the smallest of two rounds, or of up to six
# while they are further apart than a tenth: noise only adds, so the smallest come together unless one really costs more), k1 k2, o1 o2.
both() {  # both NAME SOURCE FLAGS-OF-ONE FLAGS-OF-THE-OTHER
  local name=$1 source=$2 round k flags_of
  s1='' s2=''
  for round in 1 2 3 4 5 6; do
    if [ "$round" -gt 2 ] && awk "BEGIN { exit !($(ratio "$s1" "$s2") <= 1.1) }"; then break; fi
    for k in 1 2; do
      flags_of=$3
      [ $k = 1 ] || flags_of=$4
      # shellcheck disable=SC2086
      compile "$source" "$work/$name$k.o" $flags_of
      eval "k$k=$kilobytes o$k=$(stat -c %s "$work/$name$k.o") before=\$s$k"
      [ -z "$before" ] || seconds=$(smaller "$before" "$seconds")
      eval "s$k=$seconds"
    done
  done
  for k in 1 2; do
    "$cxx" "$work/$name$k.o" -pthread -o "$work/$name$k"
    eval "n$k='$("$work/$name$k")'"
    flags_of=$3
    [ $k = 1 ] || flags_of=$4
    eval "printf '  %-56s %12s   %s MB, object %s, %s\n' '$name $flags_of' \$s$k \$((k$k / 1024)) \$o$k \"\$n$k\""
  done
}
both "BERT-base" bench/compile_cost/bert.cpp -DLAYERS=2 -DLAYERS=12
limit "12 layers over 2 layers: seconds" "$(ratio "$s2" "$s1")" 1.1
limit "12 layers over 2 layers: memory" "$(ratio "$k2" "$k1")" 1.1
limit "12 layers over 2 layers: object size" "$(ratio "$o2" "$o1")" 1.1
limit "12 layers less 2 layers: kernels" $((${n2%% *} - ${n1%% *})) 0

for cell in gru lstm; do  # one body, whatever the number of moments
  both "$cell" bench/compile_cost/recurrent.cpp "-DCELL=$cell -DSTEPS=16" "-DCELL=$cell -DSTEPS=256"
  limit "$cell, 256 moments over 16: seconds" "$(ratio "$s2" "$s1")" 1.1
  limit "$cell, 256 moments over 16: memory" "$(ratio "$k2" "$k1")" 1.03
  limit "$cell, 256 moments over 16: object size" "$(ratio "$o2" "$o1")" 1.03
done

compile bench/compile_cost/unequal.cpp "$work/unequal.o"
limit_seconds "twelve unequal blocks without repeat" "$seconds" 120
limit "twelve unequal blocks without repeat: MB" $((kilobytes / 1024)) 4096

start=$(date +%s.%N)
"$cxx" "${flags[@]}" -DLAYERS=2 bench/compile_cost/bert.cpp -pthread -o "$work/edit"
"$work/edit" run >/dev/null
printf '%-58s %12s\n' "from an edit of the model to its first step: wall seconds" "$(awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $start }")"
exit $failed
