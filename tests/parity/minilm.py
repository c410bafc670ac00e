#!/usr/bin/env python3
"""Usage: minilm.py --tx minilm_step --model DIR --texts FILE

MiniLM as it was trained, with a new head of two labels, by tx and by transformers, in f32: hidden states of every token within 1e-5, the loss and every
parameter's gradient within 1e-4 of the largest in its tensor, and the losses of 100 steps of AdamW within 1e-3. Texts: label<TAB>text, as
examples/bert/data/fetch.sh makes them. The folder that tx reads is one that transformers has written; a warning of either is an error.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import warnings

import torch
import transformers
from safetensors.torch import load_file, save_file

TEXTS, TOKENS, BATCHES, STEPS, RATE, DECAY = 8, 48, 10, 100, 1e-4, 0.01


def batches(words, file):
    rows = [line.rstrip("\n").split("\t") for line in open(file, encoding="utf-8")][: TEXTS * BATCHES]
    names = sorted({row[0] for row in rows})
    coded = words([row[1] for row in rows], truncation=True, max_length=TOKENS, padding="max_length", return_tensors="pt")
    shape = (BATCHES, TEXTS, TOKENS)
    return {"ids": coded["input_ids"].int().reshape(shape), "mask": coded["attention_mask"].int().reshape(shape),
            "labels": torch.tensor([names.index(row[0]) for row in rows], dtype=torch.int32).reshape(BATCHES, TEXTS)}


def reference(model, data):
    def given(k):
        k %= BATCHES
        return {"input_ids": data["ids"][k].long(), "attention_mask": data["mask"][k].long()}, data["labels"][k].long()

    inputs, labels = given(0)
    with torch.no_grad():
        found = {"hidden": model.base_model(**inputs).last_hidden_state}
    loss = model(**inputs, labels=labels).loss
    loss.backward()
    found["loss"] = loss.detach()
    for name, p in model.named_parameters():
        found["gradient." + name] = torch.zeros_like(p) if p.grad is None else p.grad.clone()
    plain = lambda n: n.endswith("bias") or "LayerNorm" in n
    groups = [{"params": [p for n, p in model.named_parameters() if plain(n) == k], "weight_decay": 0.0 if k else DECAY} for k in (False, True)]
    optimizer = torch.optim.AdamW(groups, lr=RATE)
    losses = []
    for k in range(STEPS):
        inputs, labels = given(k)
        optimizer.zero_grad(set_to_none=True)
        loss = model(**inputs, labels=labels).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    found["losses"] = torch.tensor(losses)
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tx", "model", "texts"):
        p.add_argument("--" + name, type=pathlib.Path, required=True)
    o = p.parse_args()
    torch.manual_seed(1)
    transformers.utils.logging.set_verbosity_error()  # that the head is new is known
    words = transformers.AutoTokenizer.from_pretrained(o.model)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(o.model, num_labels=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0).float()
    data = batches(words, o.texts)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        model.save_pretrained(work / "folder")
        words.save_pretrained(work / "folder")
        save_file({k: v.contiguous() for k, v in data.items()}, work / "batches.safetensors")
        done = subprocess.run([o.tx, work / "folder", work / "batches.safetensors", work / "out.safetensors"], capture_output=True, text=True)
        if done.returncode != 0 or done.stderr:
            sys.exit(f"{o.tx}: {done.stdout}{done.stderr}")
        own = load_file(work / "out.safetensors")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = reference(model, data)
    if set(own) != set(wanted):
        sys.exit(f"names differ: {sorted(set(own) ^ set(wanted))}")

    there = data["mask"][0].bool()
    hidden = (own["hidden"] - wanted["hidden"])[there].abs().max().item()
    loss = abs(own["loss"].item() / wanted["loss"].item() - 1)
    largest = lambda k: wanted[k.replace("key.bias", "query.bias")].abs().max().clamp_min(1e-6)  # a key's bias changes no attention: its gradient is rounding
    slopes = {k: ((own[k] - v).abs().max() / largest(k)).item() for k, v in wanted.items() if k.startswith("gradient.")}
    worst = max(slopes, key=slopes.get)
    losses = (own["losses"] - wanted["losses"]).abs().max().item()
    print(f"hidden states within {hidden:.1e}, loss {loss:.1e}, {len(slopes)} gradients {slopes[worst]:.1e} ({worst}), losses of {STEPS} steps {losses:.1e}"
          f" (from {wanted['losses'][0]:.4f} to {wanted['losses'][-1]:.4f})")
    if hidden > 1e-5 or loss > 1e-4 or slopes[worst] > 1e-4 or losses > 1e-3:
        sys.exit("too far from transformers'")


if __name__ == "__main__":
    main()
