#!/usr/bin/env bash
# Usage: check_readme.sh README COMPILER [FLAGS...]
# Compiles the whole program in the README, with data for its `batches` and a `report` that prints, and runs it.
set -euo pipefail
readme=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^<!-- a whole program -->/ { found = 1; next } found && /^```cpp/ { inside = 1; next } inside && /^```/ { exit }
     inside && /^struct/ && !given {
       given = 1
       print "#include <cstdio>\n#include <utility>\n#include <vector>"
       print "std::vector<std::pair<std::vector<float>, std::vector<tx::i32>>> const batches(3, {std::vector<float>(32 * 784, 0.5f), std::vector<tx::i32>(32, 4)});"
       print "void report(float loss) { std::printf(\"%g\\n\", static_cast<double>(loss)); }"
     }
     inside' "$readme" >"$work/program.cpp"
grep -q 'int main' "$work/program.cpp" || { echo "check_readme: no program in $readme" >&2; exit 1; }
"$@" -O1 "$work/program.cpp" -o "$work/program"
losses=$("$work/program")
echo "$losses"
awk '!/^[0-9.e+-]+$/ || (NR > 1 && $1 + 0 >= before) { bad = 1 } { before = $1 + 0 } END { exit bad || NR != 3 }' <<<"$losses" || { echo "check_readme: three losses that fall were expected" >&2; exit 1; }
