#!/usr/bin/env bash
# Usage: run_tests.sh PRESET [CTEST-ARGUMENT...]
# Runs the preset's tests; the last line is CTest's count of them.
set -uo pipefail
preset=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ctest --preset "$preset" --no-tests=error "$@" 2>&1 | tee "$log"
status=$?
# The summary comes before the labels' times.
summary=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log")
echo "${summary:-0% tests passed, 1 tests failed out of 1}"
exit $status
