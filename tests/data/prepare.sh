#!/usr/bin/env bash
# Usage: prepare.sh PROGRAM
# Runs twinbert_data on the fake indexes beside this script and holds its files against the rules.
set -uo pipefail
program=$1
fixture=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/fixture
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
tab=$'\t'
failed=0

check() {  # check WHAT COMMAND...
  local what=$1
  shift
  "$@" >/dev/null || { echo "FAILED: $what"; failed=1; }
}
run() { "$program" --packages "$fixture/Packages" --translations "$fixture/Translation-en" "$@"; }
lines() { cat "$@" | wc -l; }

run --out a >a.log || { echo "FAILED: the program itself"; exit 1; }
cat a/train.tsv a/dev.tsv a/test.tsv >all

check "54 pairs" test "$(lines all)" = 54
check "no empty split" test -s a/train.tsv -a -s a/dev.tsv -a -s a/test.tsv
check "two columns" test "$(awk -F'\t' 'NF != 2 || $1 == "" || $2 == ""' all | wc -l)" = 0
check "the counts are printed" grep -q "dropped 1 empty and 2 repeated; 54 pairs" a.log

# What a document looks like: lines joined, paragraphs and tabs to spaces, the name gone in any case, `parrots` kept.
has_pair() { grep -Fxq "$1$tab$2" all; }
check "the folded text" has_pair "bird that repeats what it hears" \
  "repeats whole sentences. A , however, is no parrots fan; it flies. Features: * feathers * -like wings"
check "an index that carries its own text" has_pair "bird described in the index itself" "Embedded text of the bird."
check "the source's own package" has_pair "right of all" "Right: this one carries the name of ."
check "else the shortest, else the first name" has_pair "right one of the family" "Right: is the short first name of ."
check "nothing wrong was chosen" test "$(grep -ci wrong all)" = 0
check "a package without a text" test "$(grep -c 'no long description' all)" = 0
check "a name alone is no query" test "$(grep -c 'stays alone' all)" = 0
check "the first index wins" test "$(grep -c 'Later index' all)" = 0
for column in 1 2; do
  check "column $column has no duplicate" test -z "$(cut -f$column all | sort | uniq -d)"
done

# Evaluation files: the pair with 1, then the same query with another document of the same split with 0.
for split in dev test; do
  for kind in random section; do
    file=a/$split.$kind.tsv
    check "$file: rows in twos" awk -F'\t' 'NF != 3 || $3 != NR % 2 { exit 1 }
      NR % 2 { q = $1; d = $2; next } $1 != q || $2 == d { exit 1 }' "$file"
    awk -F'\t' -v OFS='\t' '$3 == 1 { print $1, $2 }' "$file" | sort >positives
    check "$file: positives are the split's pairs" test -z "$(comm -23 positives <(sort a/$split.tsv))"
    cut -f2 "$file" | sort -u >documents
    check "$file: negatives are the split's documents" test -z "$(comm -23 documents <(cut -f2 a/$split.tsv | sort))"
  done
  check "$split: a random negative for each" test "$(lines a/$split.random.tsv)" = $((2 * $(lines a/$split.tsv)))
  check "$split: negatives of the same section" awk -F'\t' '
    function section(d) { if (match(d, /section [a-z]+/)) return substr(d, RSTART + 8, RLENGTH - 8)
                          return d ~ /^Embedded/ ? "libs" : "games" }
    NR % 2 { s = section($2); next } section($2) != s { exit 1 }' a/$split.section.tsv
done
check "contrib/libs is the section libs" grep -q "^bird described in the index itself" a/dev.section.tsv a/test.section.tsv

# The same input gives the same bytes, in whatever order the index lists its packages; another seed another split.
run --out b >/dev/null
check "a second run is equal" diff -r a b
awk -v RS= '{ t[NR] = $0 } END { for (i = NR; i > 0; --i) print t[i] "\n" }' "$fixture/Translation-en" >Translation-en
"$program" --packages "$fixture/Packages" --translations Translation-en --out c >/dev/null
check "the order of the texts does not matter" diff -r a c
run --out d --seed 2 >/dev/null
check "another seed, another split" test -n "$(diff a/test.tsv d/test.tsv)"
check "another seed, the same pairs" diff <(sort all) <(cat d/train.tsv d/dev.tsv d/test.tsv | sort)

fails_with() {  # fails_with TEXT COMMAND...
  local text=$1
  shift
  ! "$@" >out 2>&1 && grep -q -- "$text" out
}
check "a missing file is named" fails_with "cannot read missing" "$program" --packages missing --out e
check "no package at all" fails_with "no package with a description" "$program" --packages a/dev.tsv --out e
check "usage" fails_with "^twinbert_data: usage:" "$program"
check "a bad seed" fails_with "--seed takes a number" run --out e --seed x

[ $failed = 0 ] && echo "pairs: all checks passed"
exit $failed
