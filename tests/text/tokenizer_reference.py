#!/usr/bin/env python3
"""Writes tokenizers/*.json, small tokenizers that the package tokenizers learns, and tokenizer_reference.hpp: sums of what they make of drawn texts.

Usage: tokenizer_reference.py    (overwrites; needs the packages tokenizers, sentencepiece and protobuf; tokenizer.cpp draws the same texts)
"""
import json
import pathlib

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

import small_charsmap
from drawn_texts import Draws, Sum, literal, places, text

HERE = pathlib.Path(__file__).parent
GROUPS, TEXTS = 20, 300
CUTS = [(0, "longest_first"), (9, "longest_first"), (12, "longest_first"), (17, "only_first"), (16, "only_second")]  # tokens at most
PARTS = ["[MASK]", "[CLS]", " [SEP]", "[mask]", "<mask>", " <mask> ", "\t<mask>", "\u00a0<mask>", "<s>", "</s>", "word", "words", "sword", "wor ", "_word", "\u0301word",
         "Hello", " the", "texts", ", ", ".", "12", "\n", " ", "\u00e9", "\u4e2d", "  ", "'s", "   ", "\u2581", "<extra_id_0>", "Word", "e\u0301", "\ufb01", "\ufb01\u0301", "\u0001",
         "\u200d", "\u0344\u0301", "\u1100\u1161\u11a8", "\u1100\u1161", "\uac00\u0301", "\u0915\u094d", "\u0915\u094d\u0937", "\u0937\u0308", "\U0001f468\u200d\U0001f469", "\U0001f600",
         "\U0001f1e9\U0001f1ea", "\u00a9", "\u00a9\u200d", "\U0001f3fd", "\u0600", "\uff21", "\uff76\uff9e", "\u0e33", "\r\n", "\u3000", "ab\u0301", "\u0130", "\U0001e949\u0345\u1b44",
         "\u1d6c\u0323\U0001d165", "\ufe0f", "\u00bd"]
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


def pieces(normalizer, splitter, *, template=None, special=(), added=(), byte_fallback=False):
    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer = normalizers.Precompiled(small_charsmap.compiled()), pre_tokenizers.Metaspace()
    own = ["<unk>", "<s>", "</s>"] + ([f"<0x{b:02X}>" for b in range(256)] if byte_fallback else [])
    t.train_from_iterator(LEARNED, trainers.UnigramTrainer(vocab_size=150 + len(own), special_tokens=own, unk_token="<unk>", show_progress=False))
    learned = json.loads(t.to_str())["model"]
    t = Tokenizer(models.Unigram([tuple(p) for p in learned["vocab"]], learned["unk_id"], byte_fallback))
    if normalizer is not None:
        t.normalizer = normalizer
    if splitter is not None:
        t.pre_tokenizer = splitter
    t.add_special_tokens(list(special))
    t.add_tokens(list(added))
    if template is not None:
        t.post_processor = processors.TemplateProcessing(single=template[0], pair=template[1], special_tokens=[(n, t.token_to_id(n)) for n in ("<s>", "</s>")])
    return t


def unigrams():
    n, p = normalizers, pre_tokenizers
    characters, runs = n.Precompiled(small_charsmap.compiled()), Regex(" {2,}")
    return {
        "t5": pieces(characters, p.Sequence([p.WhitespaceSplit(), p.Metaspace()]), template=("$A </s>", "$A </s> $B </s>"), special=["<unk>", "</s>", "<extra_id_0>"]),
        "t5_first": pieces(n.Sequence([characters, n.Strip(left=False, right=True), n.Replace(runs, "\u2581")]), p.Metaspace(prepend_scheme="first", split=False),
                           template=("$A </s>", "$A </s> $B </s>"), special=["</s>", "<extra_id_0>"]),
        "xlm_r": pieces(n.Sequence([characters, n.Replace(runs, " ")]), p.Sequence([p.WhitespaceSplit(), p.Metaspace()]), template=("<s> $A </s>", "<s> $A </s> </s> $B </s>"),
                        special=["<s>", "</s>", AddedToken("<mask>", lstrip=True, normalized=True, special=True)]),
        "deberta": pieces(n.Sequence([n.Strip(), characters, n.Replace(runs, " ")]), p.Metaspace(), template=("<s> $A </s>", "<s> $A </s> $B:1 </s>:1"), special=["[MASK]"],
                          added=[AddedToken("Word", single_word=True), AddedToken("\uff21", rstrip=True)]),
        "fallback": pieces(n.Sequence([n.Lowercase(), n.Replace("the", "THE "), n.Prepend("\u2581"), characters]), p.Metaspace(prepend_scheme="never"), byte_fallback=True,
                           added=[AddedToken("Word")]),
        "first_behind": pieces(n.Sequence([n.Strip(left=True, right=False), characters]), p.Sequence([p.WhitespaceSplit(), p.Metaspace("_", prepend_scheme="first")])),
        "strip_first": pieces(n.Sequence([n.Strip(), n.Replace("  ", "a b"), characters]), p.Metaspace(prepend_scheme="first")),
        "bare": pieces(None, None),
    }


def line_of(e, texts):
    at = [places(t) for t in texts]
    own = [(0, 0) if of is None else (at[of][a], at[of][b]) for of, (a, b) in zip(e.sequence_ids, e.offsets)]
    return " ".join(f"{i}:{k}:{a}-{b}" for i, k, (a, b) in zip(e.ids, e.type_ids, own))


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
                    line = "alone" if e is None else line_of(e, given)
                except Exception:
                    line = "too short"
                s.add((line + "\n").encode())
        out.append(s.value)
    return out


every = {"uncased": words(False), "cased": words(True), "roberta": pairs(True), "gpt2": pairs(False), **unigrams()}
(HERE / "tokenizers").mkdir(exist_ok=True)
for name, t in every.items():
    t.save(str(HERE / "tokenizers" / f"{name}.json"), pretty=False)
body = f"""// Written by tokenizer_reference.py, with version {tokenizers.__version__} of the package tokenizers.
#pragma once

#include <tx/text/truncation.hpp>

#include <cstdint>
#include <utility>

namespace tokenizer_reference {{

inline constexpr char const* parts[] = {{{", ".join(literal(p) for p in PARTS)}}};
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
