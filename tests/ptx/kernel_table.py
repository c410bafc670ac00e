#!/usr/bin/env python3
"""Usage: kernel_table.py [--json FILE] PROGRAM...

A line for each kernel that the programs run: launches, blocks, threads and shared memory of one; registers, bytes of spills and how many blocks a processor
holds, as ptxas has it for sm_90; the widest access to global memory, divisions of integers in loops, barriers; instructions of a block's warps and cycles of a block that has
a processor for itself, as runner/pace.hpp counts them. Fails where a kernel over rows or a product divides
in a loop, or spills more than what lives across a call of ptxas's own: the slow path of a division of f32, which is hardly ever taken, is one. The programs are linked with tests/ptx/cudart and hold PTX for one module.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

REGISTERS, THREADS, BLOCKS, SHARED = 65536, 2048, 32, 227 << 10  # of a processor of sm_90
MOST_SPILLED = 32  # bytes, stored and loaded


def ptxas():
    here = pathlib.Path(__file__).resolve().parents[2] / "build" / "nvcc"
    found = [*here.glob("lib/python*/site-packages/nvidia/cu13/bin/ptxas"), pathlib.Path("/usr/local/cuda/bin/ptxas")]
    return next((str(p) for p in found if p.exists()), None) or sys.exit("there is no ptxas. FIX: tools/setup.sh check")


def of_ptxas(ptx):
    """Registers and bytes of spills by kernel."""
    said = subprocess.run([ptxas(), "-v", "-arch=sm_90", "-o", "/dev/null", ptx], capture_output=True, text=True, check=True).stderr
    out, kernel = {}, None
    for line in said.splitlines():
        if m := re.search(r"Compiling entry function '(\S+)'", line):
            kernel = out[m[1]] = {"registers": 0, "spilled": 0}
        elif m := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            kernel["spilled"] = int(m[1]) + int(m[2])
        elif m := re.search(r"Used (\d+) registers", line):
            kernel["registers"] = int(m[1])
    return out


def blocks_of_a_processor(k):
    of_a_warp = (k["registers"] * 32 + 255) // 256 * 256
    warps = (k["threads"] + 31) // 32
    return min(BLOCKS, THREADS // (warps * 32), REGISTERS // max(1, of_a_warp * warps), SHARED // (k["shared_bytes"] + 1024))


def kind_of(name):
    return next((kind for kind in ("row_task", "share_task", "product_task", "whole_task") if kind in name), "other")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--json", type=pathlib.Path)
    p.add_argument("programs", nargs="+")
    o = p.parse_args()
    rows, bad = [], 0
    print(f"{'program':24} {'kind':13} launches blocks threads shared regs spilled resident load store div barriers {'instr':>8} {'cycles':>8}")
    for program in o.programs:
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "table")
            subprocess.run([program], env=os.environ | {"PTX_TABLE": table, "PTX_TARGET": "90"}, check=True, stdout=subprocess.DEVNULL)
            compiled = of_ptxas(table + ".ptx")
            for line in open(table, encoding="utf-8"):
                k = json.loads(line)
                k |= compiled[k["kernel"]] | {"program": pathlib.Path(program).name, "kind": kind_of(k["kernel"])}
                k["resident_blocks"] = blocks_of_a_processor(k)
                wrong = k["kind"] in ("row_task", "product_task") and (k["spilled"] > MOST_SPILLED or k["divisions_in_loops"] > 0)
                bad += wrong
                rows.append(k)
                print(f"{k['program']:24} {k['kind']:13} {k['launches']:8} {k['blocks']:6} {k['threads']:7} {k['shared_bytes']:6} {k['registers']:4} {k['spilled']:7} "
                      f"{k['resident_blocks']:8} {k['widest_load']:4} {k['widest_store']:5} {k['divisions_in_loops']:3} {k['barriers']:8} {k['warp_instructions'] // k['blocks']:8} {k['cycles'] // k['blocks']:8}{'  <- not allowed' if wrong else ''}")
    if o.json:
        o.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} kernels, {bad} that spill or divide in a loop")
    sys.exit(1 if bad or not rows else 0)


if __name__ == "__main__":
    main()
