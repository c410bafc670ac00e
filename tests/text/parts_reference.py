#!/usr/bin/env python3
"""Writes parts_reference.hpp: sums of what the package tokenizers makes of every code point with each normalizer, and of drawn texts and ids with the tokenizers of
tokenizers/*.json that have other normalizers, added tokens and decoders.

Usage: parts_reference.py    (overwrites; needs the package tokenizers; tokenizer_parts.cpp draws the same)
"""
import json
import pathlib

import tokenizers
from tokenizers import AddedToken, Tokenizer, normalizers

from drawn_texts import Draws, Sum, anywhere, literal, places, text

HERE = pathlib.Path(__file__).parent
BLOCK, GROUPS, TEXTS = 0x8000, 10, 200
PARTS = ["Hello", " the", "texts", ", ", ".", " .", "12", "\n", " ", "  ", "'", " 's", "n't", "``", "''", "\u2581", "word", "W\u00f6rd", "[MASK]", "<mask>", "<s>", "\u00e9", "e\u0301",
         "\u1ec7", "e\u0323\u0302", "e\u0302\u0323", "\u0344", "\u0345\u0301", "\u0f73\u0f71", "\u0f81\u0f74", "\u1100\u1161\u11a8", "\u1100\u1161", "\uac00\u11a8", "\uac01", "\u11a7",
         "\u0dd9\u0dcf\u0dca", "\u0958", "\u0915\u093c", "\u09c7\u09be", "\u2126", "\u212b", "\uf900", "\ufb01", "\ufdfa", "\ufdfb\u0301", "\uff21", "\uff76\uff9e", "\u00bd", "\u2460",
         "\U0001d400", "\U0001d160", "\U0001d15e\U0001d16e", "\u0130", "\u00a8", "\u1fee", "\u0001", "\u007f", "\u200b", "\u2028", "\ufeff", "\ufffd", "\U0001f600", "\U0001f468\u200d\U0001f469",
         "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd", "\u2764\ufe0f", "\u0e33", "\u0e01\u0e33\u0e48", "\u3000", "\u00a0", "\u00ad", "\u0300", "\u0591", "\u302a", "\U0001e944\U0001e94a"]


def part(kind, **how):
    return {"type": kind, **how}


def sequence(kind, *parts):
    return {"type": "Sequence", kind: list(parts)}


def replace(what, by, kind="String"):
    return part("Replace", pattern={kind: what}, content=by)


def metaspace(place):
    return part("Metaspace", replacement="\u2581", prepend_scheme=place, split=True)


