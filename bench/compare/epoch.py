#!/usr/bin/env python3
"""Texts of 4 to 64 tokens, once through, with a 6 x 512 encoder: tx packs them, 2,048 tokens a step; PyTorch pads each batch to its
longest text, as they come or sorted by length. As many texts a step on both sides, in turns. Run with --peer it is PyTorch.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import types

BATCH = 85  # texts: what fills 2,048 tokens on average


class Texts:
    """As bench_epoch draws them."""

    def __init__(self):
        self.state = 1

    def below(self, n):
        self.state = (self.state * 1103515245 + 12345) % 2**32
        return (self.state >> 8) % n

    def text(self):
        length = 4 + min(self.below(61), self.below(61))
        return [self.below(30522) for _ in range(length)]


def peer(args):
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import peer_step
    if args.tuned:
        peer_step.keep_freed_memory()
    options = types.SimpleNamespace(peer="torch", check=None, dropout=0.1, threads=args.threads, pool="first", dtype=args.dtype)
    torch = peer_step.Torch(options, peer_step.MODELS["twin"])

    def epoch(count):
        texts = Texts()
        drawn = [texts.text() for _ in range(count)]
        if args.sorted:
            drawn.sort(key=len)
        for first in range(0, count, BATCH):
            batch = drawn[first:first + BATCH]
            longest = max(map(len, batch))
            loss = torch.step([t + [0] * (longest - len(t)) for t in batch], [(first + i) % 2 for i in range(len(batch))],
                              [[1] * len(t) + [0] * (longest - len(t)) for t in batch])
        return loss

    epoch(2 * BATCH)  # warms up
    start = time.perf_counter()
    loss = epoch(args.texts)
    print(json.dumps({"loss": loss, "texts_per_s": args.texts / (time.perf_counter() - start),
                      "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="Python of the environment that setup.sh has made")
    parser.add_argument("--tx", help="bench_epoch")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--texts", type=int, default=1020)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--sorted", action="store_true", help="batches of texts of like length")
    parser.add_argument("--tuned", action="store_true", help="glibc keeps freed memory")
    args = parser.parse_args()
    if args.peer:
        return peer(args)

    sizes = ["--texts", str(args.texts), "--threads", str(args.threads), "--dtype", args.dtype]
    torch = [args.python, os.path.abspath(__file__), "--peer", *sizes]
    commands = {"tx, packed": [args.tx, *sizes], "PyTorch, padded": torch, "PyTorch, padded, tuned allocator": [*torch, "--tuned"],
                "PyTorch, sorted by length": [*torch, "--sorted"], "PyTorch, sorted, tuned allocator": [*torch, "--sorted", "--tuned"]}
    rows = {name: [] for name in commands}
    for _ in range(args.rounds):
        for name, command in commands.items():
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows[name].append(json.loads(done.stdout.strip().splitlines()[-1]))
    for name, found in rows.items():
        if not all(0 < r["loss"] < 5 for r in found):
            sys.exit(f"{name} does not train: losses {[r['loss'] for r in found]}")
    middle = {name: statistics.median(r["texts_per_s"] for r in found) for name, found in rows.items()}
    best = max(rate for name, rate in middle.items() if not name.startswith("tx"))
    print(f"{args.texts} texts of 4 to 64 tokens, {args.dtype}, {args.threads} threads: {middle['tx, packed'] / best:.2f} times PyTorch")
    for name, found in rows.items():
        print(f"  {name:34} {middle[name]:8.1f} texts/s {max(r['peak_bytes'] for r in found) / 1e6:8.0f} MB")


main()
