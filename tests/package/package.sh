#!/usr/bin/env bash
# Usage: package.sh installed|subdirectory SOURCE BUILD WORK [CMAKE-ARGUMENT...]
# Builds examples/07_own_project, as a project outside tx's tree, against tx as BUILD installs it or with add_subdirectory(SOURCE),
# and runs it: it must learn. Then edits the application: the model must not be compiled again. WORK is emptied first.
set -euo pipefail
way=$1 source=$2 build=$3 work=$4
shift 4

die() { printf 'package.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work"
cp -r "$source/examples/07_own_project" "$work/application"
arguments=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@")

case $way in
  installed)
    cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; die "cmake --install failed"; }
    mv "$work/first" "$work/prefix"  # a package may be moved
    version=$(sed -nE 's/^#define TX_VERSION_[A-Z]+ ([0-9]+)$/\1/p' "$source/include/tx/version.hpp" | paste -sd.)
    grep -qF "set(PACKAGE_VERSION \"$version\")" "$work/prefix/share/cmake/tx/txConfigVersion.cmake" || die "the package is not version $version"
    ! grep -rqF -e "$source" -e "$build" -e -march= "$work/prefix/share/cmake" --include='*Targets*.cmake' --include='*Config*.cmake' ||
      die "the package names a folder or a processor of the machine it was made on"
    cmake -S "$work/application" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" "${arguments[@]}"
    ! grep -qF -e "$source/include" -e "$build/generated" "$work/build/compile_commands.json" || die "not the installed headers are used"
    program=$work/build/07_own_project
    tree=("$work/application" -DCMAKE_PREFIX_PATH="$work/prefix")
    ;;
  subdirectory)
    cmake -S "$source/tests/package/subdirectory" -B "$work/build" -DTX="$source" -DAPPLICATION="$work/application" "${arguments[@]}"
    tree=("$source/tests/package/subdirectory" -DTX="$source" -DAPPLICATION="$work/application")
    program=$work/build/application/07_own_project
    ;;
  *) die "unknown way $way" ;;
esac

cmake -S "${tree[0]}" -B "$work/plain" "${tree[@]:1}" -DCMAKE_BUILD_TYPE= >"$work/log" 2>&1 || { cat "$work/log"; die "no build type"; }
tr -s ' \n' ' ' <"$work/log" | grep -qF 'FIX: -DCMAKE_BUILD_TYPE=Release' || die "nobody says that kernels are not optimized"
! cmake "$work/build" 2>&1 | grep -qF 'CMAKE_BUILD_TYPE=Release' || die "an optimized build is warned too"

commands=$(grep -F '"command"' "$work/build/compile_commands.json")
grep -F spiral_model.cpp <<<"$commands" | grep -qE -e '-fconstexpr-(ops-limit|steps)=' || die "the limits of constant evaluation are missing"
! grep -F main.cpp <<<"$commands" | grep -qF -e '-fconstexpr' || die "the application is compiled with the flags of its model"

cmake --build "$work/build" -j 1
"$program" || die "the program failed, or has not learned"

touch "$work/before"
echo '// edited' >>"$work/application/main.cpp"
cmake --build "$work/build" -j 1 >"$work/log" || { cat "$work/log"; die "the edited application does not build"; }
newer() { find "$work/build" -name "$1" -newer "$work/before" | grep -q .; }
newer 'main.cpp.o' || die "the edited application was not compiled"
! newer 'spiral_model.cpp.o' || die "to edit the application compiled its model again"
! newer 'libspiral_program.a' || die "the model's library was made again"
