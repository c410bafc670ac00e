#!/usr/bin/env bash
# Usage: fetch.sh PROGRAM
# examples/twinbert/data/fetch.sh without a network: it says what to do, leaves what is there, and does not succeed.
set -uo pipefail
prepare=$1
fetch=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/examples/twinbert/data/fetch.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
check() {  # check WHAT STATUS
  [ "$2" = 0 ] && echo "ok: $1" || { echo "FAILED: $1"; sed 's/^/  /' "$work/said"; failed=1; }
}

mkdir "$work/bin"
printf '#!/bin/sh\ncase "$*" in *indextargets*) exit 0 ;; esac\necho "E: Could not resolve" >&2\nexit 100\n' >"$work/bin/apt-get"
chmod +x "$work/bin/apt-get"
fetched() { PATH=$work/bin:$PATH TWINBERT_DATA=$prepare bash "$fetch" "$@" >"$work/said" 2>&1; }

fetched "$work/out"
[ $? = 1 ]; check "no network: exit status 1" $?
grep -q 'could not download the package indexes. Check the network' "$work/said"; check "no network: what to do" $?
[ ! -e "$work/out/train.tsv" ]; check "no network: no pairs" $?

mkdir -p "$work/kept"
printf 'a query\ta document\n' >"$work/kept/train.tsv"
echo 1 >"$work/kept/seed"
fetched "$work/kept"; check "pairs of the same seed: nothing to do" $?
grep -q 'already' "$work/said"; check "pairs of the same seed: said" $?
fetched "$work/kept" 2
[ $? = 1 ]; check "another seed without a network: exit status 1" $?
grep -q 'a query' "$work/kept/train.tsv"; check "another seed without a network: the old pairs stay" $?

TWINBERT_DATA=$work/none bash "$fetch" "$work/other" >"$work/said" 2>&1
[ $? = 1 ]; check "program not built: exit status 1" $?
grep -q 'is not built' "$work/said"; check "program not built: said" $?
exit $failed
