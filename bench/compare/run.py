#!/usr/bin/env python3
"""tx's training step against PyTorch's (default and tuned allocator, compiled in two ways) and JAX's (keys of two kinds), with dropout and
without, where PyTorch may take its fused attention: one table each. On AMD's processors PyTorch's products are tried by other libraries too.

First both sides train ten steps from the same weights on the same batches without dropout; where a loss differs by more than
1e-4 no ratio is printed. Numbers of bf16 have three digits, so there each side is held against PyTorch's losses in f32: tx's may be
as far from those as the nearest of the others' are, or 5e-3. Then they run in turns on the same machine, --rounds times; a figure is
the median of the rounds.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

from processor import is_amd, processor, products_path

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {"PyTorch": ["--peer", "torch"], "PyTorch, tuned allocator": ["--peer", "torch", "--tuned"],
         "torch.compile": ["--peer", "torch-compile"], "torch.compile, max-autotune": ["--peer", "torch-max-autotune"],
         "JAX": ["--peer", "jax"], "JAX, rbg keys": ["--peer", "jax-rbg"]}
# MKL, by which PyTorch multiplies f32, knows Intel's processors best.
ON_AMD = {"PyTorch, oneDNN products": ["--peer", "torch-onednn"], "PyTorch, zentorch": ["--peer", "torch-zentorch"]}
# Those whose losses are compared; others run the same functions.
CHECKED = {"torch-onednn", "torch-zentorch"}

# The least of each side: a process that has loaded what it needs and trained a step of eight tokens.
IDLE = (["--model", "tiny", "--batch", "1", "--seq", "8", "--steps", "1"], ["--model", "idle", "--steps", "1"])

# Where bench_step has a model in several sizes, the one that peer_step.py trains.
SHAPES = {"tiny": ["--batch", "8", "--seq", "32"], "base": ["--batch", "8", "--seq", "128"]}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def alternatives(args):
    """The peers of AMD's processors that can run, by name: Python and options. Says why others are left out."""
    if args.alternatives == "never" or (args.alternatives == "auto" and not is_amd()):
        print("products by other libraries (" + ", ".join(ON_AMD) + ") are left out: "
              + ("they were not asked for" if args.alternatives == "never" else "this is no processor of AMD's"))
        return {}
    found = {}
    for name, options in ON_AMD.items():
        python = args.zen if "torch-zentorch" in options else args.python
        try:
            if not os.path.exists(python):
                raise RuntimeError(f"{python} is not there; setup_zen.sh makes it where it can")
            run([python, os.path.join(HERE, "peer_step.py"), *options, *IDLE[1], "--dtype", args.dtype, "--threads", str(args.threads)])
            found[name] = [python, options]
        except RuntimeError as e:
            print(f"{name} is left out: {str(e).splitlines()[-1]}")
    return found


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


def agreement(tx, peers, dtype):
    """How far tx's ten losses are from what they should be, and how far they may be; and which alternatives do not train: their losses are
    further from PyTorch's own than that."""
    def apart(a, b):
        far = [abs(x - y) for x, y in zip(a, b, strict=True)]
        return float("inf") if any(math.isnan(x) for x in far) else max(far)

    if not peers:
        return 0.0, 0.0, set()
    with tempfile.TemporaryDirectory() as folder:
        ours = run([*tx, "--check", folder])  # leaves its first weights there
        theirs = {kind: run([*command, "--peer", kind, "--check", folder]) for kind, command in sorted(peers.items())}
        exact = theirs.get("torch") if dtype == "f32" else run([*peers["torch"], "--dtype", "f32", "--peer", "torch", "--check", folder])
    if exact is None:
        return max(apart(ours, found) for found in theirs.values()), 1e-4, set()
    others = {kind: apart(found, exact) for kind, found in theirs.items()}
    print("from PyTorch's losses in f32: " + ", ".join(f"{kind} {far:.1e}" for kind, far in {"tx": apart(ours, exact), **others}.items()))
    most = 1e-4 if dtype == "f32" else max(5e-3, min(others.values()))
    unfit = {kind for kind in CHECKED & others.keys() if not others[kind] <= most}
    if dtype != "f32":
        return apart(ours, exact), most, unfit
    return max(apart(ours, found) for kind, found in theirs.items() if kind not in unfit), most, unfit


