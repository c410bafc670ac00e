#!/usr/bin/env python3
"""Usage: mutate.py [--files NAME...] [--sample N] [--seeds N] [--jobs N] [--list] [--survivors FILE]

Breaks the rules of fusion, placement, bands, memory, lowering and gradients one by one and looks whether the drawn programs notice. Rules are found in the
sources: a condition is negated, a part of `a || b` or `a && b` is left out, a comparison includes its limit or no longer does, a `+ 1` is
taken away, an assignment or a call is left out.

All are compiled at once: in a copy of the headers each rule becomes `(tx_mutant == 17 ? broken : rule)`, and the number is read when the program
starts. A mutant is

  caught     a program computes something else, reads what it must not, or is refused
  looped     it does not end in time
  worse      all programs are right, but plans have more kernels, a larger arena or fewer values in bands: a rule of performance
  refused    it does not compile
  explained  nobody notices, as nothing that is promised changes: tools/mutations_explained.txt has the reason
  undrawn    nobody notices, and that file names the programs in which it matters
  SURVIVED   nobody notices: the drawn programs must learn to, or the reason be given
  BETTER     all programs are right, and plans are smaller: the rule may be too strict, or guard what is not drawn

The exit status is 1 if fewer than 95 of 100 are caught or worse, or one survives without a reason.
"""
import argparse
import concurrent.futures
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from mutations import at_run_time, find, with_bounds, with_switches

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = [f"passes/{n}.hpp" for n in ("stride", "storage", "storage_order", "assign_storage", "fuse", "fusion_rules", "groups", "bands", "buffer_offsets", "reorder")] + [
    f"plan/{n}.hpp" for n in ("operand_refs", "arena", "lower", "timeline")] + ["graph/numbers_read.hpp", "autodiff/depends_on.hpp", "autodiff/reverse.hpp"]


def rewrite(path, change):
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(change(text))


class Builder:
    def __init__(self, folder, compiler, seeds):
        self.folder, self.compiler, self.seeds = folder, compiler, seeds
        self.program = os.path.join(folder, "drawn")
        self.but = []

    def compile(self, source, include, extra=()):
        out = os.path.join(self.folder, os.path.basename(source)[:-4] + ".o")
        done = subprocess.run([self.compiler, "-std=c++20", "-O2", "-w", "-fmax-errors=0", *extra, f"-I{include}", "-c", source, "-o", out], capture_output=True, text=True)
        return out, done

    # One program that holds all mutations; returns those that it does hold.
    def build(self, mutations):
        for number, m in enumerate(mutations, 1):
            m.number = number
        for part in ("include", "tests"):
            shutil.copytree(os.path.join(ROOT, part), os.path.join(self.folder, part))
        include, drawn = os.path.join(self.folder, "include"), os.path.join(self.folder, "tests/drawn")
        for name in os.listdir(drawn):  # what calls the passes cannot be constant either
            if name.endswith(".hpp"):
                rewrite(os.path.join(drawn, name), at_run_time)
        rewrite(os.path.join(include, "tx/core/vec.hpp"), with_bounds)
        for called in ("backends/cpu/target.hpp", "backends/device/target.hpp", "backends/cuda/target.hpp", "dist/shard.hpp", "train/accumulate.hpp"):  # and what passes call, or calls them
            rewrite(os.path.join(include, "tx", called), at_run_time)
        switch = os.path.join(self.folder, "switch.hpp")
        with open(switch, "w") as f:
            f.write('#include <cstdlib>\ninline int const tx_mutant = std::getenv("TX_MUTANT") ? std::atoi(std::getenv("TX_MUTANT")) : 0;\n')
        folders = ("passes", "plan", "autodiff")
        originals = {}
        for folder in folders:
            for name in os.listdir(os.path.join(include, "tx", folder)):
                if name.endswith(".hpp"):
                    with open(os.path.join(include, "tx", folder, name)) as f:
                        originals[f"{folder}/{name}"] = f.read()
        left = list(mutations)
        refused = []
        for _ in range(12):
            held = []
            for file, source in originals.items():
                text, chosen = with_switches(source, [m for m in left if m.file == file])
                held += chosen
                with open(os.path.join(include, "tx", file), "w") as f:
                    f.write(at_run_time(text))
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                built = list(pool.map(lambda name: self.compile(os.path.join(drawn, name + ".cpp"), include, ["-include", switch]),
                                      ("planned", "check", "alone/drawn_seeds", "../interpreter/evaluator")))
            errors = "".join(done.stderr for _, done in built if done.returncode != 0)
            if not errors:
                break
            lines = set(re.findall(rf"include/tx/((?:{'|'.join(folders)})/\w+\.hpp):(\d+):\d+: error", errors))
            bad = [m for m in held if (m.file, str(m.line)) in lines]
            if not bad:
                sys.exit(f"mutate.py: the mutated passes do not compile:\n{errors[:4000]}")
            refused += bad
            left = [m for m in left if m not in bad]
        else:
            sys.exit("mutate.py: the mutated passes do not compile")
        subprocess.run([self.compiler, *(out for out, _ in built), "-o", self.program], check=True)
        return held, refused

    # Programs that fail as the passes are.
    def failing(self):
        ran = subprocess.run([self.program, "0", str(self.seeds), "list"], capture_output=True, text=True)
        return [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("fails ")]

    def run(self, number, seeds, seconds):
        """(verdict, note, (kernels, arena, handed, refused)) of so many programs with a mutation; number 0: as the passes are."""
        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            ran = subprocess.run([self.program, "0", str(seeds), "failures", "0", "but", *self.but], capture_output=True, text=True, timeout=seconds,
                                 env={**os.environ, "TX_MUTANT": str(number)}, preexec_fn=limits)
        except subprocess.TimeoutExpired:
            return "looped", "", None
        lines = ran.stdout.splitlines()
        last = lines[-1].split() if lines else []
        if ran.returncode == 0 and len(last) == 12:
            return "passed", "", tuple(int(last[k]) for k in (5, 7, 9, 11))
        return "caught", next((l.split(" x ", 1)[1] for l in lines if " x " in l), f"ended with {ran.returncode}"), None

    # As the passes are: what plans cost, and how long it takes, for a few programs and for all.
    def measure(self):
        self.costs, self.seconds = {}, {}
        for seeds in {min(1000, self.seeds), self.seeds}:
            started = time.monotonic()
            verdict, note, self.costs[seeds] = self.run(0, seeds, 3600)
            self.seconds[seeds] = 10 + 3 * (time.monotonic() - started)
            if verdict != "passed":
                sys.exit(f"mutate.py: the programs fail without a mutation ({verdict}: {note}); nothing can be told from mutants")

    # (verdict, note). Most mistakes show in the first programs; all are drawn where nothing does and nobody has said why.
    def judge(self, number, why):
        for seeds in sorted(self.costs):
            verdict, note, cost = self.run(number, seeds, self.seconds[seeds])
            if verdict != "passed":
                return verdict, note
            kernels, arena, handed, refused = (x - y for x, y in zip(cost, self.costs[seeds]))
            if refused > 0:
                return "caught", f"{refused} programs more are refused"
            costs = f"kernels {kernels:+d}, arena {arena:+d}, handed {handed:+d}"
            if handed < 0 or kernels > 0 or arena > 0:
                return "worse", costs
            if why:
                return "undrawn" if why.startswith("undrawn") else "explained", why
            if handed > 0 or kernels < 0 or arena < 0:
                return "BETTER", costs
        return "SURVIVED", ""