NFC, NFD, NFKC, NFKD, NMT, ACCENTS, LOWER = (part(k) for k in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "StripAccents", "Lowercase"))
STRIP = part("Strip", strip_left=True, strip_right=True)
BERT = part("BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
BYTES = part("ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True)
ALONE = [NFC, NFD, NFKC, NFKD, NMT, ACCENTS, LOWER]


def changes(*parts):
    return sequence("normalizers", *parts)


def steps(*parts):
    return sequence("decoders", *parts)


def words(clean):
    return part("WordPiece", prefix="##", cleanup=clean)


CASES = [  # a file, what normalizer and decoder it gets, and tokens that are added
    ("uncased", None, words(True), []),
    ("uncased", changes(NFKC, BERT), words(False), []),
    ("uncased", changes(NFD, LOWER, ACCENTS), None, [AddedToken("W\u00f6rd"), AddedToken("\u00e9", lstrip=True), AddedToken("\ufdfa", rstrip=True)]),
    ("cased", changes(NMT, NFC, STRIP, replace("``", '"'), part("Prepend", prepend="the ")), part("BPEDecoder", suffix="s"), [AddedToken("text ", special=True)]),
    ("cased", changes(NFKD, changes(ACCENTS)), words(True), [AddedToken(" do not", normalized=False), AddedToken("word .", single_word=True)]),
    ("gpt2", NFC, BYTES, []),
    ("gpt2", changes(NFKD, ACCENTS, LOWER), BYTES, [AddedToken("W\u00f6rd"), AddedToken("\u00e9t\u00e9", special=True)]),
    ("gpt2", None, None, [AddedToken("\u4e2d")]),
    ("roberta", NFKC, BYTES, [AddedToken("W\u00f6rd", lstrip=True), AddedToken("\uff21"), AddedToken(" ", normalized=False)]),
    ("roberta", changes(NMT, NFD), steps(BYTES, replace("e", "E"), part("Strip", content="T", start=2, stop=0)), [AddedToken("\u00e9", rstrip=True)]),
    ("t5", changes(replace("``", '"'), replace("''", '"'), NFKD, ACCENTS, LOWER), metaspace("always"), [AddedToken("W\u00f6rd"), AddedToken("\u2581x")]),
    ("xlm_r", NFC, metaspace("never"), []),
    ("t5_first", changes(NMT, NFKC, replace(" {2,}", " ", "Regex")), metaspace("first"), [AddedToken("W\u00f6rd")]),
    ("strip_first", ACCENTS, steps(metaspace("always"), part("Fuse")), []),
    ("strip_first", changes(NFD, NMT, ACCENTS), part("Metaspace", replacement="\u2581", prepend_scheme="never", add_prefix_space=False), []),
    ("fallback", changes(part("Prepend", prepend="\u2581"), replace(" ", "\u2581")),
     steps(replace("\u2581", " "), part("ByteFallback"), part("Fuse"), part("Strip", content=" ", start=1, stop=0)), [AddedToken("<0x+7>", normalized=False), AddedToken("<0xg0>")]),
    ("deberta", changes(STRIP, NFKD), part("Strip", content="s", start=0, stop=1), []),
    ("bare", changes(NFKC, LOWER, NFD), steps(), []),
]


def mixed(draws):
    out = ""
    for _ in range(draws.under(12)):
        kind = draws.under(6)
        out += text(draws) if kind == 0 else anywhere(draws) if kind == 1 else PARTS[draws.under(len(PARTS))]
    return out


def changed(case):  # the tokenizer, and what of its file is another
    name, normalizer, decoder, added = case
    file = json.loads((HERE / "tokenizers" / f"{name}.json").read_text())
    patch = {"normalizer": normalizer, "decoder": decoder}
    t = Tokenizer.from_str(json.dumps({**file, **patch}))
    t.add_tokens(added)
    return t, {**patch, "added_tokens": json.loads(t.to_str())["added_tokens"]}


def sums(t):
    draws, out = Draws(7), []
    for _ in range(GROUPS):
        s = Sum()
        for _ in range(TEXTS):
            given = mixed(draws)
            e, at = t.encode(given), places(given)
            own = [(0, 0) if of is None else (at[a], at[b]) for of, (a, b) in zip(e.sequence_ids, e.offsets)]
            s.add((" ".join(f"{i}:{a}-{b}" for i, (a, b) in zip(e.ids, own)) + "\n").encode())
            ids = e.ids + [draws.under(t.get_vocab_size() + 3) for _ in range(draws.under(8))]
            for skipped in (True, False):
                s.add((t.decode(ids, skip_special_tokens=skipped) + "\n").encode())
        out.append(s.value)
    return out


def points(normalizer):
    to, out = normalizer.normalize_str, []
    for first in range(0, 0x110000, BLOCK):
        s = Sum()
        for c in range(first, first + BLOCK):
            if 0xD800 <= c < 0xE000:
                continue
            now = to("a" + chr(c) + "b")
            if now != "a" + chr(c) + "b":  # what stays is not summed: the sum takes its time
                s.add(f"{c} {now}\n".encode())
        out.append(s.value)
    return out


def hexadecimal(values, indent):
    return f",\n{indent}".join(", ".join(f"0x{v:08x}" for v in values[i:i + 12]) for i in range(0, len(values), 12))


def normalizer_of(json_of):
    t = Tokenizer.from_str((HERE / "tokenizers" / "bare.json").read_text())
    return Tokenizer.from_str(json.dumps({**json.loads(t.to_str()), "normalizer": json_of})).normalizer


cases = [(name, *changed((name, *rest))) for name, *rest in CASES]
body = f"""// Written by parts_reference.py, with version {tokenizers.__version__} of the package tokenizers.
#pragma once

#include <cstdint>

namespace parts_reference {{

inline constexpr char const* parts[] = {{{", ".join(literal(p) for p in PARTS)}}};
inline constexpr int block = {BLOCK}, texts = {TEXTS};

// Of each block of code points, those that a normalizer changes between two letters.
struct point_sums {{
  char const* normalizer;
  std::uint32_t of_blocks[{0x110000 // BLOCK}];
}};
inline constexpr point_sums points[] = {{
{chr(10).join(f'    {{R"({json.dumps(n)})",{chr(10)}     {{{hexadecimal(points(normalizer_of(n)), "      ")}}}}},' for n in ALONE)}
}};

// Of each group of drawn texts and ids. patch: what takes the place of a file's own parts.
struct case_sums {{
  char const *file, *patch;
  std::uint32_t of_groups[{GROUPS}];
}};
inline constexpr case_sums cases[] = {{
{chr(10).join(f'    {{"{name}",{chr(10)}     R"json({json.dumps(patch)})json",{chr(10)}     {{{hexadecimal(sums(t), "      ")}}}}},' for name, t, patch in cases)}
}};

}}  // namespace parts_reference
"""
(HERE / "parts_reference.hpp").write_text(body)
