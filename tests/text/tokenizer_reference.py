#!/usr/bin/env python3
"""Writes tokenizers/*.json, small tokenizers that the package tokenizers learns, and tokenizer_reference.hpp: sums of what they make of drawn texts.

Usage: tokenizer_reference.py    (overwrites; needs the package tokenizers; tokenizer.cpp draws the same texts)
"""
import json
import pathlib

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from drawn_texts import Draws, Sum, text

HERE = pathlib.Path(__file__).parent
GROUPS, TEXTS = 20, 300
CUTS = [(0, "longest_first"), (9, "longest_first"), (12, "longest_first"), (17, "only_first"), (16, "only_second")]  # tokens at most
PARTS = ["[MASK]", "[CLS]", " [SEP]", "[mask]", "<mask>", " <mask> ", "\t<mask>", "\u00a0<mask>", "<s>", "</s>", "word", "words", "sword", "wor ", "_word", "\u0301word",
         "Hello", " the", "texts", ", ", ".", "12", "\n", " ", "\u00e9", "\u4e2d", "  ", "'s"]
LEARNED = ["Hello, the tokens of the texts that are learned here are few.", "The pairing of bytes joins the commonest pair of tokens, then the next.",
           "It isn't the 12 texts' words alone: numbers 1234 and signs ... count too!", "Tokens, tokens and the tokens' pairs: learning is counting."] * 3


def mixed(draws):
    return "".join(text(draws) if draws.under(6) == 0 else PARTS[draws.under(len(PARTS))] for _ in range(draws.under(12)))


def words(cased):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=not cased)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(LEARNED, trainers.WordPieceTrainer(vocab_size=160, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    cls, sep = (t.token_to_id(n) for n in ("[CLS]", "[SEP]"))
    if cased:
        t.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    else:
        t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", cls), ("[SEP]", sep)])
    return t


def pairs(roberta):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=roberta)
    t.train_from_iterator(LEARNED, trainers.BpeTrainer(vocab_size=330, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<s>", "<pad>", "</s>"],
                                                       show_progress=False))
    t.post_processor = processors.ByteLevel()
    if roberta:
        t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
        t.add_tokens([AddedToken("word", single_word=True, normalized=False), AddedToken("wor", rstrip=True, normalized=False)])
        t.post_processor = processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")), add_prefix_space=True)
    return t


def sums(t):
    draws, out = Draws(3), []
    for _ in range(GROUPS):
        s = Sum()
        for _ in range(TEXTS):
            first, second = mixed(draws), mixed(draws)
            most, strategy = CUTS[draws.under(len(CUTS))]
            t.no_truncation()
            if most:
                t.enable_truncation(most, strategy=strategy)
            for given in ((first,), (first, second)):
                try:
                    e = t.encode(*given) if strategy != "only_second" or len(given) == 2 else None
                    line = "alone" if e is None else " ".join(f"{i}:{k}" for i, k in zip(e.ids, e.type_ids))
                except Exception:
                    line = "too short"
                s.add((line + "\n").encode())
        out.append(s.value)
    return out


every = {"uncased": words(False), "cased": words(True), "roberta": pairs(True), "gpt2": pairs(False)}
(HERE / "tokenizers").mkdir(exist_ok=True)
for name, t in every.items():
    t.save(str(HERE / "tokenizers" / f"{name}.json"), pretty=False)
body = f"""// Written by tokenizer_reference.py, with version {tokenizers.__version__} of the package tokenizers.
#pragma once

#include <tx/text/truncation.hpp>

#include <cstdint>
#include <utility>

namespace tokenizer_reference {{

inline constexpr char const* parts[] = {{{", ".join(json.dumps(p) for p in PARTS)}}};
inline constexpr std::pair<int, tx::text::truncation> cuts[] = {{{", ".join(f"{{{n}, tx::text::truncation::{how}}}" for n, how in CUTS)}}};
inline constexpr int texts = {TEXTS};

struct tokenizer_sums {{
  char const* name;
  std::uint32_t of_groups[{GROUPS}];
}};
inline constexpr tokenizer_sums all[] = {{
{chr(10).join(f'    {{"{name}",{chr(10)}     {{' + f",{chr(10)}      ".join(", ".join(f"0x{v:08x}" for v in values[i:i + 10]) for i in range(0, GROUPS, 10)) + "}}," for name, values in ((n, sums(t)) for n, t in every.items()))}
}};

}}  // namespace tokenizer_reference
"""
(HERE / "tokenizer_reference.hpp").write_text(body)
