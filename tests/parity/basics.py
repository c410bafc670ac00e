#!/usr/bin/env python3
"""Values and gradients of arithmetic, elementary functions, reductions, products and views: writes data/basics.safetensors.

The form is that of ops.py; see README.md.
"""

import pathlib

import torch
import torch.nn.functional as F
from ops import INF, NAN, Group, draw, edges
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"
GRID = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -0.3, INF, -INF, NAN])


def ties(*dims):
    """Numbers that often are equal, without two of them being the same edge of a range."""
    return torch.randint(-2, 3, dims, generator=torch.Generator().manual_seed(11)).float()


def arithmetic():
    g = Group("arithmetic")
    of = lambda name, f, **how: g.value(name, f(g.argument(name, edges(**how))))
    of("negated", torch.neg)
    of("exp", lambda x: torch.exp(x.T))
    of("expm1", torch.expm1)
    of("log", torch.log)
    of("log1p", lambda x: torch.log1p(x.T))
    of("sqrt", torch.sqrt)
    of("rsqrt", torch.rsqrt)
    of("tanh", torch.tanh)
    of("sigmoid", torch.sigmoid)
    of("erf", torch.erf)
    of("gelu", F.gelu, without=(INF, -INF))  # at infinities gradients are 0 times infinity, or not, by formula
    of("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), without=(INF, -INF))
    of("abs", torch.abs, without=(NAN,))  # tx's abs has a gradient there
    of("ceil", torch.ceil)
    # Every number with every other, one axis each: values.
    left, right = g.argument("left", GRID.reshape(9, 1)), g.argument("right", GRID)
    for name, value in {"sum": left + right, "difference": left - right, "product": left * right, "quotient": left / right}.items():
        g.values[name] = value.detach()
    g.values["ordered"] = ((left < right).int() + (left <= right) * 2 + (left == right) * 4 + ((left > 0) & (right > 0)) * 8).int()
    # Broadcast, with gradients.
    tall, wide = g.argument("tall", draw(7, 1, 2)), g.argument("wide", draw(3, 1) + 3)
    g.value("mixed", (tall + wide) * wide - tall / wide + 2 / wide - tall * 0.5)
    # Ties share gradients; infinities are numbers.
    first, second = ties(3, 17), ties(3, 17).flip(0)
    first[0, 0], first[0, 1], first[1, 1], second[0, 2], second[1, 2], first[1, 2] = INF, -INF, INF, INF, -INF, -INF
    first, second = g.argument("first", first), g.argument("second", second)
    g.value("larger", torch.maximum(first, second))
    g.value("smaller", torch.minimum(first, second), 2.0)
    bounded = g.argument("bounded", draw(3, 17) * 2)
    g.value("chosen", torch.where(bounded < 0.5, bounded * 3, torch.exp(bounded)))
    halved = g.argument("halved", edges(scale=1000.0))
    g.value("bf16", halved.to(torch.bfloat16).double())
    g.value("f16", halved.to(torch.float16).double(), 2.0)
    g.values["cut"] = g.argument("cut", edges(without=(INF, -INF, NAN), scale=1.3)).detach().to(torch.int32)
    g.value("stopped", bounded * bounded.detach(), 3.0)
    return g.tensors()


def reductions():
    g = Group("reductions")
    x = g.argument("x", draw(3, 5, 7))
    g.value("sum_first", x.sum(0, keepdim=True))
    g.value("sum_middle", x.sum(1, keepdim=True), 2.0)
    g.value("sum_outer", x.sum((0, 2), keepdim=True), 3.0)
    g.value("sum_all", x.sum(), 0.5)
    g.value("mean_last", x.mean(-1, keepdim=True), 5.0)
    g.value("mean_inner", x.mean((1, 2), keepdim=True), 7.0)
    g.value("product", x.prod(1, keepdim=True), 1.5)
    tied = g.argument("tied", ties(4, 6, 1))
    g.value("max_first", tied.amax(0, keepdim=True))
    g.value("max_all", tied.amax(), 3.0)
    g.value("min_last", tied.amin((1, 2), keepdim=True), 2.0)
    g.value("min_middle", tied.amin(1, keepdim=True), 0.7)
    g.value("min_all", tied.amin(), 5.0)
    g.value("running", torch.cumsum(x, 1), 0.3)
    rows = draw(4, 17)
    rows[1, 1:9], rows[2], rows[3] = -INF, 4.0, -INF  # some masked, all equal, all masked
    g.value("softmax", torch.softmax(g.argument("rows", rows), -1))
    g.value("softmax_first", torch.softmax(x * 3, 0), 2.0)
    normal = draw(3, 17)
    normal[2] = 0.25
    norm = (g.argument("normal", normal), (17,), g.argument("scale", draw(17)), g.argument("shift", draw(17)), 0.1)
    g.value("layer_norm", F.layer_norm(*norm))
    logits = draw(3, 7)
    logits[0, :4] = torch.tensor([0.0, 100.0, -100.0, 20.0])
    targets = g.constant("targets", torch.tensor([[0.0, 1.0, 0.25, 0.5, 1.0, 0.75, 0.0]]).repeat(3, 1))
    logits = g.argument("logits", logits)
    g.value("entropy", F.binary_cross_entropy_with_logits(logits, targets), 3.0)
    g.value("entropies", F.binary_cross_entropy_with_logits(logits, targets, reduction="none"))
    g.value("unit", F.normalize(g.argument("unit", draw(4, 7)), dim=-1))
    pair = g.argument("one", draw(4, 7)), g.argument("other", draw(4, 7))
    g.value("cosine", F.cosine_similarity(*pair, dim=-1).reshape(4, 1), 2.0)
    return g.tensors()


def products():
    g = Group("products")
    a, b = g.argument("a", draw(2, 3, 5, 7)), g.argument("b", draw(2, 3, 7, 4))
    g.value("batched", a @ b)
    g.value("right_turned", a @ g.argument("c", draw(2, 3, 4, 7)).mT, 2.0)
    g.value("left_turned", g.argument("d", draw(2, 3, 7, 5)).mT @ b, 0.5)
    g.value("both_turned", g.argument("e", draw(2, 3, 7, 1)).mT @ g.argument("f", draw(2, 3, 17, 7)).mT, 0.7)
    w = g.argument("w", draw(7, 17))
    g.value("shared", a @ w, 0.2)
    g.value("outer", g.argument("column", draw(17, 1)) @ g.argument("row", draw(1, 7)), 3.0)
    x = g.argument("x", draw(2, 3, 8))
    g.value("stepped", x[:, :, 1:8:3])
    g.value("padded", F.pad(x, (0, 0, 1, 2)), 0.3)
    g.value("parted", torch.cat(torch.split(x, 4, -1)[::-1], 0), 2.0)
    g.value("stacked", torch.stack([x, x.flip(1)], -1), 0.4)
    g.value("permuted", x.permute(2, 0, 1).reshape(4, 12), 0.1)
    g.value("repeated", g.argument("thin", draw(3, 1)).broadcast_to(2, 3, 17), 0.6)
    g.value("triangle", torch.tril(w), 0.9)
    ids = g.constant("ids", torch.tensor([[3, 0, 5, 0], [1, 1, 2, 1]], dtype=torch.int32)).long()
    table = g.argument("table", draw(6, 5))
    g.value("words", F.embedding(ids, table))
    g.value("bags", F.embedding_bag(ids, table, mode="sum"), 2.0)
    return g.tensors()


def main():
    torch.set_num_threads(1)
    save_file(arithmetic() | reductions() | products(), DATA / "basics.safetensors", {"about": f"torch {torch.__version__}"})


if __name__ == "__main__":
    main()
