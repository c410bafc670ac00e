#!/usr/bin/env python3
"""What other programs on the same processors do to tx's: the work of several at once against one alone, one beside a process that only
spins, the slowest hundredth of inference there, and another build of the same programs in turns. Several at once: wall time of whole
processes; one of them: the mean step as bench_step prints it, the whole time of bench_encode. Each round has its own run alone; median,
lowest and highest of the rounds. Undisturbed, each build runs twice a round and the faster of its two counts: the fastest step of
bench_step, the median of bench_encode.

    bench/neighbours.py build/release/bin
    bench/neighbours.py build/release/bin --other /old/build/release/bin
    bench/neighbours.py build/release/bin --beside "build/peers/bin/python bench/compare/peer_step.py --peer torch --model twin --steps 1000"
"""
import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager

SPIN = [sys.executable, "-c", "while True: pass"]


def ticks():
    """Of all processors: worked, and in all."""
    with open("/proc/stat") as f:
        t = [int(x) for x in f.readline().split()[1:9]]
    return sum(t) - t[3] - t[4], sum(t)


def wait_for_quiet(patience):
    """Until other programs leave the processors alone for a second; False if they do not in that many seconds."""
    until = time.monotonic() + patience
    while True:
        before = ticks()
        time.sleep(1)
        after = ticks()
        if after[0] - before[0] <= 0.04 * (after[1] - before[1]):
            return True
        if time.monotonic() > until:
            return False


def together(command, count):
    """Seconds that so many of them take, started at once, and what the first of them printed."""
    start = time.monotonic()
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    printed = [p.communicate()[0] for p in running]
    seconds = time.monotonic() - start
    if any(p.returncode for p in running):
        sys.exit(f"{shlex.join(command)} failed")
    return seconds, printed[0]


@contextmanager
def beside(command):
    neighbour = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5 if command == SPIN else 20)  # it gets going
        yield neighbour
        if neighbour.poll() is not None:
            sys.exit(f"{shlex.join(command)} ended too early: let it run longer")
    finally:
        neighbour.kill()
        neighbour.wait()


def row(what, values, least=None):
    values = sorted(values)
    wanted = "" if least is None else f"   at least {least}: {'yes' if statistics.median(values) >= least else 'NO'}"
    print(f"  {what:58} {statistics.median(values):7.3f} {values[0]:7.3f} {values[-1]:7.3f}{wanted}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", help="folder of bench_step, bench_encode and bench_products")
    parser.add_argument("--other", help="such a folder of another build: undisturbed, this build's speed over that one's")
    parser.add_argument("--beside", help="a command that runs on: speed beside it, of alone")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", default="12")
    parser.add_argument("--runs", default="3000")
    parser.add_argument("--threads", default=str(len(os.sched_getaffinity(0))))
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for a machine that nobody else uses, before each round")
    parser.add_argument("--only", default="", help="a word of the rows wanted, such as busy")
    args = parser.parse_args()

    def step(folder):
        return [f"{folder}/bench_step", "--model", "twin", "--steps", args.steps, "--threads", args.threads]

    def encode(folder):
        return [f"{folder}/bench_encode", "--model", "twin", "--runs", args.runs, "--threads", args.threads]

    disturbed = 0

    def rounds(measure):
        nonlocal disturbed
        found = []
        for _ in range(args.rounds):
            disturbed += not wait_for_quiet(args.patience)
            found.append(measure())
        return found

    print(f"{os.cpu_count()} processors, {args.threads} threads each, {args.rounds} rounds" + " " * 24 + "median  lowest highest")
    for name, command in (("bench_step", step(args.bin)), ("bench_encode", encode(args.bin))):
        for count, least in ((2, 0.9), (4, 0.8)):
            def at_once():
                alone = together(command, 1)[0]
                return count * alone / together(command, count)[0]
            if args.only in "at once":
                row(f"{name}: work of {count} at once, of one alone", rounds(at_once), least)

        def speed_beside(neighbour):
            alone, printed = together(command, 1)
            with beside(neighbour):
                busy, printed_busy = together(command, 1)
            if name == "bench_step":  # without its start, which one thread does
                alone, busy = (json.loads(text)["step_s"] for text in (printed, printed_busy))
            return alone / busy, printed, printed_busy
        if args.only in "busy":
            found = rounds(lambda: speed_beside(SPIN))
            row(f"{name}: speed beside a process that spins", [f[0] for f in found], 0.6)
            if name == "bench_encode":
                for what, k in (("p50", 0.5), ("p99", 0.99)):
                    row(f"{name}: {what} alone, ms", [json.loads(f[1])[f"{what}_ms"] for f in found])
                    row(f"{name}: {what} beside a process that spins, ms", [json.loads(f[2])[f"{what}_ms"] for f in found])
        if args.beside and args.only in "beside":
            row(f"{name}: speed beside {args.beside[:20]}…", [f[0] for f in rounds(lambda: speed_beside(shlex.split(args.beside)))])

    if args.other and args.only in "undisturbed":
        for name, make, figure in (("bench_step", step, "best_s"), ("bench_encode", encode, "p50_ms")):
            def in_turns():
                folders = (args.bin, args.other, args.other, args.bin)
                a, b, c, d = (json.loads(together(make(folder), 1)[1])[figure] for folder in folders)
                return min(b, c) / min(a, d)
            row(f"{name}: undisturbed, speed over the other build's", rounds(in_turns), 0.99)

        def products():
            mine, theirs = ([float(m[1]) for m in re.finditer(r"^  (?:forward|to \w+) .*?\d x +\d+ x +\d+ +([\d.]+)", together(
                [f"{folder}/bench_products", "--dtype", "f32", "--rounds", "1", "--threads", args.threads], 1)[1], re.M)]
                            for folder in (args.bin, args.other))
            return statistics.geometric_mean(a / b for a, b in zip(mine, theirs, strict=True))
        row("bench_products: undisturbed, speed over the other build's", rounds(products), 0.99)
    if disturbed:
        print(f"  other programs used the processors at the start of {disturbed} rounds")


main()