def timed(args, model, tx, commands, sizes, idle, dropout, apart):
    """Times all sides in turns and prints their table. Returns whether all have trained."""
    rows = {name: [] for name in ["tx", *commands]}
    for _ in range(args.rounds):
        for name in rows:
            command = tx if name == "tx" else [*commands[name], *sizes]
            rows[name].append(run([*command, "--steps", str(args.steps), "--dropout", dropout]))
    # A rate comes of a difference of two times, which other programs on the machine may turn round.
    noisy = {name for name, found in rows.items() if not all(r["tokens_per_s"] > 0 for r in found)}
    if noisy:
        print(f"{model}, dropout {dropout}: the machine is too busy to time {', '.join(sorted(noisy))}: no ratio\n", flush=True)
        return False
    # Two classes of random labels: what is timed still trains, if all losses are about ln 2.
    strange = {name for name, found in rows.items() if not all(0.2 < loss < 2 for r in found for loss in r["loss"])}
    if strange:
        print(f"{model}, dropout {dropout}: losses of the timed steps are not those of two classes: {', '.join(sorted(strange))}: no ratio\n", flush=True)
        return False
    middle = {name: statistics.median(r["tokens_per_s"] for r in found) for name, found in rows.items()}
    best = max((middle[name] for name in commands), default=float("nan"))
    first = rows["tx"][0]
    print(f"{model}, pool {args.pool}, dropout {dropout}, {first['batch']} x {first['seq']}: ten losses agree to "
          f"{apart:.1e}; tx over the best other {middle['tx'] / best:.2f}; "
          f"tx's step compiled in {build_seconds(args.tx, first, args.pool, args.dtype):.0f} s, "
          f"planned for {first['planned_bytes'] / 1e6:.0f} MB")
    print(f"  {'':28} {'tokens/s':>9} {'lowest':>8} {'highest':>8} {'peak MB':>8} {'own MB':>8} {'first loss s':>13}")
    for name, found in rows.items():
        rates = [r["tokens_per_s"] for r in found]
        peak = max(r["peak_bytes"] for r in found)
        print(f"  {name:28} {middle[name]:9.0f} {min(rates):8.0f} {max(rates):8.0f} "
              f"{peak / 1e6:8.0f} {(peak - idle[name]['peak_bytes']) / 1e6:8.0f} {statistics.median(r['first_step_s'] for r in found):13.2f}")
    print(flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="Python of the environment that setup.sh has made")
    parser.add_argument("--tx", required=True, help="bench_step")
    parser.add_argument("--models", default="twin,minilm,base")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32", help="of what products multiply")
    parser.add_argument("--pool", choices=["first", "mean"], default="first", help="what the head reads of the last layer")
    parser.add_argument("--peers", default=",".join(PEERS), help="names as in the table, or how they begin")
    parser.add_argument("--dropouts", default="0.1,0", help="rates, each of which is timed")
    parser.add_argument("--alternatives", choices=["auto", "always", "never"], default="auto", help="PyTorch's products by other libraries; auto: on AMD's processors")
    parser.add_argument("--zen", default="build/peers-zen/bin/python", help="Python of the environment that setup_zen.sh has made")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    names = [name for name in PEERS if any(name.startswith(p) and p for p in args.peers.split(","))] if args.peers else []

    print(f"{processor()}; {args.threads} threads on each side; {args.dtype}, AdamW")
    print(f"f32 products of PyTorch: {products_path(args.python)}")
    good = True
    script = os.path.join(HERE, "peer_step.py")
    commands = {name: [args.python, script, *PEERS[name]] for name in names}
    for name, (python, options) in (alternatives(args) if names else {}).items():
        commands[name] = [python, script, *options]
        names.append(name)
    print()
    common = ["--dtype", args.dtype, "--pool", args.pool, "--threads", str(args.threads)]
    idle = {"tx": run([args.tx, *IDLE[0], *common])}
    for name in names:
        idle[name] = run([*commands[name], *IDLE[1], *common])
    print(", ".join(sorted({found["version"] for name, found in idle.items() if name != "tx"})))
    print("own MB: above a process that trains on eight tokens: "
          + ", ".join(f"{name} {found['peak_bytes'] / 1e6:.0f}" for name, found in idle.items()) + "\n", flush=True)
    for model in args.models.split(","):
        sizes = ["--model", model, *common]
        tx = [args.tx, *sizes, *SHAPES.get(model, [])]
        kinds = {command[3]: command[:2] for command in commands.values()}
        checked = {kind if kind in CHECKED else kind.split("-")[0]: [*command, *sizes] for kind, command in kinds.items()}
        if args.dtype != "f32" and checked:
            checked.setdefault("torch", [args.python, script, *sizes])
        apart, most, unfit = agreement(tx, checked, args.dtype)
        if not apart <= most:
            print(f"{model}: the losses of ten steps differ by {apart:.1e}, more than {most:.1e}: no ratio\n", flush=True)
            good = False
            continue
        fit = {name: command for name, command in commands.items() if command[3] not in unfit}
        for name in commands.keys() - fit.keys():
            print(f"{name} is left out: its losses are not PyTorch's, so it does not train {model}")
        for dropout in args.dropouts.split(","):
            good = timed(args, model, tx, fit, sizes, idle, dropout, apart) and good
    sys.exit(not good)


main()
