#!/usr/bin/env python3
"""What it costs to keep half the bytes of activations: BERT-base's step with and without, in turns, after both give the same losses.
Fails above --most of the time."""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tx", required=True, help="bench_step")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=float, default=0.15)
    parser.add_argument("--threads", default="2")
    args = parser.parse_args()

    def run(model, *more):
        command = [args.tx, "--model", model, "--batch", "8", "--seq", "128", "--threads", args.threads, *more]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    rows = {"base": [], "base_half": []}
    with tempfile.TemporaryDirectory() as folder:
        losses = [run(model, "--check", folder) for model in rows]
    if not max(abs(a - b) for a, b in zip(*losses, strict=True)) <= 1e-4:
        sys.exit(f"the losses of ten steps differ: {losses}")
    for _ in range(args.rounds):
        for model, found in rows.items():
            found.append(run(model, "--steps", "3"))
    middle = {model: statistics.median(r["step_s"] for r in found) for model, found in rows.items()}
    more = middle["base_half"] / middle["base"] - 1
    for model, found in rows.items():
        first = found[0]
        print(f"{model:10} {middle[model]:.2f} s a step, activations {first['activation_bytes'] / 1e6:.0f} MB, peak {first['peak_bytes'] / 1e6:.0f} MB, "
              f"computed again {first['recomputed_flops'] / 1e9:.1f} GFLOP")
    print(f"BERT-base, 8 x 128, f32, with half the activations: {more:+.1%} of the time")
    sys.exit(more > args.most)


main()
