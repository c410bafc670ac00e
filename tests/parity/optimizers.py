#!/usr/bin/env python3
"""PyTorch's optimizers on given gradients, and its learning-rate schedules, in f64: writes data/optimizers.safetensors.

See README.md.
"""

import pathlib
import warnings

import numpy
import torch
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"
ELEMENTS, STEPS, DECAY = 17, 20, 0.0625  # a decay that f32 holds
RATE, WARMUP, TOTAL = 0.03125, 4, 18
optim, schedules = torch.optim, torch.optim.lr_scheduler

OPTIMIZERS = {
    "adam": lambda p: optim.Adam(p, weight_decay=DECAY),
    "adam_betas": lambda p: optim.Adam(p, betas=(0.5, 0.95), eps=1e-4, weight_decay=DECAY),
    "adamw": lambda p: optim.AdamW(p, weight_decay=DECAY),
    "sgd": lambda p: optim.SGD(p, weight_decay=DECAY),
    "sgd_momentum": lambda p: optim.SGD(p, momentum=0.9, weight_decay=DECAY),
    "sgd_nesterov": lambda p: optim.SGD(p, momentum=0.75, nesterov=True, weight_decay=DECAY),
    "adagrad": lambda p: optim.Adagrad(p, weight_decay=DECAY),
    "adagrad_start": lambda p: optim.Adagrad(p, lr_decay=0.125, initial_accumulator_value=0.5, weight_decay=DECAY),
    "rmsprop": lambda p: optim.RMSprop(p, weight_decay=DECAY),
    "rmsprop_momentum": lambda p: optim.RMSprop(p, alpha=0.9, momentum=0.5, weight_decay=DECAY),
    "rmsprop_centered": lambda p: optim.RMSprop(p, momentum=0.5, centered=True, weight_decay=DECAY),
}

# After a warm-up of WARMUP steps; rates of 1, so that they are shares.
SCHEDULES = {
    "constant": lambda o: schedules.ConstantLR(o, factor=1.0, total_iters=0),
    "linear": lambda o: schedules.LinearLR(o, start_factor=1.0, end_factor=0.0, total_iters=TOTAL - WARMUP),
    "linear_end": lambda o: schedules.LinearLR(o, start_factor=1.0, end_factor=0.25, total_iters=TOTAL - WARMUP),
    "cosine": lambda o: schedules.CosineAnnealingLR(o, T_max=TOTAL - WARMUP),
    "cosine_end": lambda o: schedules.CosineAnnealingLR(o, T_max=TOTAL - WARMUP, eta_min=0.125),
    "polynomial": lambda o: schedules.PolynomialLR(o, total_iters=TOTAL - WARMUP, power=2.0),
    "stairs": lambda o: schedules.StepLR(o, step_size=5, gamma=0.5),
}


def one_parameter(values):
    return torch.nn.Parameter(torch.tensor(values, dtype=torch.float64))


def rates_of(make, steps):
    """The rate of each step; its own warm-up, as a scheduler that has run for a while would give another curve."""
    rates = [(s + 1) / WARMUP for s in range(WARMUP)]
    optimizer = optim.SGD([one_parameter([0.0])], lr=1.0)
    scheduler = make(optimizer)
    for _ in range(steps - WARMUP):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return torch.tensor(rates, dtype=torch.float64)


def one_cycle(steps):
    optimizer = optim.SGD([one_parameter([0.0])], lr=1.0)
    scheduler = schedules.OneCycleLR(optimizer, max_lr=1.0, total_steps=steps, pct_start=0.3, cycle_momentum=False)
    rates = []
    for s in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if s + 1 < steps:
            scheduler.step()
    return torch.tensor(rates, dtype=torch.float64)


def trained(make, initial, gradients, rates):
    """The parameter after each step."""
    p = one_parameter(initial.tolist())
    optimizer = make([p])
    after = []
    for gradient, rate in zip(gradients, rates):
        for group in optimizer.param_groups:
            group["lr"] = rate.item()
        p.grad = gradient.clone()
        optimizer.step()
        after.append(p.detach().clone())
    return torch.stack(after)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    DATA.mkdir(exist_ok=True)
    generator = torch.Generator().manual_seed(3)
    initial = torch.randn(ELEMENTS, generator=generator, dtype=torch.float64)
    gradients = torch.randn(STEPS, ELEMENTS, generator=generator, dtype=torch.float64)
    initial[2] = 0.0
    gradients[:, 0] = 0.0  # never moved but by decay
    gradients[:, 1] *= 1e4
    gradients[:, 2] *= 1e-9
    gradients[3:, 3] = 0.0
    warm_cosine = rates_of(SCHEDULES["cosine"], STEPS)[:STEPS]
    rates = torch.tensor([numpy.float32(RATE * share).item() for share in warm_cosine.tolist()], dtype=torch.float64)
    out = {"initial": initial, "gradients": gradients, "rates": rates}
    for name, make in OPTIMIZERS.items():
        out[name] = trained(make, initial, gradients, rates)
    for name, make in SCHEDULES.items():
        steps = TOTAL + 1 if name.startswith("cosine") else TOTAL + 6  # PyTorch's cosine rises again
        out["schedule." + name] = rates_of(make, steps)
    out["schedule.one_cycle"] = one_cycle(40)
    about = f"torch {torch.__version__}; rate {RATE} times a cosine after {WARMUP} steps of {TOTAL}, as f32; decay {DECAY}"
    save_file(out, DATA / "optimizers.safetensors", {"about": about})
    print(about)


if __name__ == "__main__":
    main()
