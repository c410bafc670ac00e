#!/usr/bin/env python3
"""Writes include/tx/text/grapheme_tables.hpp: which characters the tokenizers of Hugging Face hold together, asked of the package itself.

Usage: grapheme_tables.py    (overwrites; needs the package tokenizers)

A map of characters replaces what is at most five bytes and held together by what its first characters become. Here one character is mapped to nothing, and
stands before an accent: where both begin a cluster, both are gone; where something before them belongs to it, it is too long for that, and the accent stays.
"""
import pathlib
import struct

import tokenizers
from tokenizers import normalizers

from code_tables import POINTS, ranges, table, two

ACCENT, GRAVE, ZWJ, ZWNJ, VIRAMA, KA, SIGN = "\u0301", "\u0340", "\u200d", "\u200c", "\u094d", "\u0915", "\u00a9"


def nothing_for(character):
    """A map of one character to nothing: four bytes of a length, a double array, and replacements. A unit has its label in the lowest byte, bit 8 where a string
    ends, and from bit 10 on how far its children are, whose place is that with their label: here each node has a block of 256 of its own."""
    key = character.encode()
    units = [0] * 256 * (len(key) + 2)
    units[0] = 256 << 10
    for k, byte in enumerate(key):
        here = 256 * (k + 1) ^ byte
        last = k + 1 == len(key)
        units[here] = byte | (here ^ 256 * (k + 2)) << 10 | (1 << 8 if last else 0)
    units[256 * (len(key) + 1)] = 1 << 31
    return normalizers.Precompiled(struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + b"\0")


def joined(before, character, after=ACCENT, normalizer=None):
    """Whether `before` belongs to the cluster of a character, which has to be of at most five bytes together with what is after it."""
    if len((character + after).encode()) > 5:
        raise ValueError("too long")
    if len((before + character + after).encode()) < 6:
        raise ValueError("too short")
    return (normalizer or nothing_for(character)).normalize_str(before + character + after).count(after) > before.count(after)


letter, accent, sign, ka = (nothing_for(c) for c in ("a", GRAVE, SIGN, KA))
behind = [p for p in POINTS if letter.normalize_str("a" + chr(p)) == "" and p != ord("a")]  # in the cluster of a letter
controls = [p for p in POINTS if not joined("zzzz" + chr(p), GRAVE, normalizer=accent)]  # not even an accent is in its cluster
carry = [p for p in POINTS if joined("zzzzz" + chr(p), "a", ACCENT, letter)]  # in the cluster of what follows
consonants = [p for p in POINTS if joined("zz" + chr(p) + VIRAMA, KA, ACCENT, ka) and p not in carry]
pictures = [p for p in POINTS if joined("zz" + chr(p) + ZWJ, SIGN, ACCENT, sign) and p not in carry]
extend = [p for p in behind if p != ord(ZWJ) and joined(SIGN + chr(p) + ZWJ, SIGN, ACCENT, sign)]
spacing = [p for p in behind if p != ord(ZWJ) and p not in extend]
linkers = [p for p in behind if joined(KA + chr(p), KA, ACCENT, ka)]
through = [p for p in behind if p not in linkers and joined(KA + chr(p) + VIRAMA, KA, ACCENT, ka)]
# Letters of Hangul, told by what may follow them in a syllable, and what else behaves like them.
followers = {c: nothing_for(c) for c in ("\u1100", "\u1161", "\u11a8")}
after = {p: tuple(joined(chr(p), c, ACCENT, n) for c, n in followers.items()) for p in POINTS if p not in carry}
leads = [p for p, a in after.items() if a == (True, True, False)]
vowels = [p for p, a in after.items() if a == (False, True, True) and not 0xAC00 <= p < 0xD7A4]
trails = [p for p, a in after.items() if a == (False, False, True) and not 0xAC00 <= p < 0xD7A4]
assert all(after[p] == (False, (p - 0xAC00) % 28 == 0, True) for p in range(0xAC00, 0xD7A4))
assert {p for p, a in after.items() if any(a)} == {*leads, *vowels, *trails, *range(0xAC00, 0xD7A4)}
assert set(through) == {*extend, ord(ZWJ)} - {ord(ZWNJ), *linkers}  # through these a linker still links

text = f"""// Which characters belong together, as version {tokenizers.__version__} of the package tokenizers holds them. Written by tools/grapheme_tables.py.
#pragma once

#include <tx/text/code_ranges.hpp>

namespace tx::text::detail {{

"""
for comment, name, points in (("In no cluster with anything else.", "control", controls), ("In the cluster of what is before them.", "extend", extend),
                              ("So, too, but no picture is joined through them.", "spacing", spacing), ("In the cluster of what is behind them.", "carry", carry),
                              ("Letters of Hangul that begin syllables, that go on, and that end them.", "lead", leads), ("", "vowel", vowels), ("", "trail", trails),
                              ("Pictures, which a joiner joins.", "picture", pictures), ("Consonants, which signs between them join, and those signs.", "consonant", consonants),
                              ("", "linker", linkers)):
    text += table(comment, "code_range", f"{name}_ranges", ranges(points), two).replace("// \n", "", 1)
text = text.rstrip("\n") + "\n\n}  // namespace tx::text::detail\n"
(pathlib.Path(__file__).parent.parent / "include/tx/text/grapheme_tables.hpp").write_text(text)
