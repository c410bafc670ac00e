#!/usr/bin/env python3
"""Writes byte_pairs_reference.hpp: a small vocabulary of byte pairs that the package tokenizers learns, and sums of the ids that it gives drawn texts.

Usage: byte_pairs_reference.py    (overwrites; needs the package tokenizers; byte_pairs.cpp draws the same texts)
"""
import json
import pathlib

import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from drawn_texts import Draws, Sum, text

GROUPS, TEXTS = 40, 500
PARTS = [" ", "  ", "\n", "\t", "'s", "'ll", "'", "'S", "12", "Hello", " the", "\u00a0", "\u00e9", "...", "\r\n", "\u3000", " Tokens", "ing"]
LEARNED = ["Hello, the tokens of the texts that are learned here are few.", "The pairing of bytes joins the commonest pair of tokens, then the next.",
           "It isn't the 12 texts' words alone: numbers 1234 and signs ... count too!", "Tokens, tokens and the tokens' pairs: learning is counting."] * 3


def mixed(draws):  # parts of words among drawn characters
    out = ""
    for _ in range(1 + draws.under(14)):
        out += text(draws) if draws.under(5) == 0 else PARTS[draws.under(len(PARTS))]
    return out


tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.train_from_iterator(LEARNED, trainers.BpeTrainer(vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<s>", "<pad>"],
                                                           show_progress=False))
model = json.loads(tokenizer.to_str())["model"]
merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
draws, sums = Draws(2), []
for _ in range(GROUPS):
    s = Sum()
    for _ in range(TEXTS):
        s.add((" ".join(str(i) for i in tokenizer.encode(mixed(draws)).ids) + "\n").encode())
    sums.append(s.value)


def lines(items):  # text that no raw literal ends in
    return "\n".join(items)


body = f"""// Written by byte_pairs_reference.py, with version {tokenizers.__version__} of the package tokenizers.
#pragma once

#include <cstdint>

namespace byte_pairs_reference {{

inline constexpr char const* parts[] = {{{", ".join(json.dumps(p) for p in PARTS)}}};
inline constexpr int texts = {TEXTS};
inline constexpr char const* vocabulary = R"bytes({json.dumps(model["vocab"], ensure_ascii=False)})bytes";
inline constexpr char const* merges = R"bytes(#version: 0.2
{lines(merges)}
)bytes";

// Of each group of drawn texts.
inline constexpr std::uint32_t drawn[] = {{{", ".join(f"0x{v:08x}" for v in sums)}}};

}}  // namespace byte_pairs_reference
"""
(pathlib.Path(__file__).parent / "byte_pairs_reference.hpp").write_text(body)
