#!/usr/bin/env bash
# Usage: coverage.sh [TARGET...]             builds TARGETs (default: tests programs), runs the tests that there are then, and
#                                            reports which lines of include/tx they run
#        coverage.sh --selftest COMPILER     counts the lines of a program that is known
# COVERAGE_MIN (percent, default 90): below it the report fails. JOBS: compilations at once. GCOV: the compiler's gcov.
# What only constant evaluation runs is in no object file, and so not counted: tests that call it at run time add it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

report() {  # report OBJECTS HEADERS MINIMUM
  python3 tools/coverage.py --gcov "${GCOV:-gcov}" --objects "$1" --below "$2" --minimum "$3"
}

selftest() {
  local failed=0
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/include"
  # Five lines that can run. The first is in two instances of the template, of which one runs; with what that returns, two do.
  cat >"$work/include/halves.hpp" <<'SOURCE'
template <bool Left>
int half(int x) {
  if (Left)
    return x;
  int const y = x / 2;
  return y;
}
inline int unused(int x) { return x; }
SOURCE
  cat >"$work/main.cpp" <<'SOURCE'
#include "include/halves.hpp"
int main(int count, char**) { return half<true>(count) == 1 && count < 2 ? 0 : half<false>(unused(count)); }
SOURCE
  (cd "$work" && "$1" --coverage -O0 main.cpp -o program && ./program) || { echo "FAILED: the program"; return 1; }
  expect() {  # expect WHAT STATUS TEXT MINIMUM
    local said status=0
    said=$(report "$work" "$work/include" "$4") || status=1
    [ $status = "$2" ] && [[ $said == *"$3"* ]] || { printf 'FAILED: %s\n%s\n' "$1" "$said"; failed=1; }
  }
  expect "lines of both instances are one line" 0 "2 of 5 lines, 40.0%" 40
  expect "what is not run" 0 "halves.hpp: 3 not run: 5, 6, 8" 40
  expect "a threshold that is missed" 1 "40.0% is below the 41%" 41
  rm "$work"/*.gcda
  expect "nothing was run" 1 "no counts" 0
  [ $failed = 0 ] && echo "coverage: all checks passed"
  return $failed
}

if [ "${1:-}" = --selftest ]; then
  selftest "${2:-c++}"
  exit
fi

[ $# -gt 0 ] || set -- tests programs
cmake --preset coverage >/dev/null || exit 1
find build/coverage -name '*.gcda' -delete  # counts of earlier runs would be added to
cmake --build --preset coverage -j "${JOBS:-$(nproc)}" --target "$@" || exit 1
failed=0
tools/run_tests.sh coverage -j 2 -L 'everyday|programs' -E '^(fail|refused|tools|data|example)[.]' || failed=1
report build/coverage include/tx "${COVERAGE_MIN:-90}" || failed=1
exit $failed
