#!/usr/bin/env bash
# Usage: other_compiler.sh COMPILER        all headers in one unit, a warning being an error, and two examples that check themselves
#        other_compiler.sh COMPILER tests  every test but thorough ones, built in build/COMPILER and run
# Does another compiler than those of the presets take tx? COMPILER: clang++-15, clang++-16, or zig for the clang of the package ziglang, which
# is of another age, has its own libc++ and lies in build/zig.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=${1:?usage: other_compiler.sh clang++-15 | clang++-16 | zig [tests]}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compiler=$name
if [ "$name" = zig ]; then
  if [ ! -e build/zig/ready ]; then
    python3 -m venv build/zig
    build/zig/bin/pip -q install ziglang==0.17.1
    printf '#!/bin/sh\nexec "%s" -m ziglang c++ "$@"\n' "$PWD/build/zig/bin/python" >build/zig/bin/zig-c++
    chmod +x build/zig/bin/zig-c++
    touch build/zig/ready
  fi
  export ZIG_GLOBAL_CACHE_DIR=$PWD/build/zig/cache
  compiler=$PWD/build/zig/bin/zig-c++
fi
"$compiler" --version | head -n 1

if [ "${2:-}" = tests ]; then
  cmake -S . -B "build/$name" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DTX_WERROR=ON >"$work/said" || { cat "$work/said"; exit 1; }
  cmake --build "build/$name" -j "${JOBS:-$(nproc)}" --target tests programs -- -k 0
  ctest --test-dir "build/$name" -j 2 -L 'everyday|programs' --output-on-failure --no-tests=error | tail -n 40
  exit
fi

eigen=$(pkg-config --cflags-only-I eigen3 2>/dev/null | tr -d ' ' | sed 's/^-I//')
flags=(-std=c++20 -march=native -fconstexpr-steps=2000000000 -fconstexpr-depth=4096 -fbracket-depth=4096 -ftemplate-depth=2048
       -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude "-I$(dirname "$(dirname "$(ls build/*/generated/tx/all.hpp | head -n 1)")")"
       -isystem "${eigen:-/usr/include/eigen3}" -pthread)
(cd include && find tx -name '*.hpp' | grep -vE '^tx/backends/(cuda|hip)[_/.]' | sort | sed 's/.*/#include <&>/') >"$work/all.cpp"
"$compiler" "${flags[@]}" -O0 -c "$work/all.cpp" -o "$work/all.o"
for example in 01_classifier 15_recurrent; do
  "$compiler" "${flags[@]}" -O1 "examples/$example/main.cpp" -o "$work/$example"
  (cd "$work" && "./$example" >"$work/said" 2>&1) || { cat "$work/said"; exit 1; }
done
