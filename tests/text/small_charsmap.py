"""A map of a few characters as SentencePiece compiles it, which its trainer does: for scripts beside it that learn small tokenizers."""
import io
import os
import pathlib
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

# What is read, and what it becomes: widths, ligatures, accents, spaces, signs that vanish, strings of several characters, one that begins another.
RULES = {"\uff21": "A", "\uff42": "b", "\ufb01": "fi", "\u2122": "TM", "\u00bd": "1\u20442",
         "e\u0301": "\u00e9", "\u0340": "\u0300", "\u0344": "\u0308\u0301", "\u00a0": " ", "\u3000": " ", "\t": " ", "\n": " ", "\r": " ",
         "\u0001": "", "\u007f": "", "\u200b": " ", "\u00ad": "", "\ufeff": "", "\u2581": " ", "\u00a9": "(c)", "\u00a8": " \u0308", "\u0e33": "\u0e4d\u0e32",
         "\u1100\u1161": "\uac00", "\u0915\u094d": "\u0915",
         "\U0001f600": ":)", "\uff76\uff9e": "\u30ac", "\uff76": "\u30ab", "ab\u0301": "x"}


def compiled():
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "rules.tsv")
        lines = ("\t".join(" ".join(f"{ord(c):X}" for c in text) for text in rule) for rule in RULES.items())
        pathlib.Path(rules).write_text("\n".join(lines) + "\n")
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["the tokens of the texts"]), model_writer=out, vocab_size=16, hard_vocab_limit=False,
                                                 minloglevel=2, normalization_rule_tsv=rules)
    return sentencepiece_model_pb2.ModelProto.FromString(out.getvalue()).normalizer_spec.precompiled_charsmap
