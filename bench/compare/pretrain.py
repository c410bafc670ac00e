#!/usr/bin/env python3
"""Usage: pretrain.py --tx tiny_bert --texts train.tsv --dev dev.tsv [--seconds 600 | --steps N] [--seeds 1,2,3]

A tiny BERT (bench/tiny_bert) pre-trained from nothing by `tiny_bert pretrain`, and by PyTorch from the same weights and the same batches with LAMB: the
losses of both, step by step. Then what tx has trained and the same network untrained are fine-tuned alike on 8,000 pairs of a name and a description, half of
them another's: accuracy and AUC of both on 4,000 pairs of other names.
--texts, --dev: name<TAB>description[<TAB>...], as examples/twinbert/data/fetch.sh makes them; a description's sentences are a document. Their words are
cut by a vocabulary that the package tokenizers makes of --texts.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from labelled_pairs import rows, with_negatives, write_labelled

RATE, DECAY, WARMUP = 1e-2, 0.01, 0.05
TUNING_RATE = 1e-3  # of so small a network
HERE = pathlib.Path(__file__).parent


def write_documents(source, target):
    with open(source, encoding="utf-8") as f, open(target, "w", encoding="utf-8") as out:
        for row in f:
            sentences = [s for s in re.split(r"(?<=[.!?])\s+", row.rstrip("\n").split("\t")[1]) if s]
            if len(sentences) > 1:
                out.write("".join(s + "\n" for s in sentences) + "\n")


def fresh_folder(texts, folder, seed):
    """Weights as transformers draws them, with a vocabulary made of the texts."""
    import tokenizers
    import torch
    import transformers

    torch.manual_seed(seed)
    config = transformers.BertConfig.from_json_file(HERE.parent / "tiny_bert" / "config.json")
    transformers.BertForPreTraining(config).save_pretrained(folder)
    vocabulary = tokenizers.BertWordPieceTokenizer(lowercase=True)
    vocabulary.train([str(texts)], vocab_size=config.vocab_size, show_progress=False)
    vocabulary.save_model(str(folder))
    transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)


class Lamb:
    """You et al., arXiv 1904.00962, algorithm 2, with decay for matrices alone; vectors, which have none, take Adam's steps."""

    def __init__(self, named):
        self.all = [(p, 0.0 if n.endswith("bias") or "LayerNorm" in n else DECAY) for n, p in named]
        self.means = [(p.new_zeros(p.shape), p.new_zeros(p.shape)) for p, _ in self.all]
        self.done = 0

    def step(self, rate):
        self.done += 1
        for (p, decay), (mean, square) in zip(self.all, self.means):
            mean.mul_(0.9).add_(p.grad, alpha=0.1)
            square.mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
            direction = (mean / (1 - 0.9**self.done)) / ((square / (1 - 0.999**self.done)).sqrt() + 1e-6) + decay * p
            wanted, length = p.norm().item(), direction.norm().item()
            p.sub_(direction, alpha=rate * (wanted / length if decay > 0 and wanted > 0 and length > 0 else 1.0))


