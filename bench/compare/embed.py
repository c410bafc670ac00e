#!/usr/bin/env python3
"""Usage: embed.py --tx bert --model DIR --texts FILE,FILE... [--count N] [--rounds N]

Sentences to vectors: tx's `bert embed` beside sentence-transformers with PyTorch and, where the packages are there, its ONNX and OpenVINO backends, each with
batches of several sizes, of which the best counts (it sorts texts by length itself). Sentences per second, medians of rounds in turns; the vectors have
to be the same. tx is timed as a whole process, its start, the reading of the model and the writing of all numbers as text with it, the others without
their start and with nothing written.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from processor import multiplies_bf16

IN_BF16 = "-bf16"  # behind the name of a backend


def texts_of(o):
    rows = [line.rstrip("\n").split("\t")[-1] for file in o.texts.split(",") for line in open(file, encoding="utf-8")]
    return (rows * (o.count // len(rows) + 1))[: o.count]


def peer(o):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(o.threads)
    backend, halves = o.backend.removesuffix(IN_BF16), o.backend.endswith(IN_BF16)
    more = {}
    if backend == "openvino":
        more = {"ov_config": {"INFERENCE_PRECISION_HINT": "bf16" if halves else "f32"}}
    elif halves:
        more = {"torch_dtype": torch.bfloat16}
    model = SentenceTransformer(o.model, backend=backend, device="cpu", model_kwargs=more)
    texts, best = texts_of(o), (0.0, 0)
    first = model.encode(texts[:200], batch_size=32, show_progress_bar=False)
    for size in (16, 32, 64):
        start = time.perf_counter()
        model.encode(texts, batch_size=size, show_progress_bar=False)
        best = max(best, (len(texts) / (time.perf_counter() - start), size))
    print(json.dumps({"rate": best[0], "batch": best[1], "vectors": first.astype("float32").tolist()}))


def of_tx(o, texts, *more):
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as f, tempfile.TemporaryFile("w+") as out:
        f.write("".join(t + "\n" for t in texts))
        f.flush()
        start = time.perf_counter()
        subprocess.run([o.tx, "embed", "--model", o.model, "--text", f.name, "--threads", str(o.threads), *more], stdout=out, check=True)
        seconds = time.perf_counter() - start
        out.seek(0)
        return len(texts) / seconds, [json.loads(next(out)) for _ in range(min(200, len(texts)))]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tx", required=True)
    p.add_argument("--model", required=True)
    p.add_argument("--texts", required=True)
    p.add_argument("--count", type=int, default=10_000)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--backends", default="torch,onnx,openvino")
    p.add_argument("--backend", default="", help="one of the others")
    o = p.parse_args()
    if o.backend:
        return peer(o)
    backends = [b for b in o.backends.split(",") if b]
    compare(o, "f32", backends, [], 1e-4)
    if multiplies_bf16():
        compare(o, "bf16", [b + IN_BF16 for b in backends if b != "onnx"], ["--bf16"], 2e-2)


def compare(o, precision, backends, more, apart_at_most):
    texts, rates, left_out = texts_of(o), {"tx": []}, set()
    for _ in range(o.rounds):
        rate, own = of_tx(o, texts, *more)
        rates["tx"].append(rate)
        print(f"tx in {precision}: {rate:.0f} sentences/s", flush=True)
        for backend in backends:
            if backend in left_out:
                continue
            arguments = ["--tx", o.tx, "--model", o.model, "--texts", o.texts, "--count", o.count, "--threads", o.threads, "--backend", backend]
            ran = subprocess.run([sys.executable, __file__, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if ran.returncode != 0:
                print(f"{backend} is left out: {ran.stderr.strip().splitlines()[-1] if ran.stderr.strip() else ran.returncode}")
                left_out.add(backend)
                continue
            told = json.loads(ran.stdout.splitlines()[-1])
            apart = max(abs(a - b) for x, y in zip(own, told["vectors"]) for a, b in zip(x, y))
            rates.setdefault(backend, []).append(told["rate"])
            print(f"{backend}: {told['rate']:.0f} sentences/s in batches of {told['batch']}, vectors within {apart:.1e} of tx's", flush=True)
            if apart > apart_at_most:
                sys.exit("these are other vectors")
    medians = {name: statistics.median(r) for name, r in rates.items()}
    if len(medians) == 1:
        return print(f"{precision}: no other ran")
    best = max((m, name) for name, m in medians.items() if name != "tx")
    print(f"{precision}, {len(texts)} sentences, {o.threads} threads: tx {medians['tx']:.0f} sentences/s, {medians['tx'] / best[0]:.2f} times the best other, {best[1]}", flush=True)


if __name__ == "__main__":
    main()
