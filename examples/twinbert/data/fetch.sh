#!/usr/bin/env bash
# Usage: fetch.sh OUTDIR [SEED]
# Downloads the package indexes with English descriptions that this system's own apt sources name, into a state
# directory under OUTDIR, and turns them into query/document pairs in OUTDIR. The system's lists stay untouched, and
# no root is needed. Does nothing where the pairs exist already.
set -euo pipefail

die() { printf 'fetch.sh: %s\n' "$*" >&2; exit 1; }

[ $# -ge 1 ] || die "usage: fetch.sh OUTDIR [SEED]"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prepare=${TWINBERT_DATA:-$here/../../../build/release/bin/twinbert_data}
seed=${2:-1}
mkdir -p "$1"
out=$(cd "$1" && pwd)

if [ -s "$out/train.tsv" ] && [ "$(cat "$out/seed" 2>/dev/null)" = "$seed" ]; then
  echo "Pairs are in ${1%/} already; remove train.tsv there to make them anew."
  exit 0
fi
[ -x "$prepare" ] || die "the program twinbert_data is not built; run \`make build\` first, or name it in TWINBERT_DATA"
command -v apt-get >/dev/null || die "the pairs come from Debian's package descriptions and need apt-get"
helper=/usr/lib/apt/apt-helper
[ -x "$helper" ] || die "$helper is missing; it belongs to the package apt"

# Everything apt writes lies below OUTDIR; the hooks some images install would clean the system's caches.
state=$out/apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
cat >"$state/apt.conf" <<EOF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::Languages;
Acquire::Languages { "en"; };
APT::Sandbox::User "$(id -un)";
APT::Update::Error-Mode "any";
Dir::State "$state";
Dir::State::lists "$state/lists";
Dir::Cache "$state/cache";
EOF
apt_get() { apt-get -q -c "$state/apt.conf" "$@"; }

# One line per index of the release's main component; updates would make the pairs change from week to week.
list() {
  apt_get indextargets --format '$(CREATED_BY) $(COMPONENT) $(RELEASE) $(FILENAME)' 2>/dev/null |
    awk -v kind="$1" '$1 == kind && $2 == "main" && $3 !~ /-(updates|security|backports.*|proposed.*)$/' |
    cut -d' ' -f4- | while IFS= read -r file; do if [ -e "$file" ]; then printf '%s\n' "$file"; fi; done
}

if ! apt_get update >"$state/log" 2>&1; then
  grep -E '^(E|W|Err)' "$state/log" | head -n 5 >&2 || true
  [ -n "$(list Packages)" ] && [ -n "$(list Translations)" ] ||
    die "apt could not download the package indexes. Check the network, the proxy (http_proxy) and that
  \`apt-get update\` works here; or copy OUTDIR from a machine where this script ran."
  echo "fetch.sh: no fresh indexes; using those downloaded earlier" >&2
fi

trap 'rm -rf "$state/text" "$out/new"' EXIT
mkdir -p "$state/text"
for kind in Packages Translations; do
  readarray -t files < <(list $kind)
  [ ${#files[@]} -gt 0 ] ||
    die "apt's sources name no main component with $kind; the pairs need a Debian or Ubuntu release there"
  for file in "${files[@]}"; do
    "$helper" -c "$state/apt.conf" cat-file "$file"
    echo
  done >"$state/text/$kind"
done

"$prepare" --packages "$state/text/Packages" --translations "$state/text/Translations" --out "$out/new" --seed "$seed"
rm -f "$out/train.tsv"
for file in dev.tsv dev.random.tsv dev.section.tsv test.tsv test.random.tsv test.section.tsv train.tsv; do
  mv "$out/new/$file" "$out/$file"
done
echo "$seed" >"$out/seed"
