#!/usr/bin/env python3
"""Writes bert_words_reference.hpp: sums of the words that the package tokenizers splits every code point and drawn texts into.

Usage: bert_words_reference.py    (overwrites; needs the package tokenizers; bert_words.cpp draws the same texts)
"""
import pathlib

import tokenizers
from tokenizers import normalizers, pre_tokenizers

RULES = [(True, True, True, True), (True, True, False, False), (True, False, True, False), (False, True, False, True)]
POOLS = [(0x0, 0x250), (0x300, 0x370), (0x370, 0x600), (0x8D0, 0x900), (0x900, 0xE00), (0x1B00, 0x1C00), (0x1D150, 0x1D1E8), (0x1E000, 0x1E030), (0x1E940, 0x1E960),
         (0xAC00, 0xD7A4), (0x1E00, 0x2000), (0x2000, 0x3400), (0x4E00, 0x5000), (0xF900, 0x10000), (0x10000, 0x110000)]
BLOCK, GROUPS, TEXTS = 4096, 40, 500


class Sum:  # FNV-1a of words that 0xFF ends and of texts that 0xFE ends
    def __init__(self):
        self.value = 0x811C9DC5

    def add(self, data):
        for byte in data:
            self.value = (self.value ^ byte) * 0x01000193 & 0xFFFFFFFF


class Draws:
    def __init__(self, seed):
        self.state = seed

    def under(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def text(draws):
    out = ""
    for _ in range(1 + draws.under(12)):
        first, end = POOLS[draws.under(len(POOLS))]
        out += chr(first + draws.under(end - first))
    return out


def sums(rules):
    clean, ideographs, accents, lower = rules
    normalizer = normalizers.BertNormalizer(clean_text=clean, handle_chinese_chars=ideographs, strip_accents=accents, lowercase=lower)
    splitter = pre_tokenizers.BertPreTokenizer()

    def of(texts):
        s = Sum()
        for t in texts:
            for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(t)):
                s.add(word.encode() + b"\xff")
            s.add(b"\xfe")
        return s.value

    points = [of("a" + chr(c) + "b" for c in range(b, b + BLOCK) if not 0xD800 <= c < 0xE000) for b in range(0, 0x110000, BLOCK)]
    draws = Draws(1)
    return points, [of([text(draws) for _ in range(TEXTS)]) for _ in range(GROUPS)]


def table(rows):
    lines = []
    for row in rows:
        values = [f"0x{v:08x}" for v in row]
        lines.append("    {" + ",\n     ".join(", ".join(values[i:i + 12]) for i in range(0, len(values), 12)) + "}")
    return ",\n".join(lines)


every = [sums(r) for r in RULES]
body = f"""// Written by bert_words_reference.py, from version {tokenizers.__version__} of the package tokenizers.
#pragma once

#include <tx/text/bert_characters.hpp>

namespace reference {{

inline constexpr tx::text::bert_rules rules[] = {{{", ".join("{" + ", ".join(str(x).lower() for x in r) + "}" for r in RULES)}}};
inline constexpr tx::text::detail::code_range pools[] = {{{", ".join(f"{{0x{a:X}, 0x{b - 1:X}}}" for a, b in POOLS)}}};
inline constexpr int block = {BLOCK}, groups = {GROUPS}, texts = {TEXTS};

// Of each block of code points, each between two letters.
inline constexpr std::uint32_t points[][{0x110000 // BLOCK}] = {{
{table(p for p, _ in every)}}};

// Of each group of drawn texts.
inline constexpr std::uint32_t drawn[][groups] = {{
{table(d for _, d in every)}}};

}}  // namespace reference
"""
(pathlib.Path(__file__).parent / "bert_words_reference.hpp").write_text(body)
