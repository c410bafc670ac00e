"""What PyTorch makes of structural ops where definitions differ most: edges of pictures, ties, NaN, zeros, empty bags.

Writes data/structural.safetensors, f64: for each case its operands `in0`, `in1`, ..., the result `y` and, where it has a
gradient, `weights` (what sum(y * weights) is differentiated by) and the gradients `d0`, `d1`, ... of the operands.
"""

import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

tensors = {}


def case(name, function, *operands):
    operands = [x.requires_grad_() if x.is_floating_point() else x for x in operands]
    y = function(*operands)
    if y.requires_grad:
        weights = torch.linspace(0.3, 1.7, y.numel(), dtype=torch.float64).reshape(y.shape)
        gradients = torch.autograd.grad((y * weights).sum(), [x for x in operands if x.is_floating_point()])
        tensors[f"{name}.weights"] = weights
        for k, gradient in enumerate(gradients):
            tensors[f"{name}.d{k}"] = gradient.contiguous()
    for k, x in enumerate(operands):
        tensors[f"{name}.in{k}"] = x.detach().clone() if x.is_floating_point() else x.to(torch.int32)
    tensors[f"{name}.y"] = y.detach().contiguous() if y.is_floating_point() else y.to(torch.int32)


def drawn(*dims):
    return torch.rand(dims, dtype=torch.float64) * 2 - 1


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


torch.manual_seed(1)
nan, inf = float("nan"), float("inf")

picture, kernel, bias = drawn(2, 4, 7, 6), drawn(6, 2, 3, 2), drawn(6)
case("conv_plain", F.conv2d, drawn(1, 3, 5, 4), drawn(2, 3, 2, 3))
case("conv_all", lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2), picture, kernel, bias)
case("conv_depthwise", lambda x, w: F.conv2d(x, w, stride=3, padding=2, groups=4), drawn(2, 4, 7, 6), drawn(4, 1, 3, 3))
ties = torch.randint(0, 3, (2, 2, 6, 5)).double()
case("max_pool_ties", lambda x: F.max_pool2d(x, 3, stride=2, padding=1), ties)
case("max_pool_dilated", lambda x: F.max_pool2d(x, 2, stride=1, padding=1, dilation=2), drawn(1, 2, 5, 6))
case("avg_pool", lambda x: F.avg_pool2d(x, (3, 2), stride=(2, 1), padding=1), drawn(2, 3, 6, 5))

ids = torch.randint(0, 5, (3, 7, 2))
case("gather", lambda x, i: torch.gather(x, 1, i), drawn(3, 5, 2), ids)
case("scatter_add", lambda x, i, v: torch.scatter_add(x, 1, i, v), drawn(3, 5, 2), ids, drawn(3, 7, 2))
case("cumsum", lambda x: torch.cumsum(x, 1), drawn(2, 7, 3))
case("prod_zeros", lambda x: torch.prod(x, 1, keepdim=True), numbers([1, 0, 3], [0, 2, 0], [2, -3, 4]).reshape(3, 3))
odd = numbers([1, nan, 3, nan], [inf, -inf, 0, 2], [4, 3, 5, -inf]).reshape(3, 4)
case("argmax_nan", lambda x: torch.argmax(x, 1, keepdim=True), odd)
case("argmin_nan", lambda x: torch.argmin(x, 1, keepdim=True), odd)
case("top_k", lambda x: torch.topk(x, 3).values, drawn(4, 7))
case("top_k_at", lambda x: torch.topk(x, 3).indices, drawn(4, 7))
case("top_k_odd", lambda x: torch.topk(x, 2).values, numbers([1, nan, 3, 2], [inf, -inf, 0, 2], [4, 3, 5, -inf]).reshape(3, 4))
case("einsum", lambda a, b, c: torch.einsum("bij,bjk,lk->blik", a, b, c), drawn(2, 3, 4), drawn(2, 4, 5), drawn(6, 5))
case("einsum_outer", lambda a, b: torch.einsum("ci,cj->cij", a, b), drawn(2, 3), drawn(2, 5))

bags = torch.tensor([[3, 0, 5, 0], [1, 1, 1, 1], [-1, -1, -1, -1]])  # -1: an empty place, which PyTorch writes as padding_idx


def bag(mode):
    def run(table, i, *per_sample):
        padded = torch.cat([table, torch.zeros(1, table.shape[1], dtype=torch.float64)])
        places = torch.where(i < 0, table.shape[0], i)
        return F.embedding_bag(places, padded, mode=mode, padding_idx=table.shape[0], per_sample_weights=per_sample[0] if per_sample else None)

    return run


for mode in ("sum", "mean", "max"):
    case(f"bag_{mode}", bag(mode), drawn(6, 3), bags)
case("bag_weighted", bag("sum"), drawn(6, 3), bags, drawn(3, 4))

folder = pathlib.Path(__file__).parent / "data"
save_file(tensors, folder / "structural.safetensors", metadata={"torch": torch.__version__})
