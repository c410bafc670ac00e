#!/usr/bin/env python3
"""Values and gradients of elementwise ops, reductions and losses, at ordinary and at awkward arguments: writes data/ops.safetensors.

See README.md.
"""

import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"
INF, NAN = float("inf"), float("nan")
EDGES = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 0.5, -0.5, 1.5, 2.0, -2.0, 3.0, -3.0, 20.0, -20.0, 45.0, -45.0, 100.0, -100.0, 1e-8, -1e-8, 1e-30]
generator = torch.Generator().manual_seed(7)


def draw(*dims):
    return torch.randn(*dims, generator=generator)


def edges(without=(), scale=1.0):
    """[3, 17]: all edges, then ordinary numbers."""
    kept = [e for e in EDGES if e not in without and not (e != e and NAN in without)]
    x = draw(3 * 17) * 2
    x[: len(kept)] = torch.tensor(kept)
    return (x * scale).reshape(3, 17)


def weighed(y, by):
    """A sum that gives each column another gradient."""
    return (y * (torch.arange(y.shape[-1], dtype=y.dtype) * 0.25 + by)).sum()


class Group:
    """Arguments by name, what is computed of them, and the gradients of what `loss` adds up; in f64 on numbers that f32 holds."""

    def __init__(self, name):
        self.name, self.arguments, self.constants, self.values, self.loss = name, {}, {}, {}, 0.0

    def argument(self, name, value):
        self.arguments[name] = value.float().double().requires_grad_()
        return self.arguments[name]

    def constant(self, name, value):
        self.constants[name] = value
        return value.double() if value.is_floating_point() else value

    def value(self, name, value, by=1.0):
        self.values[name] = value.detach()
        self.loss = self.loss + (weighed(value, by) if value.dim() > 0 else value * by)

    def tensors(self):
        self.loss.backward()
        out = {}
        for name, x in self.arguments.items():
            out[f"{self.name}.argument.{name}"] = x.detach().float()
            out[f"{self.name}.gradient.{name}"] = torch.zeros_like(x) if x.grad is None else x.grad
        out |= {f"{self.name}.constant.{name}": x for name, x in self.constants.items()}
        out |= {f"{self.name}.value.{name}": x.contiguous() for name, x in self.values.items()}
        return out


def elementwise():
    g = Group("elementwise")
    of = lambda name, f, **how: g.value(name, f(g.argument(name, edges(**how))))
    of("cube", lambda x: torch.pow(x, 3))
    of("root", lambda x: torch.pow(x, 0.7))
    of("fraction", lambda x: torch.pow(x, -1.5))
    of("nothing", lambda x: torch.pow(x, 0))
    # Every base to every exponent, one axis each.
    base = g.argument("base", torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.7, INF, -INF, NAN, 1e-3]).reshape(11, 1))
    exponent = g.argument("exponent", torch.tensor([0.0, 1.0, 2.0, -1.0, 0.5, -0.5, 3.0, -3.0, INF, -INF, NAN, 2.3]))
    power = torch.pow(base, exponent)
    g.value("power", power)
    g.values["compared"] = (
        (base > exponent).int() + (base >= exponent) * 2 + (base != exponent) * 4 + ((base > 0) | (exponent > 0)) * 8 + ~(base < exponent) * 16
    ).int()
    of("sin", lambda x: torch.sin(x.T))
    of("cos", torch.cos, scale=1000.0)
    of("softplus", F.softplus)
    of("relu", F.relu)
    of("leaky_relu", lambda x: F.leaky_relu(x, 0.2))
    of("elu", lambda x: F.elu(x, 1.5))
    of("silu", F.silu)
    of("square", torch.square)
    of("reciprocal", torch.reciprocal)
    of("sign", torch.sign, without=(NAN,))  # tx's sign of NaN is NaN
    of("floor", torch.floor)
    of("clamp", lambda x: torch.clamp(x, -1.2, 1.7), without=(NAN,))  # at NaN and bounds PyTorch's gradients vary by version
    return g.tensors()


