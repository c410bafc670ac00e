#!/usr/bin/env bash
# Usage: setup_zen.sh DIR [--anywhere]
# Installs zentorch, AMD's plugin for PyTorch, into a virtual environment with the PyTorch that it was built for: a peer on AMD's
# processors. Elsewhere, and where it cannot be installed, it says so and is no error; --anywhere installs it all the same.
set -euo pipefail
dir=${1:?usage: setup_zen.sh DIR [--anywhere]}
[ -e "$dir/ready" ] && exit 0
if [ "${2:-}" != --anywhere ] && ! grep -q AuthenticAMD /proc/cpuinfo; then
  echo "zentorch is left out: this is no processor of AMD's"
  exit 0
fi
python3 -m venv "$dir"
if ! "$dir/bin/pip" -q install --no-deps zentorch; then
  echo "zentorch is left out: there is none for this Python and system"
  rm -rf "$dir"
  exit 0
fi
built_for=$(sed -n 's/^__torchversion__ = "\([0-9.]*\).*/\1/p' "$dir"/lib/python3*/site-packages/zentorch/_build_info.py)
"$dir/bin/pip" -q install "torch==$built_for" numpy deprecated transformers safetensors
touch "$dir/ready"
