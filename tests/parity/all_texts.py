#!/usr/bin/env python3
"""Usage: all_texts.py --tx text_tokens [--reviews DIR] [--packages DIR] [--learned N]

Every film review that `make bert` fetches and every package description that `make train` fetches, through tokenizers of each kind that Hugging Face's package
learns of N of them, and through MiniLM's own: ids, where tokens lie and what they become again have to be the package's. Fetches what is not in DIR yet.
Prints a line for each kind, and fails where a text differs. `make parity` runs it.
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

ROOT = pathlib.Path(__file__).parent.parent.parent
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]

options = argparse.ArgumentParser()
options.add_argument("--tx", required=True)
options.add_argument("--reviews", type=pathlib.Path, default=ROOT / ".cache/bert")
options.add_argument("--packages", type=pathlib.Path, default=ROOT / ".cache/twinbert")
options.add_argument("--learned", type=int, default=20000)
args = options.parse_args()


def reviews():
    subprocess.run([ROOT / "examples/bert/data/fetch.sh", args.reviews], check=True)
    return [line.split("\t")[1] for name in ("train.tsv", "dev.tsv") for line in (args.reviews / name).read_text(encoding="utf-8").splitlines()]


def descriptions():
    """As the indexes have them: the first line of a description follows its name, others begin with a space, empty ones with a point."""
    subprocess.run([ROOT / "examples/twinbert/data/fetch.sh", args.packages], check=True)
    state = args.packages.resolve() / "apt"
    found = []
    for path in sorted((state / "lists").glob("*_Translation-en*")):
        index = subprocess.run(["/usr/lib/apt/apt-helper", "-c", state / "apt.conf", "cat-file", path], capture_output=True, check=True).stdout.decode(errors="replace")
        for text in re.findall(r"^Description-en: (.*(?:\n .*)*)", index, re.MULTILINE):
            found.append("\n".join("" if line == " ." else line[1:] if line.startswith(" ") else line for line in text.split("\n")))
    return found


def word_pieces(texts):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer, t.decoder = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    t.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=30522, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", t.token_to_id("[SEP]")), ("[CLS]", t.token_to_id("[CLS]")))
    return t


def byte_pairs(texts, normalizer=None):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    if normalizer is not None:
        t.normalizer = normalizer
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=50265, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=SPECIAL, show_progress=False))
    t.post_processor = processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")), add_prefix_space=False)
    return t


def pieces(texts):  # as ALBERT changes and cuts texts
    t = Tokenizer(models.Unigram())
    n = normalizers
    t.normalizer = n.Sequence([n.Replace("``", '"'), n.Replace("''", '"'), n.NFKD(), n.StripAccents(), n.Lowercase()])
    t.pre_tokenizer, t.decoder = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]), decoders.Metaspace()
    t.train_from_iterator(texts, trainers.UnigramTrainer(vocab_size=30000, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[(s, t.token_to_id(s)) for s in ("<s>", "</s>")])
    return t


def expected(t, text):
    at = [0]  # of each character, and of the end: how many bytes of UTF-8 come before it
    for c in text:
        at.append(at[-1] + len(c.encode()))
    e = t.encode(text)
    where = [(0, 0) if of is None else (at[a], at[b]) for of, (a, b) in zip(e.sequence_ids, e.offsets)]
    return e.ids, where, t.decode(e.ids)


def compare(name, t, texts, folder):
    t.no_truncation()
    t.no_padding()
    file, given = folder / "tokenizer.json", folder / "texts"
    t.save(str(file))
    given.write_bytes(b"".join(text.encode() + b"\0" for text in texts))
    ran = subprocess.Popen([args.tx, file, given], stdout=subprocess.PIPE)
    tokens, differing, shown = 0, [0, 0, 0], 0
    count = 0
    for text, line in zip(texts, ran.stdout):
        ids, where, again = line.decode().rstrip("\n").split("\t", 2)
        own = [int(i) for i in ids.split()], [tuple(map(int, r.split("-"))) for r in where.split()], json.loads(again)
        wanted = expected(t, text)
        for k in range(3):
            differing[k] += own[k] != wanted[k]
        if own != wanted and shown < 3:
            shown += 1
            print(f"  {name}: {text!r}\n    tx {own}\n    tokenizers {wanted}", file=sys.stderr)
        tokens += len(wanted[0])
        count += 1
    if ran.wait() != 0 or count != len(texts):
        raise SystemExit(f"{name}: {args.tx} has told of {count} texts of {len(texts)}")
    print(f"{name}: {count} texts, {tokens} tokens; with other ids {differing[0]}, other places {differing[1]}, another text of the ids {differing[2]}", flush=True)
    return any(differing)


films, packages = reviews(), descriptions()
texts = films + packages
print(f"{len(films)} reviews, {len(packages)} descriptions, {sum(len(t.encode()) for t in texts) / 1e6:.1f} MB", flush=True)
some = random.Random(1).sample(texts, min(args.learned, len(texts)))
wrong = False
with tempfile.TemporaryDirectory() as folder:
    for name, make in (("MiniLM's WordPiece", lambda: Tokenizer.from_file(str(args.reviews / "minilm/tokenizer.json"))),
                       ("WordPiece", lambda: word_pieces(some)), ("byte pairs", lambda: byte_pairs(some)),
                       ("byte pairs behind NFC", lambda: byte_pairs(some, normalizers.NFC())), ("Unigram as ALBERT", lambda: pieces(some))):
        wrong |= compare(name, make(), texts, pathlib.Path(folder))
sys.exit(wrong)
