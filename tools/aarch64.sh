#!/usr/bin/env bash
# Usage: aarch64.sh FOLDER
# Builds the tests of a folder, as tests/cpu, for aarch64 with Debian's cross compiler, and runs them in its emulator. Needs a configured build, for
# the headers that it writes.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
folder=$1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Headers of the libraries alone: those of this machine's C library must not be found.
mkdir "$work/include"
for library in catch2 nlohmann eigen3/Eigen eigen3/unsupported; do
  [ -d "/usr/include/$library" ] || { echo "aarch64.sh: /usr/include/$library is missing; run tools/setup.sh check"; exit 1; }
  ln -s "/usr/include/$library" "$work/include/"
done
generated=
for generated in build/*/generated; do [ -d "$generated" ] && break; done
[ -d "$generated" ] || { echo "aarch64.sh: no build is configured; run cmake --preset ci"; exit 1; }

compile() {  # compile SOURCE OBJECT
  aarch64-linux-gnu-g++ -std=c++20 -O1 -pthread -Wall -Wextra -Wconversion -Wshadow -Werror -ffp-contract=off -fconstexpr-ops-limit=4000000000 \
    -fconstexpr-loop-limit=100000000 -fconstexpr-depth=4096 -ftemplate-depth=2048 -Iinclude "-I$generated" -isystem "$work/include" \
    "-DTX_TEST_DIR=\"$PWD/$folder\"" -DTX_WORTH_THREADS=1 -c "$1" -o "$2"
}

objects=()
for source in tests/main.cpp tests/interpreter/*.cpp "$folder"/*.cpp; do
  object=$work/$(tr / _ <<<"$source").o
  compile "$source" "$object" || exit 1
  objects+=("$object")
done
aarch64-linux-gnu-g++ "${objects[@]}" -pthread -o "$work/tests" && qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/tests" '~[.]'
