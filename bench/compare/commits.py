#!/usr/bin/env python3
"""Usage: commits.py COMMIT [--models twin,minilm,base] [--rounds 5] [--steps 8]

Is this tree as fast and as small as another commit? Builds bench_step and bench_encode of both in build/commits, runs them in turns, in each round the other
way round, and prints for each model and type the time of the other's step over this one's, the median of all rounds with the least and the greatest (of
each run the fastest step), and the memory that both plan. Exit status 1 where the other is faster by more than --slack or this tree plans more memory.
Building takes a quarter of an hour on two cores.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout.strip()


def built(source, models):
    """The folder of the programs of the tree in this folder."""
    folder = source / "build" / "commits" / "built"
    run("cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG",
        "-DTX_BENCH_MODELS=" + models.replace(",", ";"))
    run("cmake", "--build", folder, "-j", os.cpu_count(), "--target", "bench_step", "bench_encode")
    return folder / "bin"


def measured(program, *arguments):
    return json.loads(run(program, *arguments).splitlines()[-1])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("commit")
    p.add_argument("--models", default="twin,minilm,base")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--slack", type=float, default=0.02)
    o = p.parse_args()
    commit = run("git", "-C", ROOT, "rev-parse", "--short", o.commit + "^{commit}")
    tree = ROOT / "build" / "commits" / commit
    if not tree.exists():
        run("git", "clone", "-q", "--shared", "--no-checkout", ROOT, tree)
    run("git", "-C", tree, "checkout", "-q", "--detach", "--force", commit)
    sides = {commit: built(tree, o.models), "this tree": built(ROOT, o.models)}

    cases = [(f"step of {model}, {dtype}", "bench_step", "best_s",
              ("--model", model, "--dtype", dtype, "--steps", o.steps, "--threads", os.cpu_count(), *(("--batch", 8) if model == "base" else ())))
             for model in o.models.split(",") for dtype in ("f32", "bf16")]
    cases.append(("vector of a text", "bench_encode", "p50_ms", ()))
    ratios, planned = {}, {}
    for turn in range(o.rounds):
        for name, program, time, arguments in cases:
            took = {}
            for side, folder in sorted(sides.items(), reverse=turn % 2 == 1):
                found = measured(folder / program, *arguments)
                took[side] = found[time]
                planned[name, side] = found.get("planned_bytes", 0)
            ratios.setdefault(name, []).append(took[commit] / took["this tree"])
    worse = False
    print(f"| | {commit} over this tree, time | planned, MB: {commit}, this tree |\n|---|---|---|")
    for name, *_ in cases:
        ratio = statistics.median(ratios[name])
        before, now = (planned[name, side] for side in (commit, "this tree"))
        worse = worse or ratio < 1 - o.slack or (before > 0 and now > before)
        print(f"| {name} | {ratio:.3f} ({min(ratios[name]):.3f} to {max(ratios[name]):.3f}) | {f'{before / 1e6:.1f}, {now / 1e6:.1f}' if before else ''} |")
    sys.exit(worse)


if __name__ == "__main__":
    main()
