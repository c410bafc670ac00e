#!/usr/bin/env python3
"""tx's training step against PyTorch's (default and tuned allocator, compiled) and JAX's: one table.

First both sides train ten steps from the same weights on the same batches without dropout; where a loss differs by more than
1e-4 no ratio is printed. Numbers of bf16 have three digits, so there each side is held against PyTorch's losses in f32: tx's may be
as far from those as the nearest of the others' are, or 5e-3. Then they run in turns on the same machine, --rounds times; a figure is
the median of the rounds.
"""
import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {"PyTorch": ["--peer", "torch"], "PyTorch, tuned allocator": ["--peer", "torch", "--tuned"],
         "torch.compile": ["--peer", "torch-compile"], "JAX": ["--peer", "jax"]}

# The least of each side: a process that has loaded what it needs and trained a step of eight tokens.
IDLE = (["--model", "tiny", "--batch", "1", "--seq", "8", "--steps", "1"], ["--model", "idle", "--steps", "1"])

# Where bench_step has a model in several sizes, the one that peer_step.py trains.
SHAPES = {"tiny": ["--batch", "8", "--seq", "32"], "base": ["--batch", "8", "--seq", "128"]}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def build_seconds(bench_step, first, pool, dtype):
    """What compiling this step took, by the log of the build that made bench_step; nan without one."""
    log = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(bench_step))), ".ninja_log")
    step = f"_{first['batch']}_{first['seq']}_{pool}_{dtype}.dir/model.cpp.o"
    seconds = float("nan")
    if os.path.exists(log):
        with open(log) as lines:
            for fields in (line.split("\t") for line in lines):
                if len(fields) == 5 and fields[3].endswith(step) and f"/bench_{first['model']}_" in fields[3]:
                    seconds = (int(fields[1]) - int(fields[0])) / 1e3
    return seconds


def agreement(tx, peer, kinds, dtype):
    """How far tx's ten losses are from what they should be, and how far they may be."""
    def apart(a, b):
        far = [abs(x - y) for x, y in zip(a, b, strict=True)]
        return float("inf") if any(math.isnan(x) for x in far) else max(far)

    if not kinds:
        return 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        ours = run([*tx, "--check", folder])  # leaves its first weights there
        theirs = {kind: run([*peer, "--peer", kind, "--check", folder]) for kind in sorted(kinds)}
        if dtype == "f32":
            return max(apart(ours, found) for found in theirs.values()), 1e-4
        exact = run([*peer, "--dtype", "f32", "--peer", "torch", "--check", folder])
    others = {kind: apart(found, exact) for kind, found in theirs.items()}
    print("from PyTorch's losses in f32: " + ", ".join(f"{kind} {far:.1e}" for kind, far in {"tx": apart(ours, exact), **others}.items()))
    return apart(ours, exact), max(5e-3, min(others.values()))


def processor():
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
            if line.startswith("flags"):
                flags = line.split()
                widest = next((f for f in ("avx512f", "avx2", "sse2") if f in flags), "")
                return f"{name}, {widest}, {os.cpu_count()} processors, {platform.system()}"
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="Python of the environment that setup.sh has made")
    parser.add_argument("--tx", required=True, help="bench_step")
    parser.add_argument("--models", default="twin,minilm,base")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32", help="of what products multiply")
    parser.add_argument("--pool", choices=["first", "mean"], default="first", help="what the head reads of the last layer")
    parser.add_argument("--peers", default=",".join(PEERS), help="names as in the table")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    names = [name for name in PEERS if any(name.startswith(p) and p for p in args.peers.split(","))] if args.peers else []

    print(f"{processor()}; {args.threads} threads on each side; {args.dtype}, dropout 0.1, AdamW\n")
    good = True
    common = ["--dtype", args.dtype, "--pool", args.pool, "--threads", str(args.threads)]
    peer_command = [args.python, os.path.join(HERE, "peer_step.py")]
    idle = {"tx": run([args.tx, *IDLE[0], *common])}
    for name in names:
        idle[name] = run([*peer_command, *PEERS[name], *IDLE[1], *common])
    print(", ".join(sorted({found["version"] for name, found in idle.items() if name != "tx"})))
    print("own MB: above a process that trains on eight tokens: "
          + ", ".join(f"{name} {found['peak_bytes'] / 1e6:.0f}" for name, found in idle.items()) + "\n", flush=True)
    for model in args.models.split(","):
        sizes = ["--model", model, *common]
        tx = [args.tx, *sizes, *SHAPES.get(model, [])]
        peer = [*peer_command, *sizes]
        apart, most = agreement(tx, peer, {PEERS[n][1].split("-")[0] for n in names}, args.dtype)
        if not apart <= most:
            print(f"{model}: the losses of ten steps differ by {apart:.1e}, more than {most:.1e}: no ratio\n", flush=True)
            good = False
            continue
        rows = {name: [] for name in ["tx", *names]}
        for _ in range(args.rounds):
            for name in rows:
                command = tx if name == "tx" else [*peer, *PEERS[name]]
                rows[name].append(run([*command, "--steps", str(args.steps)]))
        # Two classes of random labels: what is timed still trains, if all losses are about ln 2.
        strange = {name for name, found in rows.items() if not all(0.2 < loss < 2 for r in found for loss in r["loss"])}
        if strange:
            print(f"{model}: losses of the timed steps are not those of two classes: {', '.join(sorted(strange))}: no ratio\n", flush=True)
            good = False
            continue
        middle = {name: statistics.median(r["tokens_per_s"] for r in found) for name, found in rows.items()}
        best = max((middle[name] for name in names), default=float("nan"))
        first = rows["tx"][0]
        print(f"{model}, pool {args.pool}, {first['batch']} x {first['seq']}: ten losses agree to "
              f"{apart:.1e}; tx over the best other {middle['tx'] / best:.2f}; "
              f"tx's step compiled in {build_seconds(args.tx, first, args.pool, args.dtype):.0f} s, "
              f"planned for {first['planned_bytes'] / 1e6:.0f} MB")
        print(f"  {'':26} {'tokens/s':>9} {'lowest':>8} {'highest':>8} {'peak MB':>8} {'own MB':>8} {'first loss s':>13}")
        for name, found in rows.items():
            rates = [r["tokens_per_s"] for r in found]
            peak = max(r["peak_bytes"] for r in found)
            print(f"  {name:26} {middle[name]:9.0f} {min(rates):8.0f} {max(rates):8.0f} "
                  f"{peak / 1e6:8.0f} {(peak - idle[name]['peak_bytes']) / 1e6:8.0f} {statistics.median(r['first_step_s'] for r in found):13.2f}")
        print(flush=True)
    sys.exit(not good)


main()