def reasons(path):
    """Key, or "file function", -> why a mutation that nobody notices changes nothing that is promised."""
    known = {}
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    key, _, why = line.strip().partition(" ")
                    if key == "in":
                        file, function, why = why.split(" ", 2)
                        key = f"{file} {function}"
                    known[key] = why
    return known


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--files", nargs="*", default=FILES)
    p.add_argument("--sample", type=int, default=0, help="so many of them, drawn")
    p.add_argument("--draw", type=int, default=1, help="seed of the sample")
    p.add_argument("--seeds", type=int, default=6000, help="programs for each, at most")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--tolerate", action="store_true", help="leaves programs out that fail without a mutation")
    p.add_argument("--compiler", default="g++")
    p.add_argument("--list", action="store_true", help="only tells what would be broken")
    p.add_argument("--survivors", default=os.path.join(ROOT, "tools/mutations_explained.txt"))
    a = p.parse_args()

    all_found = []
    for file in a.files:
        path = os.path.join(ROOT, "include/tx", file)
        if not os.path.exists(path):
            continue
        with open(path) as f:
            all_found += find(file, f.read())
    if a.sample:
        all_found = sorted(random.Random(a.draw).sample(all_found, min(a.sample, len(all_found))), key=lambda m: (m.file, m.first))
    if a.list:
        for m in all_found:
            print(f"{m.key} {m.file}:{m.line} {m.function}() {m.what}: {m.text}")
        print(f"{len(all_found)} mutations")
        return 0

    known = reasons(a.survivors)
    with tempfile.TemporaryDirectory() as folder:
        b = Builder(folder, a.compiler, a.seeds)
        held, refused = b.build(all_found)
        print(f"{len(held)} mutations compiled, {len(refused)} refused, {len(all_found) - len(held) - len(refused)} overlap others", flush=True)
        if a.tolerate:
            b.but = b.failing()
            print(f"{len(b.but)} programs fail without a mutation and are left out", flush=True)
        b.measure()
        counts = {"refused": len(refused)} if refused else {}
        unexplained = []
        judge = lambda m: b.judge(m.number, known.get(m.key) or known.get(f"{m.file} {m.function}"))
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            for m, (verdict, note) in zip(held, pool.map(judge, held)):
                counts[verdict] = counts.get(verdict, 0) + 1
                if verdict in ("SURVIVED", "BETTER"):
                    unexplained.append(m)
                print(f"{verdict:9} {m.key} {m.file}:{m.line} {m.what}: {m.text}  [{note}]", flush=True)
    told = sum(n for v, n in counts.items() if v != "refused")
    good = sum(counts.get(v, 0) for v in ("caught", "looped", "worse"))
    equal = counts.get("explained", 0)
    print(", ".join(f"{n} {v}" for v, n in sorted(counts.items())))
    share = 100.0 * good / max(1, told - equal)
    print(f"{share:.1f}% of {told - equal} rules that matter are noticed; {equal} mutants have a reason to survive")
    return 0 if share >= 95 and not unexplained else 1


if __name__ == "__main__":
    sys.exit(main())
