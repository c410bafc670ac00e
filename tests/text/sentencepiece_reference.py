#!/usr/bin/env python3
"""Writes tokenizers/*.model, small models that the package sentencepiece learns, and sentencepiece_reference.hpp: sums of what they make of drawn texts.

Usage: sentencepiece_reference.py    (overwrites; needs the packages sentencepiece and protobuf; sentencepiece.cpp draws the same texts)
"""
import io
import pathlib

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

import small_charsmap
from drawn_texts import Draws, Sum, literal, text

HERE = pathlib.Path(__file__).parent
GROUPS, TEXTS = 20, 500
PARTS = ["Hello", " the", "texts", ", ", ".", "12", "\n", " ", "  ", "\u00e9", "\u4e2d", "'s", "<s>", "</s>", "<unk>", "<0x41>", "<word>", " <word> ", "\u2581", "\u2581\u2581", "e\u0301", "\ufb01",
         "\ufb01x", "\u0001", "\u0344", "\u1100\u1161\u11a8", "\u0915\u094d", "\U0001f600", "\u00a9", "\uff21", "\uff76\uff9e", "\u3000", "\r\n", "ab\u0301", "\u00a8", "tokens", "learn", "ing"]
BYTES = [b"\xff", b"\xc3", b"\xe2\x96", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\x80"]
LEARNED = ["Hello, the tokens of the texts that are learned here are few.", "The pairing of bytes joins the commonest pair of tokens, then the next.",
           "It isn't the 12 texts' words alone: numbers 1234 and signs ... count too!", "Tokens, tokens and the tokens' pairs: learning is counting."] * 3


def mixed(draws):  # now and then with bytes that are no character
    out = b""
    for _ in range(draws.under(12)):
        kind = draws.under(20)
        out += BYTES[draws.under(len(BYTES))] if kind == 0 else text(draws).encode() if kind < 4 else PARTS[draws.under(len(PARTS))].encode()
    return out


def learned(**how):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(LEARNED), model_writer=out, vocab_size=how.pop("size", 120), hard_vocab_limit=False, minloglevel=2,
                                             num_threads=1, **how)
    model = sentencepiece_model_pb2.ModelProto.FromString(out.getvalue())
    if model.normalizer_spec.precompiled_charsmap:
        model.normalizer_spec.precompiled_charsmap = small_charsmap.compiled()
    return model


def unused(model):  # some of the pieces that were learned
    for p in [p for p in model.pieces if p.type == 1][::7]:
        p.type = 5
    return model


every = {
    "plain": learned(),
    "bytes": learned(size=400, byte_fallback=True, user_defined_symbols=["<word>", "\ufb01x", "  "], control_symbols=["<c>"]),
    "as_is": learned(normalization_rule_name="identity", add_dummy_prefix=False, remove_extra_whitespaces=False),
    "behind": learned(treat_whitespace_as_suffix=True, pad_id=3),
    "unused": unused(learned(user_defined_symbols=["tokens the"])),
}
spaces = learned(remove_extra_whitespaces=False)
spaces.normalizer_spec.escape_whitespaces = False
every["spaces"] = spaces
every["joined"] = learned(split_by_whitespace=False, max_sentencepiece_length=30)


def sums(model):
    coder = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    draws, out = Draws(4), []
    for _ in range(GROUPS):
        s = Sum()
        for _ in range(TEXTS):
            given = mixed(draws)
            line = " ".join(str(i) for i in coder.encode(given))
            try:
                of_text = coder.encode(given.decode(), return_type="proto").pieces
                line += "".join(f" {p.begin}-{p.end}" for p in of_text)
            except UnicodeDecodeError:  # the package has no ranges of such
                pass
            s.add((line + "\n").encode())
        out.append(s.value)
    return out


for name, model in every.items():
    (HERE / "tokenizers" / f"{name}.model").write_bytes(model.SerializeToString())
rows = []
for name, model in every.items():
    values = [f"0x{v:08x}" for v in sums(model)]
    rows.append(f'    {{"{name}",\n     {{' + ",\n      ".join(", ".join(values[i:i + 10]) for i in range(0, GROUPS, 10)) + "}},")
body = f"""// Written by sentencepiece_reference.py, with version {sentencepiece.__version__} of the package sentencepiece.
#pragma once

#include <cstdint>

namespace sentencepiece_reference {{

inline constexpr char const* parts[] = {{{", ".join(literal(p) for p in PARTS)}}};
inline constexpr char const* bytes[] = {{{", ".join('"' + "".join(f"{chr(92)}{b:03o}" for b in p) + '"' for p in BYTES)}}};
inline constexpr int texts = {TEXTS};

struct model_sums {{
  char const* name;
  std::uint32_t of_groups[{GROUPS}];
}};
inline constexpr model_sums all[] = {{
{chr(10).join(rows)}
}};

}}  // namespace sentencepiece_reference
"""
(HERE / "sentencepiece_reference.hpp").write_text(body)
