#!/usr/bin/env python3
"""Usage: without_barriers.py PROGRAM...

Leaves out each barrier and each wait of the kernels that the programs run, one at a time. Kernels are made of templates, and one that has a barrier may not need
it for the operands that it gets here; but of each barrier that stands in C++ one of these kernels has to fail without it, or it is for nothing or its absence
would go unnoticed. The programs are compiled with nvcc -lineinfo and linked with tests/ptx/cudart.
"""
import collections
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def run(program, **more):
    try:
        return subprocess.run([program], env=os.environ | more, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess([program], 124, "", "it does not end")


def barriers_of(program):
    with tempfile.NamedTemporaryFile("r", suffix=".tsv") as file:
        whole = run(program, PTX_LIST=file.name)
        if whole.returncode != 0:
            sys.exit(f"{program} fails with all its barriers: {whole.stdout}{whole.stderr}")
        return [line.rstrip("\n").split("\t") for line in file]


def main():
    programs = sys.argv[1:]
    if not programs:
        sys.exit(__doc__)
    kernels = collections.defaultdict(lambda: collections.defaultdict(list))  # a place in C++: barriers there, and programs that run them
    for program in programs:
        for barrier, place in barriers_of(program):
            kernels[place][barrier].append(program)

    def fails(barrier_and_programs):
        barrier, programs = barrier_and_programs
        return any(run(program, PTX_WITHOUT=barrier).returncode != 0 for program in programs)

    unnoticed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for place, barriers in sorted(kernels.items()):
            failed = sum(pool.map(fails, barriers.items()))
            print(f"{place}: in {len(barriers)} kernels, {failed} fail without it", flush=True)
            unnoticed += failed == 0
    print(f"{len(kernels)} barriers and waits in C++, {len(kernels) - unnoticed} are noticed")
    sys.exit(1 if unnoticed or not kernels else 0)


if __name__ == "__main__":
    main()
