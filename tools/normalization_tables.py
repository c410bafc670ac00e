#!/usr/bin/env python3
"""Writes include/tx/text/canonical_tables.hpp, compatibility_tables.hpp and filter_tables.hpp: what the normalizers NFC to NFKD, StripAccents and Nmt of Hugging Face
make of each code point, asked of the package itself, whose version of Unicode is not that of Python.

Usage: normalization_tables.py    (overwrites; needs the package tokenizers)
"""
import pathlib

import tokenizers
from tokenizers import normalizers

from code_tables import POINTS, ranges, table, two

HERE = pathlib.Path(__file__).parent.parent / "include/tx/text"
HANGUL = range(0xAC00, 0xD7A4)
nfc, nfd, nfkc, nfkd = (n().normalize_str for n in (normalizers.NFC, normalizers.NFD, normalizers.NFKC, normalizers.NFKD))


def head(what, includes):
    return (f"// {what}, as version {tokenizers.__version__} of the package tokenizers does it. Written by tools/normalization_tables.py.\n#pragma once\n\n"
            + "".join(f"#include <{i}>\n" for i in includes) + "\nnamespace tx::text::detail {\n\n")


def write(name, text):
    (HERE / name).write_text(text.rstrip("\n") + "\n\n}  // namespace tx::text::detail\n")


# ---- characters that are the same as others ------------------------------------------------------------------------------

apart = {p: nfd(chr(p)) for p in POINTS}
taken = [p for p in POINTS if apart[p] != chr(p) and p not in HANGUL]
of_parts = {}  # a character for each text that characters are taken apart into: that which it becomes when it is composed, if there is one
for p in taken:
    if len(apart[p]) > 1 and (apart[p] not in of_parts or nfc(apart[p]) == chr(p)):
        of_parts[apart[p]] = p
single, pairs, not_composed = [], [], []
for p in taken:
    before, last = apart[p][:-1], apart[p][-1]
    if not before:
        single.append((p, ord(last)))
        continue
    first = ord(before) if len(before) == 1 else of_parts[before]
    pairs.append((p, first, ord(last)))
    if nfc(chr(p)) != chr(p):
        not_composed.append(p)
    else:
        assert nfc(chr(first) + last) == chr(p), hex(p)
assert len({(a, b) for p, a, b in pairs if p not in not_composed}) == len(pairs) - len(not_composed)
assert all(nfd(nfc(chr(p))) == apart[p] for p in POINTS)

text = head("Characters that are the same as several others", ["tx/text/code_ranges.hpp"])
text += """struct same_code {
  char32_t from, to;
};
struct parted_code {
  char32_t from, first, second;
};

"""
text += table("Those that are the same as one other.", "same_code", "same_codes", single, two)
text += table("Those of two, of which the first may be of two itself. Syllables of Hangul are not among them.", "parted_code", "parted_codes", pairs,
              lambda r: f"{{0x{r[0]:X}, 0x{r[1]:X}, 0x{r[2]:X}}}")
text += table("Of these, what its two characters are not composed to.", "code_range", "not_composed_ranges", ranges(not_composed), two)
write("canonical_tables.hpp", text)

# ---- characters that look like others ------------------------------------------------------------------------------------

steps, lists = [], []  # steps: first, last, difference
for p in POINTS:
    to = nfkd(chr(p))
    if apart[p] != chr(p):
        assert to == nfkd("".join(nfkd(c) for c in apart[p])), hex(p)
    elif len(to) > 1:
        lists.append((p, to))
    elif to != chr(p):
        d = ord(to) - p
        if steps and steps[-1][1] == p - 1 and steps[-1][2] == d:
            steps[-1][1] = p
        else:
            steps.append([p, p, d])
assert all(nfkc(chr(p)) == nfc(nfkd(chr(p))) for p in POINTS)

text = head("What characters become that only look like others, as width, font and ligatures do", ["string_view"])
text += """struct similar_steps {
  char32_t first, last;
  int difference;
};
struct code_text {
  char32_t from;
  std::u32string_view to;
};

"""
text += table("One character, so far beyond it.", "similar_steps", "similar_codes", steps, lambda s: f"{{0x{s[0]:X}, 0x{s[1]:X}, {s[2]}}}")
text += table("Several.", "code_text", "similar_texts", lists, lambda l: f"{{0x{l[0]:X}, U\"{''.join(f'{chr(92)}x{ord(c):X}' for c in l[1])}\"}}")
write("compatibility_tables.hpp", text)

# ---- characters that are left out ----------------------------------------------------------------------------------------

accents, nmt = normalizers.StripAccents().normalize_str, normalizers.Nmt().normalize_str
between = {p: nmt("a" + chr(p) + "b")[1:-1] for p in POINTS}
text = head("Which characters the normalizers StripAccents and Nmt leave out", ["tx/text/code_ranges.hpp"])
text += table("StripAccents.", "code_range", "accent_ranges", ranges(p for p in POINTS if accents("a" + chr(p) + "b") == "ab"), two)
text += table("Nmt; and what it makes spaces of.", "code_range", "nmt_left_out_ranges", ranges(p for p in POINTS if between[p] == ""), two)
text += table("", "code_range", "nmt_space_ranges", ranges(p for p in POINTS if between[p] == " " and p != 0x20), two).replace("// \n", "", 1)
assert all(accents("a" + chr(p) + "b") in ("ab", "a" + chr(p) + "b") and between[p] in ("", " ", chr(p)) for p in POINTS)
write("filter_tables.hpp", text)
