#!/usr/bin/env bash
# Usage: setup.sh [check | docs | pip]
# Installs with apt what building and testing needs, with `check` also what `make check` needs, CUDA's compiler among it (wheels, into build/nvcc), with `pip` also what downloading from
# Python's index needs, with `docs` what `make docs` needs and nothing else. Says and does nothing where it is all there. Expects git, make and a C++20 compiler.
set -uo pipefail

packages="cmake ninja-build libeigen3-dev nlohmann-json3-dev catch2 libbenchmark-dev ca-certificates"
docs_packages="doxygen"
pip_packages="python3 python3-venv"
check_packages="clang libclang-rt-dev clang-15 clang-16 openmpi-bin libopenmpi-dev python3-numpy $pip_packages $docs_packages"
[ "$(uname -m)" = x86_64 ] && check_packages="$check_packages g++-aarch64-linux-gnu qemu-user hipcc"

# CUDA's compiler and NCCL, of one version everywhere. Where there is none, or no GPU, it compiles all the same.
device_wheels="nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 nvidia-nccl-cu13==2.27.7"

die() { printf 'setup.sh: %s\n' "$*" >&2; exit 1; }

# A program found on the path will do, whoever installed it.
program_of() {
  case $1 in
    cmake | clang | python3 | doxygen) echo "$1" ;;
    ninja-build) echo ninja ;;
  esac
}

installed() {
  local program
  program=$(program_of "$1")
  if [ -n "$program" ] && command -v "$program" >/dev/null; then return 0; fi
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_device_wheels() {
  cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
  [ "$(cat build/nvcc/wheels 2>/dev/null)" = "$device_wheels" ] && return
  echo "Installing CUDA's compiler into build/nvcc"
  # shellcheck disable=SC2086
  python3 -m venv build/nvcc && build/nvcc/bin/python -m pip --disable-pip-version-check -q install $device_wheels ||
    die "pip could not install $device_wheels. Is there a network?"
  echo "$device_wheels" >build/nvcc/wheels
}

case ${1:-} in
  '') ;;
  check) packages="$packages $check_packages" ;;
  docs) packages=$docs_packages ;;
  pip) packages="$packages $pip_packages" ;;
  *) die "unknown argument $1; usage: setup.sh [check | docs | pip]" ;;
esac
command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || [ -n "${CXX:-}" ] ||
  die "no C++ compiler; install one, such as the package g++"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  command -v cmake >/dev/null && command -v ninja >/dev/null && exit 0  # CMake says what else is missing
  die "this system has no apt; install what these Debian packages hold: $packages"
fi

missing=
for package in $packages; do installed "$package" || missing="$missing $package"; done
if [ -z "$missing" ]; then
  [ "${1:-}" = check ] && install_device_wheels
  exit 0
fi

if [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  die "missing packages, and neither root nor sudo to install them; run as root: apt-get install$missing"
fi
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o APT::Update::Error-Mode=any "$@" >"$log" 2>&1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing:$missing"
apt_get update || updated="apt-get update failed too: $(grep -m 1 '^E' "$log")"
# shellcheck disable=SC2086
apt_get install -y --no-install-recommends $missing || {
  cat "$log" >&2
  die "apt could not install$missing. Is there a network, and do apt's sources name a Debian release? ${updated:-}"
}
[ "${1:-}" = check ] && install_device_wheels
exit 0
