#!/usr/bin/env python3
"""Values and gradients of ops on bf16 and f16: writes data/halves.safetensors.

f32 arguments are rounded to halves, ops give halves, and gradients come back as f32; see README.md.
"""

import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"


def numbers(half):
    generator = torch.Generator().manual_seed(3)
    draw = lambda *dims: torch.randn(*dims, generator=generator).requires_grad_()
    arguments = {"x": draw(3, 17), "y": draw(17), "w": draw(17, 7), "table": draw(6, 17), "scale": draw(17), "shift": draw(17)}
    arguments["steep"] = (torch.randn(3, 17, generator=generator) * 300).requires_grad_()  # whose squares f16 does not hold
    arguments["still"] = torch.cat([torch.zeros(1, 17), torch.full((1, 17), 0.5)]).requires_grad_()  # rows without variance
    x, y, w, table, scale, shift, steep, still = (a.to(half) for a in arguments.values())
    ids = torch.tensor([[3, 0, 5], [1, 1, 1]])
    values = {
        "arithmetic": (x + y) * (x - y) / (y * y + 1),
        "exp": torch.exp(x),
        "log": torch.log(x.abs() + 0.5),
        "sqrt": torch.sqrt(x * x + 0.25),
        "tanh": torch.tanh(x),
        "sigmoid": torch.sigmoid(x),
        "gelu": F.gelu(x),
        "softplus": F.softplus(x),
        "sine": torch.sin(x * 3),
        "power": torch.pow(x.abs() + 0.5, 1.5),
        "chosen": torch.where(x < y, torch.maximum(x, y * 2), torch.minimum(x, y * 0.5)),
        "sum": x.sum(-1, keepdim=True),
        "mean": x.mean(0, keepdim=True),
        "most": x.amax(-1, keepdim=True),
        "least": x.amin(0, keepdim=True),
        "softmax": torch.softmax(x, -1),
        "norm": F.layer_norm(x, (17,), scale, shift),
        "product": x @ w,
        "turned": x.T @ x,
        "joined": torch.cat([x[:, 1:17:4], x.flip(1)[:, :3]], 1),
        "words": F.embedding(ids, table),
        "bags": F.embedding_bag(ids, table, mode="sum"),
        "steep_mean": steep.mean(0, keepdim=True),
        "steep_norm": F.layer_norm(steep, (17,), scale, shift),
        "steep_unit": F.normalize(steep, dim=-1),
        "steep_gelu": F.gelu(steep, approximate="tanh"),
        "running": torch.cumsum(x, 1),
        "multiplied": (x + 1).prod(0, keepdim=True),
        "scattered": torch.scatter_add(x, 1, ids.repeat(2, 1)[:3], y[:9].reshape(3, 3)),
        "still_norm": F.rms_norm(still, (17,), scale, 1e-3),
    }
    loss = 0.0
    for value in values.values():
        loss = loss + (value.float() * (torch.arange(value.shape[-1]) * 0.25 + 1)).sum()
    loss.backward()
    name = str(half).removeprefix("torch.")
    out = {f"{name}.argument.{k}": a.detach() for k, a in arguments.items()}
    out |= {f"{name}.gradient.{k}": a.grad for k, a in arguments.items()}
    out |= {f"{name}.value.{k}": v.detach().float().contiguous() for k, v in values.items()}
    return out


def main():
    torch.set_num_threads(1)
    save_file(numbers(torch.bfloat16) | numbers(torch.float16), DATA / "halves.safetensors", {"about": f"torch {torch.__version__}"})


if __name__ == "__main__":
    main()
