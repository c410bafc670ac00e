#!/usr/bin/env python3
"""Ops on integers of all sizes and on bool, at the ends of their ranges: writes data/integers.safetensors.

Arguments and results have the type they are of; see README.md.
"""

import pathlib

import torch
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"
WIDTH = 17


def row(kind, seed):
    """Numbers of all bits of small types, of larger ones so many that products fit, and the ends of their range."""
    info, most = torch.iinfo(kind), 1 << (14 if kind == torch.int32 else 19)
    lo, hi = max(info.min, -most), min(info.max, most - 1)
    x = torch.randint(lo, hi + 1, (WIDTH,), generator=torch.Generator().manual_seed(seed), dtype=torch.int64).to(kind)
    x[:4] = torch.tensor([lo, hi, 0, 1], dtype=torch.int64).to(kind)
    return x.roll(seed)


def of(kind):
    name = {torch.int8: "i8", torch.uint8: "u8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64"}[kind]
    a, b = row(kind, 1), row(kind, 6)
    divisor = torch.where(b == 0, torch.full_like(b, 3), b)
    small = a % 5
    results = {
        "sum": a + b,
        "difference": a - b,
        "product": a * b,
        "quotient": torch.div(a, divisor, rounding_mode="trunc"),
        "larger": torch.maximum(a, b),
        "smaller": torch.minimum(a, b),
        "sign": torch.sign(a),
        "size": torch.abs(b),
        # What is added wraps around before it is compared.
        "ordered": ((a + b < a).int() + (a * b <= b) * 2 + (a - b == b) * 4).int(),
        "total": small.sum(0, keepdim=True).to(kind),
        "most": a.amax(0, keepdim=True),
        "least": a.amin(0, keepdim=True),
        "running": torch.cumsum(small, 0).to(kind),
        "as_i8": a.to(torch.int8),
        "as_f32": b.float(),
        "as_bool": a.bool(),
        "clamped": torch.clamp(a, 1, 5),
    }
    out = {f"{name}.a": a, f"{name}.b": b, f"{name}.divisor": divisor, f"{name}.small": small}
    return out | {f"{name}.{k}": v.clone() for k, v in results.items()}


def main():
    everything = {}
    for kind in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
        everything |= of(kind)
    save_file(everything, DATA / "integers.safetensors", {"about": f"torch {torch.__version__}"})


if __name__ == "__main__":
    main()
