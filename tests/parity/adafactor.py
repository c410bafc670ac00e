#!/usr/bin/env python3
"""Adafactor as Hugging Face's transformers and PyTorch have it, on given gradients, in f64: writes data/adafactor.safetensors.

See README.md.
"""

import pathlib

import torch
import transformers
from safetensors.torch import save_file
from transformers.optimization import Adafactor

DATA = pathlib.Path(__file__).parent / "data"
STEPS, DECAY, RATE = 20, 0.0625, 0.03125  # numbers that f32 holds
SHAPES = {"matrix": (5, 7), "vector": (6,), "cube": (3, 4, 2)}

OPTIMIZERS = {
    "relative": lambda p: Adafactor(p, lr=None),  # the rate is the paper's: 0.01
    "scaled": lambda p: Adafactor(p, lr=RATE, relative_step=False),
    "absolute": lambda p: Adafactor(p, lr=RATE, relative_step=False, scale_parameter=False),
    "momentum": lambda p: Adafactor(p, lr=RATE, relative_step=False, scale_parameter=False, beta1=0.75, clip_threshold=0.5),
    "pytorch": lambda p: torch.optim.Adafactor(p, lr=RATE, eps=(1e-30, 1e-3), weight_decay=DECAY),
}


def trained(make, initial, gradients):
    """The parameter after each step."""
    p = torch.nn.Parameter(initial.clone())
    optimizer = make([p])
    after = []
    for gradient in gradients:
        p.grad = gradient.clone()
        optimizer.step()
        after.append(p.detach().clone())
    return torch.stack(after)


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(5)
    out = {}
    for name, shape in SHAPES.items():
        initial = torch.randn(shape, generator=generator, dtype=torch.float64)
        gradients = torch.randn((STEPS, *shape), generator=generator, dtype=torch.float64)
        gradients[:, 0] *= 1e3
        gradients[:, 1] *= 1e-9
        gradients[7:12] *= 1e2  # the update is clipped
        if name == "matrix":
            gradients[3:, 2] = 0.0
            gradients[:, :, 4] = 0.0
        if name == "vector":
            initial *= 1e-4  # smaller than epsilon2
            gradients[3:, 2] = 0.0
        out[f"{name}.initial"], out[f"{name}.gradients"] = initial, gradients
        for kind, make in OPTIMIZERS.items():
            out[f"{name}.{kind}"] = trained(make, initial, gradients)
    about = f"torch {torch.__version__}, transformers {transformers.__version__}; rate {RATE}, decay {DECAY} in pytorch, 0 elsewhere"
    save_file(out, DATA / "adafactor.safetensors", {"about": about})
    print(about)


if __name__ == "__main__":
    main()
