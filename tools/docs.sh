#!/usr/bin/env bash
# Usage: docs.sh             writes the API reference to build/docs/html; fails on a warning of Doxygen's, or if a comment is not in it
#        docs.sh --selftest  checks what makes headers readable for Doxygen (doxygen_filter.awk), without Doxygen
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
filter=$PWD/tools/doxygen_filter.awk
out=build/docs

# Letters and digits alone, as pages break lines and add marks.
bare_text() { sed -e 's/<[^<>]*>//g' -e 's/&[a-z]*;//g' -e 's/&#[0-9]*;//g' | tr -cd 'A-Za-z0-9\n'; }

# The lines of the headers' comments, "path<tab>text": of the heads as they stand there, of the others as the filter hands them on.
comments() {
  find include/tx -name '*.hpp' | LC_ALL=C sort | while IFS= read -r header; do
    { awk '/^#pragma once/ { exit } sub(/^\/\/ ?/, "")' "$header"
      awk -f "$filter" "$header" | sed -nE -e 's/\\code\{[^}]*\}|\\endcode|<br>//g' -e 's/.*\/\/\/<? (.*)/\1/p' | grep -vE '^.(file|ingroup)'
    } | sed -e 's/\\//g' -e 's/</\&lt;/g' | bare_text | sed "s|^|$header\t|"
  done
}

# Prints the comments that no page shows.
lost() {
  find "$out/html" -name '*.html' -print0 | xargs -0 cat | tr '\n' ' ' | bare_text >"$out/shown"
  comments | awk -F '\t' -v shown="$out/shown" '
    BEGIN { while ((getline line < shown) > 0) text = text line }
    $2 != "" && !index(text, $2) { print "docs.sh: no page shows this line of " $1 ": " $2; ++missing }
    END { if (!NR) { print "docs.sh: the headers have no comments"; missing = 1 } exit missing > 0 }'
}

reference() {
  command -v doxygen >/dev/null || { echo "docs.sh: doxygen is not installed (package doxygen)" >&2; return 1; }
  rm -rf "$out"
  mkdir -p "$out"
  local folder
  for folder in include/tx/*/; do
    folder=$(basename "$folder")
    printf '/**\n\\defgroup %s tx/%s\n' "$folder" "$folder"
    cat "include/tx/$folder/README.md" || return 1
    printf '*/\n'
  done >"$out/folders.dox"
  printf '/**\n\\defgroup tx tx\nWhat programs include, and what every header relies on.\n*/\n' >>"$out/folders.dox"
  TX_VERSION=$(sed -nE 's/^#define TX_VERSION_[A-Z]+ ([0-9]+)$/\1/p' include/tx/version.hpp | paste -sd.) doxygen docs/Doxyfile || return 1
  lost || return 1
  echo "docs: $out/html/index.html, of $(find include/tx -name '*.hpp' | wc -l) headers"
}

selftest() {
  local failed=0
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/include/tx/ops"
  filtered() {  # filtered HEADER-LINE...: behind a head that speaks of thing(x)
    printf '%s\n' '// thing(x): twice x.' '#pragma once' '' "$@" >"$work/include/tx/ops/thing.hpp"
    awk -f "$filter" "$work/include/tx/ops/thing.hpp" 2>&1
  }
  try() {  # try WHAT WANTED-LINE HEADER-LINE...
    local said
    said=$(filtered "${@:3}")
    grep -qxF -e "$2" <<<"$said" || { printf 'FAILED: %s\n  wanted: %s\n  said:\n%s\n' "$1" "$2" "$said"; failed=1; }
  }
  gone() {  # gone WHAT UNWANTED-TEXT HEADER-LINE...
    local said
    said=$(filtered "${@:3}")
    if grep -qF -e "$2" <<<"$said"; then printf 'FAILED: %s\n  unwanted: %s\n  said:\n%s\n' "$1" "$2" "$said"; failed=1; fi
  }
  try "the head is the file's" '/// thing(x): twice x.'
  try "the folder is the file's group" '/// \ingroup ops'
  try "and its declarations'" 'namespace tx { /** \folder{ops} */' 'namespace tx {' '}'
  try "to the end" '/** @} */ }  ' 'namespace tx {' '}  // namespace tx'
  try "a comment behind a type on a line" '/** one or two */ enum class e { one, two };  ' 'enum class e { one, two };  // one or two'
  gone "preprocessing in bodies" pragma 'int f() {' '#pragma GCC unroll 4' '  return 1;' '}'
  try "a comment before a declaration" '/// One [a] -\> two.' 'namespace tx {' '// One [a] -> two.' 'int f();' '}'
  try "a comment behind a member" '  int x = 0;  ///< zero: none' 'struct s {' '  int x = 0;  // zero: none' '};'
  try "that goes on" '              ///< and more' 'struct s {' '  int x = 0;  // zero: none' '              // and more' '  int y;' '};'
  try "a comment behind an enumerator" '  one,  ///< first' 'enum class e {' '  one,  // first' '  two' '};'
  try "words in ticks stay as they are" '/// Of `a<b>` and \<c\>.' '// Of `a<b>` and <c>.' 'int f();'
  try "an initial ends no sentence" '/// By J.\ Doe.' '// By J. Doe.' 'int f();'
  try "a line that ends a sentence" '/// One.<br>' '// One.' '// Two.' 'int f();'
  try "deeper lines are code" '/// \code{.cpp}   f(); \endcode' '// Say' '//   f();' 'int f();'
  try "bodies go" 'int f() {}' 'int f() { return 1; }'
  try "also where they hold braces in text" 'int f() {}' $'int f() { return g("}", \'}\', R"(})"); }'
  gone "comments in bodies" why 'int f() {' '  // why' '  return 1;  // why' '}'
  gone "a comment of its own" note '// A note.' '' 'int f();'
  try "the head's declaration" '/** \like{ops/thing.hpp} */ template <class T>' 'namespace tx {' 'template <class T>' 'T thing(T x) { return 2 * x; }' '}'
  try "with a default in braces" '/** \like{ops/thing.hpp} */ int thing(s x,' 'int thing(s x,' '          s y = {}) {' '}'
  try "one with a comment keeps it" 'int thing(int x);' '// Mine.' 'int thing(int x);'
  try "another is left alone" 'int other(int x);' 'int other(int x);'
  gone "detail namespaces" hidden 'namespace tx::detail {' '// The hidden.' 'int hidden();' '}'
  gone "specialisations" mine '// Of mine.' 'template <>' 'struct s<mine> {' '  int x;' '};'
  gone "static_asserts" four 'static_assert(sizeof(int) == 4,' '              "four");'
  gone "using-declarations" four '// The four.' 'using detail::four;'
  try "aliases stay" 'using four = int;' 'using four = int;'
  try "concepts stay" '  { t.f() } -> same_as<int>;' 'template <class T>' 'concept c = requires(T t) {' '  { t.f() } -> same_as<int>;' '};'
  gone "comments of private members" none 'class c {' '  int y = 0;  // none' '  // none' '  int z = 0;' '};'
  gone "those behind public ones" none 'class c {' ' public:' '  int x;' ' private:' '  int y = 0;  // none' '};'
  try "public ones" '  int y = 0;  ///< one' 'class c {' '  int x = 0;' ' public:' '  int y = 0;  // one' '};'
  try "what is wrong is said" "$work/include/tx/ops/thing.hpp:5: braces do not match" 'struct s {' '  int x;'
  [ $failed = 0 ] && echo "docs: all checks passed"
  return $failed
}

if [ "${1:-}" = --selftest ]; then selftest; else reference; fi
