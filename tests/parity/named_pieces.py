#!/usr/bin/env python3
"""Writes tests/text/named_pieces_reference.hpp: folders whose tokenizer is a file of SentencePiece alone, and sums of what transformers' tokenizers in Python
make of drawn texts and pairs with them, as named_pieces.cpp draws them again; two of those files beside it in tokenizers/, others are there.

Usage: named_pieces.py    (overwrites; needs the packages transformers below 5, sentencepiece and protobuf)
"""
import io
import json
import logging
import os
import pathlib
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).parent
TEXT = HERE.parent / "text"
sys.path.insert(0, str(TEXT))
os.environ["HF_HUB_OFFLINE"] = "1"

import sentencepiece  # noqa: E402
import transformers  # noqa: E402
from sentencepiece import sentencepiece_model_pb2  # noqa: E402

import small_charsmap  # noqa: E402
from drawn_texts import Draws, Sum, anywhere, literal, text  # noqa: E402

warnings.simplefilter("ignore")
logging.disable(logging.ERROR)

GROUPS, TEXTS = 5, 200
PARTS = ["Hello", " the", "texts", ", ", ".", "12", "\n", " ", "  ", "\u00e9", "\u4e2d", "'s", "<s>", "</s>", "<unk>", "<pad>", "<mask>", " <mask> ", "\u00a0<mask>", "\x1c<mask>\x1f",
         "<extra_id_0>", "<extra_id_1>", " <extra_id_99> ", "<extra_id_", "[CLS]", "[SEP]", " [MASK] ", "[PAD]", "[UNK]", "[cls]", "[MASK", "<MASK>", "<Word>", "<word>", "Foo", "foo", "fooBar", " Q",
         "<0x41>", "\u2581", "\u2581\u2581", "\u2581the", "e\u0301", "\ufb01", "\ufb01x", "\u0130", "\u03a3", "A\u03a3", "\u3000", "\u0001", "\U0001f600", "TOKENS", "tokens", "learn", "ing", "</s>",
         "\u1fb3", "\u0345", "\u2028"]
LEARNED = ["Hello, the tokens of the texts that are learned here are few.", "The pairing of bytes joins the commonest pair of tokens, then the next.",
           "It isn't the 12 texts' words alone: numbers 1234 and signs ... count too!", "Tokens, tokens and the tokens' pairs: learning is counting."] * 3


def learned(**how):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(LEARNED), model_writer=out, vocab_size=120, hard_vocab_limit=False, minloglevel=2, num_threads=1, **how)
    model = sentencepiece_model_pb2.ModelProto.FromString(out.getvalue())
    model.normalizer_spec.precompiled_charsmap = small_charsmap.compiled()
    return model.SerializeToString()


(TEXT / "tokenizers/t5_pieces.model").write_bytes(learned(pad_id=0, eos_id=1, unk_id=2, bos_id=-1))
(TEXT / "tokenizers/deberta_pieces.model").write_bytes(
    learned(pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]"))

token = lambda content, **how: {"content": content, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True, **how}  # noqa: E731
XLM_R, T5, DEBERTA = ({"tokenizer_class": n + "Tokenizer"} for n in ("XLMRoberta", "T5", "DebertaV2"))
FILES = {"XLMRoberta": "sentencepiece.bpe.model", "T5": "spiece.model", "DebertaV2": "spm.model"}
CLASSES = {"XLMRoberta": transformers.XLMRobertaTokenizer, "T5": transformers.T5Tokenizer, "DebertaV2": transformers.DebertaV2Tokenizer}

# Of each folder: its name, whose it is, the file of SentencePiece, and what the others say.
CASES = [
    ("xlm_r", "XLMRoberta", "plain", {"tokenizer_config.json": XLM_R}),
    ("xlm_r_by_type", "XLMRoberta", "unused", {"config.json": {"model_type": "xlm-roberta"}}),
    ("xlm_r_with_pad", "XLMRoberta", "behind", {"tokenizer_config.json": {**XLM_R, "tokenizer_class": "XLMRobertaTokenizerFast", "mask_token": {**token("<mask>"), "__type": "AddedToken"}}}),
    ("xlm_r_older", "XLMRoberta", "joined", {"config.json": {"model_type": "bert", "tokenizer_class": "XLMRobertaTokenizer"},
                                             "special_tokens_map.json": {"bos_token": "<s>", "cls_token": "[CLS]", "mask_token": token("<mask>", lstrip=True, rstrip=True),
                                                                         "additional_special_tokens": ["<Word>", token("foo", rstrip=True)]},
                                             "added_tokens.json": {"fooBar": 140, "[SEP]": 3}}),
    ("t5", "T5", "t5_pieces", {"config.json": {"model_type": "t5"}}),
    ("t5_bytes", "T5", "bytes", {"tokenizer_config.json": {**T5, "extra_ids": 2, "additional_special_tokens": ["<extra_id_0>", "<extra_id_1>"]}}),
    ("t5_behind_others", "T5", "plain", {"tokenizer_config.json": {**T5, "extra_ids": 3, "additional_special_tokens": ["<Word>"], "legacy": True}, "config.json": {"model_type": "bert"}}),
    ("t5_newer", "T5", "t5_pieces", {"tokenizer_config.json": {**T5, "legacy": False}}),
    ("t5_newer_without_prefix", "T5", "unused", {"tokenizer_config.json": {**T5, "legacy": False, "add_prefix_space": False, "extra_ids": 0}}),
    ("t5_newer_spaces", "T5", "spaces", {"tokenizer_config.json": {**T5, "legacy": False, "extra_ids": 1, "bos_token": "<s>"}}),
    ("deberta", "DebertaV2", "deberta_pieces", {"config.json": {"model_type": "deberta-v2"}, "tokenizer_config.json": {"do_lower_case": False, "vocab_type": "spm"}}),
    ("deberta_lower", "DebertaV2", "deberta_pieces", {"tokenizer_config.json": {**DEBERTA, "do_lower_case": True}, "added_tokens.json": {"[MASK]": 121, "Foo": 122, "<word>": 123}}),
    ("deberta_without", "DebertaV2", "plain", {"tokenizer_config.json": {**DEBERTA, "pad_token": "<pad>", "unk_token": "<unk>"}}),
    ("deberta_bytes", "DebertaV2", "bytes", {"tokenizer_config.json": {**DEBERTA, "bos_token": None, "added_tokens_decoder": {
        "7": token("fooBar", special=False, normalized=True), "500": token("[MASK]", lstrip=True), "501": token(" Q", special=False)}}}),
    ("deberta_as_is", "DebertaV2", "as_is", {"tokenizer_config.json": DEBERTA}),
]


def saved(name, whose, model, how, tokens=(), special=()):  # as save_pretrained() writes one
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / FILES[whose]).write_bytes((TEXT / f"tokenizers/{model}.model").read_bytes())
        coder = CLASSES[whose].from_pretrained(folder, **how)
        coder.add_tokens(list(tokens))
        coder.add_special_tokens({"additional_special_tokens": [*getattr(coder, "additional_special_tokens"), *special]})
        out = folder / "saved"
        coder.save_pretrained(out)
        return name, whose, model, {f.name: json.loads(f.read_text()) for f in sorted(out.glob("*.json"))}


