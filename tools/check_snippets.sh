#!/usr/bin/env bash
# Usage: check_snippets.sh [FILE...]
# Code blocks of the documents are parts of the programs named in the comments before them, letter by letter. A block announced as
# `a whole program` is compiled instead (check_readme.sh). Links from one document to another lead to files.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- "$root/README.md" "$root/docs/guide.md"
missing=0
for document; do
  blocks=0
  source=""
  inside=0
  while IFS= read -r line; do
    case $line in
      '<!-- examples/'*' -->' | '<!-- a whole program -->')
        source=${line#<!-- }
        source=${source% -->}
        ;;
      '```cpp')
        inside=1
        blocks=$((blocks + 1))
        text=""
        [ -n "$source" ] || { echo "check_snippets: a block of $document names no program"; missing=1; }
        ;;
      '```')
        [ "$inside" = 1 ] || continue
        inside=0
        if [[ $source == examples/* && "$(cat "$root/$source")" != *"$text"* ]]; then
          printf 'check_snippets: not in %s:\n%s' "$source" "$text"
          missing=1
        fi
        source=""
        ;;
      *) [ "$inside" = 0 ] || text+=$line$'\n' ;;
    esac
  done <"$document"
  [ "$blocks" -gt 0 ] || { echo "check_snippets: $document has no blocks"; missing=1; }
done
for document in "$@" "$root"/docs/*.md; do
  while IFS= read -r link; do
    [ -e "$(dirname "$document")/$link" ] || { echo "check_snippets: $document links to $link, which is not there"; missing=1; }
  done < <(awk '/^```/ { inside = !inside } !inside' "$document" | grep -oE '\]\([^):#]+\)' | sed -E 's/^\]\((.*)\)$/\1/')
done
exit "$missing"