def by_pytorch(folder, batches, steps, threads):
    """The losses of so many steps, and the seconds they took."""
    import torch
    import transformers

    torch.set_num_threads(threads)
    model = transformers.BertForPreTraining.from_pretrained(folder).train()  # its dropout is 0
    optimizer, losses, start = Lamb(list(model.named_parameters())), [], time.perf_counter()
    for done, line in enumerate(open(batches, encoding="utf-8")):
        texts = json.loads(line)["texts"]
        longest = max(len(t["ids"]) for t in texts)
        ids, types, mask = (torch.zeros((len(texts), longest), dtype=torch.long) for _ in range(3))
        labels = torch.full((len(texts), longest), -100, dtype=torch.long)
        for i, t in enumerate(texts):
            n = len(t["ids"])
            ids[i, :n], types[i, :n], mask[i, :n] = torch.tensor(t["ids"]), torch.tensor(t["types"]), 1
            labels[i, t["places"]] = torch.tensor(t["words"])
        others = torch.tensor([int(t["other"]) for t in texts])
        hidden, pooled = model.bert(ids, attention_mask=mask, token_type_ids=types, return_dict=False)
        told = labels >= 0  # the head for masked words alone, as tx has it
        loss = torch.nn.functional.cross_entropy(model.cls.predictions(hidden[told]), labels[told]) + torch.nn.functional.cross_entropy(model.cls.seq_relationship(pooled), others)
        model.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        share = (done + 0.5) / steps
        with torch.no_grad():
            optimizer.step(RATE * (share / WARMUP if share < WARMUP else ((1 - share) / (1 - WARMUP)) ** 0.5))
        losses.append(loss.item())
    return losses, time.perf_counter() - start


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def pretrained(o, fresh, work, out, steps, more=()):
    text = run(o.tx, "pretrain", "--text", work / "texts", "--dev", work / "dev", "--model", fresh, "--out", out, "--rate", RATE, "--decay", DECAY, "--warmup", WARMUP,
               "--dropout", 0, "--passes", 0, "--threads", o.threads, "--steps", steps, "--validations", 1, *more)
    print(f"tx        {text.strip()}", flush=True)
    return float(re.search(r"in ([0-9.]+) s", text)[1])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tx", "texts", "dev"):
        p.add_argument("--" + name, type=pathlib.Path, required=True)
    p.add_argument("--seconds", type=float, default=600)
    p.add_argument("--steps", type=int, default=0)
    p.add_argument("--seeds", default="1,2,3", help="of fine-tuning")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    o = p.parse_args()
    o.tx = o.tx.resolve()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        write_documents(o.texts, work / "texts")
        write_documents(o.dev, work / "dev")
        write_labelled(work / "pairs.tsv", with_negatives(rows(o.texts), 8000))
        write_labelled(work / "other_pairs.tsv", with_negatives(rows(o.dev), 4000))
        fresh_folder(work / "texts", work / "fresh", 1)
        steps = o.steps or int(60 * o.seconds / pretrained(o, work / "fresh", work, work / "trial", 60))
        seconds = pretrained(o, work / "fresh", work, work / "out", steps, ("--batches", work / "batches"))
        theirs, their_seconds = by_pytorch(work / "fresh", work / "batches", steps, o.threads)
        ours = {row["step"]: row["loss"] for row in map(json.loads, open(work / "out" / "metrics.jsonl", encoding="utf-8")) if "loss" in row}
        print(f"{steps} steps: tx {seconds:.1f} s with writing of batches and validation, PyTorch {their_seconds:.1f} s with reading of batches")
        worst = 0.0
        for step, loss in sorted(ours.items()):
            worst = max(worst, abs(loss - theirs[step - 1]) / theirs[step - 1])
            if step == 1 or step == steps or step % max(1, steps // 10 // 10 * 10) == 0:
                print(f"step {step:6}  tx {loss:.4f}  PyTorch {theirs[step - 1]:.4f}")
        late = [(loss, theirs[step - 1]) for step, loss in ours.items() if 2 * step > steps]
        mean = sum(a for a, _ in late) / sum(b for _, b in late) - 1
        print(f"losses of {len(ours)} steps differ by {100 * worst:.3f}% at most, their mean over the second half by {100 * mean:+.3f}%", flush=True)
        for seed in o.seeds.split(","):
            told = []
            for start in ("out", "fresh"):
                text = run(o.tx, "finetune", "--model", work / start, "--data", work / "pairs.tsv", "--dev", work / "other_pairs.tsv", "--out", work / "tuned", "--seed", seed, "--rate", TUNING_RATE, "--threads", o.threads)
                told.append(re.search(r"accuracy [0-9.]+ +AUC [0-9.]+", text)[0])
                shutil.rmtree(work / "tuned")
            print(f"fine-tuned, seed {seed}: {told[0]} after pre-training, {told[1]} without", flush=True)


if __name__ == "__main__":
    main()