def losses():
    g = Group("losses")
    sums = draw(4, 7)
    sums[0, 2], sums[1, :3], sums[2] = INF, -INF, 1000.0
    g.value("logsumexp", torch.logsumexp(g.argument("logsumexp", sums), -1, keepdim=True))
    g.value("logsumexp_outer", torch.logsumexp(g.argument("logsumexp_outer", draw(3, 5, 2) * 50), (0, 2), keepdim=True), 2.0)
    g.value("variance", torch.var(g.argument("variance", draw(5, 7)), -1, keepdim=True))
    g.value("spread", torch.var(g.argument("spread", draw(5, 7)), 0, correction=0, keepdim=True))
    g.value("rms_norm", F.rms_norm(g.argument("rms", draw(3, 7)), (7,), g.argument("rms_scale", draw(7)), 1e-6))
    group = (g.argument("group", draw(2, 6, 5)), 3, g.argument("group_scale", draw(6)), g.argument("group_shift", draw(6)), 1e-5)
    g.value("group_norm", F.group_norm(*group))
    rows = draw(4, 5)
    rows[1, 1:3], rows[2], rows[3] = -INF, 4.0, -INF  # some masked, all equal, all masked
    g.value("log_softmax", F.log_softmax(g.argument("log_softmax", rows), -1))

    labels = g.constant("labels", torch.tensor([0, -100, 4, 2, -100, 2], dtype=torch.int32)).long()
    weights = g.constant("weights", torch.tensor([0.5, 2.0, 1.0, 0.25, 3.0]))
    g.value("ignoring", F.cross_entropy(g.argument("ignoring", draw(6, 5)), labels), 2.0)
    g.value("weighted", F.cross_entropy(g.argument("weighted", draw(6, 5)), labels, weight=weights), 3.0)
    g.value("smooth", F.cross_entropy(g.argument("smooth", draw(6, 5)), labels.clamp(min=0), label_smoothing=0.2), 5.0)
    everything = F.cross_entropy(g.argument("everything", draw(6, 5) * 3), labels, weight=weights, label_smoothing=0.1)
    g.value("everything", everything, 7.0)
    g.value("nll", F.nll_loss(g.argument("nll", draw(6, 5)), labels, weight=weights), 1.5)
    g.values["one_hot"] = F.one_hot(labels.clamp(min=0), 5).double()

    target = g.constant("target", torch.tensor([[0.5, -1.0, 3.0, 0.0], [2.0, 0.25, -2.0, 1.0]]))
    near = draw(2, 4) * 2
    near[0, 0], near[0, 1], near[0, 3] = 0.5, -0.25, -0.75  # no error, and both sides' kinks
    g.value("mse", F.mse_loss(g.argument("mse", near), g.argument("mse_target", draw(2, 4))))
    far = near.clone()
    far[1, 1], far[1, 2] = INF, -INF
    g.value("huber", F.huber_loss(g.argument("huber", far), target, reduction="none", delta=0.75))
    g.value("smooth_l1", F.smooth_l1_loss(g.argument("smooth_l1", near), target, reduction="sum", beta=0.75))
    probabilities = g.constant("probabilities", torch.tensor([[0.25, 0.0, 0.5, 0.25], [0.0, 1.0, 0.0, 0.0]]))
    g.value("kl_div", F.kl_div(g.argument("kl_div", F.log_softmax(draw(2, 4), -1)), probabilities, reduction="batchmean"), 4.0)
    triangle = draw(4, 6)
    triangle[0, 5], triangle[3, 0] = NAN, INF
    g.value("lower", torch.tril(g.argument("lower", triangle), 1))
    g.value("upper", torch.triu(g.argument("upper", triangle), -1))
    return g.tensors()


def main():
    torch.set_num_threads(1)
    DATA.mkdir(exist_ok=True)
    save_file(elementwise() | losses(), DATA / "ops.safetensors", {"about": f"torch {torch.__version__}"})


if __name__ == "__main__":
    main()
