"""The processor that a comparison runs on, and what the others' libraries make of it."""
import os
import platform
import subprocess

# One product by each library, which tell on standard output what they run it with.
PROBE = """
import torch
a = torch.ones(64, 64)
a @ a
torch.ops.mkldnn._linear_pointwise(a, a, None, "none", [], "")
"""


def facts():
    """Of the first processor in /proc/cpuinfo; nothing where there is no such file."""
    found = {}
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                name, _, value = line.partition(":")
                found.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    return found


def multiplies_bf16():
    return not {"avx512_bf16", "amx_bf16"}.isdisjoint(facts().get("flags", "").split())


def processor():
    found = facts()
    if "flags" not in found:
        return platform.machine()
    flags = found["flags"].split()
    widest = next((f for f in ("avx512f", "avx2", "sse2") if f in flags), "")
    return f"{found.get('model name', platform.machine())}, {widest}, {os.cpu_count()} processors, {platform.system()}"


def is_amd():
    return facts().get("vendor_id") == "AuthenticAMD"


def products_path(python):
    """By which code PyTorch multiplies f32 here: MKL chooses by vendor, oneDNN by instructions alone."""
    environment = {**os.environ, "MKL_VERBOSE": "1", "ONEDNN_VERBOSE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()
        return f"unknown: {reason[-1] if reason else f'exit status {done.returncode}'}"
    lines = done.stdout.splitlines()
    mkl = next((line for line in lines if line.startswith("MKL_VERBOSE oneMKL")), "")
    called = any(line.startswith("MKL_VERBOSE SGEMM") for line in lines)
    isa = next((line.split("isa:", 1)[1] for line in lines if "info,cpu,isa:" in line), "unknown")
    kernel = next((line.split(",")[6] for line in lines if ",primitive,exec,cpu," in line), "unknown")
    path = mkl.removeprefix("MKL_VERBOSE ").split(", EVEX")[0].split(" Lnx")[0]
    return f"{path if called else 'not MKL'}; oneDNN would take {kernel} ({isa})"
