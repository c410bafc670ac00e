#!/usr/bin/env python3
"""Writes bert_words_reference.hpp: sums of the words that the package tokenizers splits every code point and drawn texts into.

Usage: bert_words_reference.py    (overwrites; needs the package tokenizers; bert_words.cpp draws the same texts)
"""
import pathlib

import tokenizers
from tokenizers import normalizers, pre_tokenizers

from drawn_texts import Draws, Sum, text

RULES = [(True, True, True, True), (True, True, False, False), (True, False, True, False), (False, True, False, True)]
BLOCK, GROUPS, TEXTS = 4096, 40, 500


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

namespace bert_words_reference {{

inline constexpr tx::text::bert_rules rules[] = {{{", ".join("{" + ", ".join(str(x).lower() for x in r) + "}" for r in RULES)}}};
inline constexpr int block = {BLOCK}, groups = {GROUPS}, texts = {TEXTS};

// Of each block of code points, each between two letters.
inline constexpr std::uint32_t points[][{0x110000 // BLOCK}] = {{
{table(p for p, _ in every)}}};

// Of each group of drawn texts.
inline constexpr std::uint32_t drawn[][groups] = {{
{table(d for _, d in every)}}};

}}  // namespace bert_words_reference
"""
(pathlib.Path(__file__).parent / "bert_words_reference.hpp").write_text(body)
