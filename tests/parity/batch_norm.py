#!/usr/bin/env python3
"""PyTorch's BatchNorm1d and BatchNorm2d: three runs that train, then one that infers: writes data/batch_norm.safetensors.

The form is that of ops.py; see README.md.
"""

import pathlib

import torch
from ops import Group, draw
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"


def layer(name, make, *dims):
    g = Group(name)
    module = make(dims[1], momentum=0.25).double()
    for n in "weight", "bias":
        g.argument(f"norm.{n}", draw(dims[1]) + 1)
    x = g.argument("x", draw(*dims) * 2 + 0.5)
    parameters = {n: g.arguments[f"norm.{n}"] for n in ("weight", "bias")}
    for run in range(3):
        y = torch.func.functional_call(module, parameters, (x * (run + 1),))
    g.value("trained", y)
    for n in "running_mean", "running_var":
        g.values[n] = getattr(module, n).clone()
    module.eval()
    g.values["inferred"] = torch.func.functional_call(module, parameters, (x,)).detach()
    return g.tensors()


if __name__ == "__main__":
    tensors = layer("rows", torch.nn.BatchNorm1d, 6, 3)
    tensors |= layer("lines", torch.nn.BatchNorm1d, 4, 3, 5)
    tensors |= layer("images", torch.nn.BatchNorm2d, 3, 4, 2, 5)
    save_file(tensors, DATA / "batch_norm.safetensors")
