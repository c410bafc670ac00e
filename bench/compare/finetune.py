#!/usr/bin/env python3
"""Usage: finetune.py --tx bert --data DIR [--seeds 1,2,3] [--epochs N] [--steps N] [--rate R]

A pretrained encoder fine-tuned on labelled sentences: tx's `bert finetune` beside PyTorch with the same weights, recipe and batches of as many
sentences, each padded to its longest. DIR is what examples/bert/data/fetch.sh makes. Prints accuracy, seconds and peak memory of both for each
seed, then opens tx's folder with transformers: its logits have to be tx's.
Where the processor multiplies bf16, as tx then does too, PyTorch also runs under autocast.
--steps: of each, so many steps only, to compare their time. They run one after the other, as each uses all processors.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from processor import multiplies_bf16

LENGTH, BATCH, WARMUP, DECAY = 64, 32, 0.1, 0.01


def lines(path):
    return [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]


def peer(o):
    """PyTorch's side, in a process of its own: prints a line of JSON."""
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed)
    folder = o.data / "minilm"
    words = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2)
    train, dev = lines(o.data / "train.tsv"), lines(o.data / "dev.tsv")
    label = {name: k for k, name in enumerate(sorted({row[0] for row in train}))}
    coded = words([row[1] for row in train], truncation=True, max_length=LENGTH)["input_ids"]
    targets = torch.tensor([label[row[0]] for row in train])

    def batch_of(ids):
        longest = max(map(len, ids))
        padded = torch.zeros((len(ids), longest), dtype=torch.long)
        mask = torch.zeros_like(padded)
        for i, row in enumerate(ids):
            padded[i, : len(row)] = torch.tensor(row)
            mask[i, : len(row)] = 1
        return {"input_ids": padded, "attention_mask": mask}

    plain = lambda n: n.endswith("bias") or "LayerNorm" in n
    named = list(model.named_parameters())
    optimizer = torch.optim.AdamW([{"params": [p for n, p in named if plain(n) == k], "weight_decay": 0.0 if k else DECAY} for k in (False, True)], lr=o.rate)
    steps = o.steps or int(o.epochs * len(train) / BATCH)
    start, order, at, losses = time.perf_counter(), torch.randperm(len(train)), 0, []
    model.train()
    for step in range(steps):
        if at + BATCH > len(order):
            order, at = torch.randperm(len(train)), 0
        rows = order[at : at + BATCH]
        at += BATCH
        done = (step + 0.5) / steps
        for g in optimizer.param_groups:
            g["lr"] = o.rate * (done / WARMUP if done < WARMUP else (1 - done) / (1 - WARMUP))
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=o.autocast):
            loss = model(**batch_of([coded[i] for i in rows]), labels=targets[rows]).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    seconds = time.perf_counter() - start
    model.eval()
    right = 0
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=o.autocast):
        for i in range(0, len(dev), BATCH):
            part = dev[i : i + BATCH]
            told = model(**batch_of(words([row[1] for row in part], truncation=True, max_length=LENGTH)["input_ids"])).logits.argmax(-1)
            right += sum(int(t) == label[row[0]] for t, row in zip(told, part))
    print(json.dumps({"accuracy": right / len(dev), "seconds": seconds, "steps": steps, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def of_tx(o, seed, out):
    command = [o.tx, "finetune", "--model", o.data / "minilm", "--data", o.data / "train.tsv", "--dev", o.data / "dev.tsv", "--out", out, "--seed", str(seed),
               "--rate", str(o.rate), "--warmup", str(WARMUP), "--decay", str(DECAY), "--length", str(LENGTH), "--threads", str(o.threads), "--validations", "1"]
    command += ["--steps", str(o.steps)] if o.steps else ["--epochs", str(o.epochs)]
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    found = re.search(r"accuracy ([0-9.]+).*?(\d+) steps in ([0-9.]+) s", text)
    if status != 0 or not found:
        sys.exit(f"bert finetune failed: {text}")
    return {"accuracy": float(found[1]), "seconds": float(found[3]), "steps": int(found[2]), "megabytes": usage.ru_maxrss / 1024}


def opens(o, folder):
    """The largest difference between transformers' probabilities of tx's folder and tx's own."""
    import torch
    import transformers

    words = transformers.AutoTokenizer.from_pretrained(folder)
    model, told = transformers.AutoModelForSequenceClassification.from_pretrained(folder, output_loading_info=True)
    if any(told[k] for k in ("missing_keys", "unexpected_keys", "mismatched_keys")):
        sys.exit(f"transformers does not find everything in the folder: {told}")
    sentences = [row[1] for row in lines(o.data / "dev.tsv")[:200]]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as f:
        f.write("".join(s + "\n" for s in sentences))
        f.flush()
        rows = subprocess.run([o.tx, "predict", "--model", folder, "--text", f.name], capture_output=True, text=True, check=True).stdout.splitlines()
    worst = 0.0
    with torch.no_grad():
        for sentence, row in zip(sentences, rows):
            name, probability, _ = row.split("\t", 2)
            p = model.eval()(**words(sentence, return_tensors="pt", truncation=True, max_length=256)).logits[0].softmax(-1)
            worst = max(worst, abs(p[model.config.label2id[name]].item() - float(probability)))
    return worst


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tx", required=True)
    p.add_argument("--data", type=pathlib.Path, required=True)
    p.add_argument("--seeds", default="1")
    p.add_argument("--epochs", type=float, default=3)
    p.add_argument("--steps", type=int, default=0)
    p.add_argument("--rate", type=float, default=1e-4)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--alone", action="store_true", help="tx alone")
    p.add_argument("--peer", action="store_true", help="PyTorch's side")
    p.add_argument("--autocast", action="store_true", help="of PyTorch's side: products in bf16")
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    if o.peer:
        return peer(o)
    for seed in o.seeds.split(","):
        out = tempfile.mkdtemp()
        told = {"tx": of_tx(o, seed, out + "/model")}
        if not o.alone:
            more = ["--peer", "--tx", o.tx, "--data", o.data, "--epochs", o.epochs, "--steps", o.steps, "--rate", o.rate, "--threads", o.threads, "--seed", seed]
            halves = multiplies_bf16()
            for name, how in {"PyTorch": [], **({"PyTorch, autocast": ["--autocast"]} if halves else {})}.items():
                told[name] = json.loads(subprocess.run([sys.executable, __file__, *map(str, more), *how], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1])
        for name, t in told.items():
            print(f"seed {seed}  {name:17} accuracy {t['accuracy']:.4f}  {t['seconds']:.1f} s for {t['steps']} steps  peak {t['megabytes']:.0f} MB", flush=True)
        if not o.alone:
            a = told.pop("tx")
            for name, b in told.items():
                print(f"seed {seed}  tx takes {a['seconds'] / b['seconds']:.2f} of the time and {a['megabytes'] / b['megabytes']:.2f} of the memory of {name}", flush=True)
            apart = opens(o, out + "/model")
            print(f"seed {seed}  transformers opens tx's folder: probabilities within {apart:.1e}", flush=True)
            if apart > 1e-4:
                sys.exit("these are other probabilities")
        shutil.rmtree(out)


if __name__ == "__main__":
    main()
