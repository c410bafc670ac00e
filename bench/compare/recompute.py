#!/usr/bin/env python3
"""What it costs to keep half the bytes of activations: BERT-base's step with and without, in turns. Fails above 15%."""
import argparse
import json
import statistics
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tx", required=True, help="bench_step")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="2")
    args = parser.parse_args()
    seconds = {"base": [], "base_half": []}
    for _ in range(args.rounds):
        for model, found in seconds.items():
            command = [args.tx, "--model", model, "--batch", "8", "--seq", "128", "--steps", "2", "--threads", args.threads]
            found.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["step_s"])
    middle = {model: statistics.median(found) for model, found in seconds.items()}
    more = middle["base_half"] / middle["base"] - 1
    print(f"BERT-base, 8 x 128, f32: {middle['base']:.2f} s a step; with half the activations {middle['base_half']:.2f} s, {more:+.1%}")
    sys.exit(more > 0.15)


main()