CASES += [
    saved("xlm_r_saved", "XLMRoberta", "plain", {}, ["foo", "fooBar"], ["<Word>"]),
    saved("t5_saved", "T5", "t5_pieces", {"extra_ids": 4}, ["Foo"], []),
    saved("t5_newer_saved", "T5", "t5_pieces", {"legacy": False, "extra_ids": 2}, ["Foo", "\n"], []),
    saved("deberta_saved", "DebertaV2", "deberta_pieces", {"do_lower_case": True}, ["Foo"], ["<Word>"]),
]


def mixed(draws):
    out = ""
    for _ in range(draws.under(12)):
        kind = draws.under(20)
        out += text(draws) if kind < 2 else anywhere(draws) if kind < 4 else PARTS[draws.under(len(PARTS))]
    return out


def sums(whose, model, files):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / FILES[whose]).write_bytes((TEXT / f"tokenizers/{model}.model").read_bytes())
        for name, json_of in files.items():
            (folder / name).write_text(json.dumps(json_of))
        coder = CLASSES[whose].from_pretrained(folder)
        draws, out = Draws(7), []
        for _ in range(GROUPS):
            s = Sum()
            for _ in range(TEXTS):
                first, second, most = mixed(draws), mixed(draws), draws.under(4) * 5
                for texts in ([first], [first, second]):
                    e = coder(*texts, return_token_type_ids=True, verbose=False, **({"truncation": "longest_first", "max_length": most} if most else {}))
                    s.add((" ".join(f"{i}:{t}" for i, t in zip(e["input_ids"], e["token_type_ids"])) + "\n").encode())
            out.append(s.value)
        size = max(max(coder.get_vocab().values()), max(coder.added_tokens_decoder)) + 1
        return size, out


rows = []
for name, whose, model, files in CASES:
    size, values = sums(whose, model, files)
    said = ",\n      ".join(f'{{"{n}", {literal(json.dumps(v))}}}' for n, v in files.items())
    rows.append(f'    {{"{name}", "{model}", "{FILES[whose]}", {size},\n     {{{said}}},\n     {{' + ", ".join(f"0x{v:08x}" for v in values) + "}},")
body = f"""// Written by parity/named_pieces.py, with version {transformers.__version__} of the package transformers and {sentencepiece.__version__} of sentencepiece.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace named_pieces_reference {{

inline constexpr char const* parts[] = {{{", ".join(literal(p) for p in PARTS)}}};
inline constexpr int texts = {TEXTS};

struct folder {{
  char const *name, *model, *file;
  std::size_t size;  // ids are below it
  std::vector<std::pair<std::string, std::string>> files;
  std::uint32_t of_groups[{GROUPS}];
}};
inline std::vector<folder> const all = {{
{chr(10).join(rows)}
}};

}}  // namespace named_pieces_reference
"""
(TEXT / "named_pieces_reference.hpp").write_text(body)
