#!/usr/bin/env python3
"""Values and gradients of PyTorch's GRU and LSTM over 16 and 256 moments: writes data/recurrent.safetensors.

The form is that of ops.py; see README.md.
"""

import pathlib

import torch
from ops import Group, draw
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"
BATCH, IN, HIDDEN = 3, 5, 4


def layer(name, make, states, time):
    torch.manual_seed(7)
    g = Group(name)
    module = make(IN, HIDDEN).double()
    parameters = {n: g.argument(f"layer.{n}", p.detach()) for n, p in module.named_parameters()}
    x = g.argument("x", draw(time, BATCH, IN))
    first = [g.argument(s, draw(BATCH, HIDDEN)) for s in states]
    given = first[0][None] if len(first) == 1 else tuple(s[None] for s in first)
    everything, last = torch.func.functional_call(module, parameters, (x, given))
    g.value("all", everything)
    for s, value in zip(states, [last] if len(first) == 1 else last):
        g.value(f"last_{s}", value[0], 2.0)
    return g.tensors()


if __name__ == "__main__":
    tensors = {}
    for time in 16, 256:
        tensors |= layer(f"gru_{time}", torch.nn.GRU, ["hidden"], time)
        tensors |= layer(f"lstm_{time}", torch.nn.LSTM, ["hidden", "cell"], time)
    save_file(tensors, DATA / "recurrent.safetensors")
