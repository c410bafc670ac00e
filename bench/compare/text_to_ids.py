#!/usr/bin/env python3
"""Usage: text_to_ids.py --tx bench_tokenize [--texts FILE...] [--rounds N]

Lines of text to ids, on one thread: tx beside Hugging Face's tokenizers, in turns, with vocabularies that those learn of the same lines, and Unigram's that
the package sentencepiece learns of some of them, if it is there. FILEs are by default the licences and copyright notes that Debian installs. The ids have to
be the same.
"""
import argparse
import glob
import io
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

try:
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2
except ImportError:
    sentencepiece = None

options = argparse.ArgumentParser()
options.add_argument("--tx", required=True)
options.add_argument("--texts", nargs="*")
options.add_argument("--rounds", type=int, default=5)
args = options.parse_args()


def word_pieces(lines):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=30522, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", t.token_to_id("[SEP]")), ("[CLS]", t.token_to_id("[CLS]")))
    return t


def byte_pairs(lines):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=50257, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<s>", "</s>"], show_progress=False))
    t.post_processor = processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")), add_prefix_space=False)
    return t


def pieces(lines):  # with the map of characters of T5 and others, as DeBERTa changes and cuts texts
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(line for line in lines if line.strip()), model_writer=model, vocab_size=32000, hard_vocab_limit=False,
                                             input_sentence_size=100000, num_threads=1, minloglevel=2)
    learned = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    t = Tokenizer(models.Unigram([(p.piece, p.score) for p in learned.pieces], 0, False))
    t.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.Precompiled(learned.normalizer_spec.precompiled_charsmap),
                                         normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.add_special_tokens(["</s>"])
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    return t


def reference(t, lines):
    best, sum_ = 1e30, 0
    for k in range(2):
        start, count, sum_ = time.perf_counter(), 0, 0
        every = [t.encode(line).ids for line in lines]
        best = min(best, time.perf_counter() - start)
    for ids in every:
        for i in ids:
            sum_ = (sum_ * 31 + i) % 2**64
    return best, sum(len(ids) for ids in every), sum_


paths = args.texts or [*glob.glob("/usr/share/common-licenses/*"), *glob.glob("/usr/share/doc/*/copyright")]
text = "\n".join(pathlib.Path(p).read_text(errors="replace") for p in sorted(paths) if os.path.isfile(p)).replace("\r", " ")
lines = [line for line in text.split("\n")]
with tempfile.TemporaryDirectory() as folder:
    texts = os.path.join(folder, "texts")
    pathlib.Path(texts).write_text("\n".join(lines) + "\n")
    every = [("WordPiece", word_pieces), ("byte pairs", byte_pairs)]
    if sentencepiece:
        every.append(("Unigram", pieces))
    else:
        print("the packages sentencepiece and protobuf are missing: without Unigram", flush=True)
    for name, how in every:
        made = how(lines)
        file = os.path.join(folder, "tokenizer.json")
        made.save(file)
        ratios = []
        for _ in range(args.rounds):
            own = json.loads(subprocess.run([args.tx, file, texts], capture_output=True, text=True, check=True).stdout)
            seconds, count, sum_ = reference(made, lines)
            if (own["ids"], own["sum"], own["lines"]) != (count, sum_, len(lines)):
                raise SystemExit(f"{name}: other ids than the reference's: {own['ids']} in {own['lines']} lines, {count} in {len(lines)}")
            ratios.append(seconds / own["best_s"])
        print(f"{name}: {len(text) / 1e6:.1f} MB, {count} ids, {count / own['best_s'] / 1e6:.1f} million ids/s, {statistics.median(ratios):.1f} times tokenizers' speed "
              f"({min(ratios):.1f} to {max(ratios):.1f})", flush=True)
