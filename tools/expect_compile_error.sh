#!/usr/bin/env bash
# Usage: expect_compile_error.sh FILE COMPILER [ARGUMENT...]
#        expect_compile_error.sh --selftest COMPILER [ARGUMENT...]
# Succeeds if FILE does not compile and the first 40 lines of the compiler's output contain, in order, the text of every
# line `// expect: text` in the comments that FILE begins with, and in any order that of every `// expect somewhere: text`. Where they
# say `// within N lines` the first N do; where they say `// several errors` the compiler goes on after the first, whatever the arguments.
set -uo pipefail

expect_error() {
  local file=$1 expected rest text reached
  shift
  reached=$(awk '!/^[ \t]*(\/\/|$)/ { exit } /^\/\/ within [0-9]+ lines$/ { print $3 }' "$file")
  reached=${reached:-40}
  expected=$(awk '!/^[ \t]*(\/\/|$)/ { exit } sub(/^[ \t]*\/\/ expect: /, "") { sub(/[ \t\r]+$/, ""); print }' "$file")
  [ -n "$expected" ] || { echo "$file: begins with no line '// expect: text'"; return 1; }
  if grep -q '^// several errors$' "$file"; then set -- "$@" -Wno-fatal-errors; fi
  if LC_ALL=C "$@" -fsyntax-only "$file" >"$output" 2>&1; then
    echo "$file: compiles, but must not"
    return 1
  fi
  rest=$(head -n $reached "$output")
  while IFS= read -r text; do
    case $rest in
      *"$text"*) rest=${rest#*"$text"} ;;
      *)
        echo "$file: the first $reached lines of the compiler's output lack, or have in another order:"
        printf '  %s\nThe output begins:\n' "$text"
        head -n $reached "$output" | cut -c1-400
        return 1
        ;;
    esac
  done <<<"$expected"
  rest=$(head -n $reached "$output")
  while IFS= read -r text; do
    case $rest in
      *"$text"*) ;;
      *)
        echo "$file: the first $reached lines of the compiler's output lack:"
        printf '  %s\nThe output begins:\n' "$text"
        head -n $reached "$output" | cut -c1-400
        return 1
        ;;
    esac
  done <<<"$(awk '!/^[ \t]*(\/\/|$)/ { exit } sub(/^[ \t]*\/\/ expect somewhere: /, "") { sub(/[ \t\r]+$/, ""); print }' "$file")"
}

selftest() {
  local failed=0 file=$work/case.cpp
  try() {  # try WHAT WANTED-STATUS SOURCE-LINE...
    local what=$1 wanted=$2 status=0
    shift 2
    printf '%s\n' "$@" >"$file"
    expect_error "$file" "${compiler[@]}" >"$work/said" || status=1
    [ $status = "$wanted" ] || { echo "FAILED: $what"; cat "$work/said"; failed=1; }
  }
  local bad='static_assert(sizeof(int) == 1, "first [2, *] second");'
  try "the text is found" 0 '// A comment.' '// expect: first [2, *]' '// expect: second' '' "$bad"
  try "the order matters" 1 '// expect: third' '// expect: first' "$bad" 'static_assert(sizeof(int) == 2, "third");'
  try "missing text" 1 '// expect: third' "$bad"
  try "somewhere, in any order" 0 '// expect: second' '// expect somewhere: first' "$bad"
  try "nowhere" 1 '// expect: second' '// expect somewhere: third' "$bad"
  compiler+=(-Wfatal-errors)
  try "nothing after the first error" 1 '// expect: first' '// expect: third' "$bad" 'static_assert(sizeof(int) == 2, "third");'
  try "several errors" 0 '// several errors' '// expect: first' '// expect: third' "$bad" 'static_assert(sizeof(int) == 2, "third");'
  try "too many lines before it" 1 '// within 2 lines' '// expect: third' "$bad" 'static_assert(sizeof(int) == 2, "third");'
  try "few lines before it" 0 '// within 2 lines' '// expect: first' "$bad"
  try "it compiles" 1 '// expect: first' 'int x;'
  try "nothing expected" 1 '// A comment.' "$bad"
  try "expected too late" 1 'int x;' '// expect: first' "$bad"
  [ $failed = 0 ] && echo "expect_compile_error: all checks passed"
  return $failed
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$work/output
file=$1
shift
compiler=("$@")
if [ "$file" = --selftest ]; then selftest; else expect_error "$file" "${compiler[@]}"; fi
