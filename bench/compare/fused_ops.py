#!/usr/bin/env python3
"""Fused rows of bench/fused_ops.hpp on an NVIDIA device in another framework, timed as bench/device/fused.cpp times tx's: forward, and forward with backward, on matrices of --mb
megabytes of f32 with 1,024 columns. A JSON line for each, with device_fused's keys.

PyTorch's times are the device's own, between events, with caches cleared before each run; so is its copy's. JAX has no events: many runs are started one after the other, and the last is waited
for, so that caches may hold what is smaller than they are. --device cpu is for trying the script: it says nothing of either.
"""
import argparse
import json
import os
import statistics
import sys
import time

COLUMNS, DROPOUT = 1024, 0.1
# Matrices that must be read or written, as in fused_ops.hpp.
MATRICES = {"softmax_forward": 2, "softmax_backward": 3, "layer_norm_forward": 2, "layer_norm_backward": 3, "bias_gelu_forward": 2, "bias_gelu_backward": 3,
            "bias_gelu_dropout_backward": 3, "dropout_residual_layer_norm_forward": 3, "dropout_residual_layer_norm_backward": 5, "column_sums": 1,
            "cross_entropy_forward": 1, "cross_entropy_backward": 2, "adamw_update": 7}


def timed(run, count, wait):
    """Seconds of a run, of so many that are started one after the other; the best of three times."""
    for _ in range(3):
        wait(run())
    found = []
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(count):
            last = run()
        wait(last)
        found.append((time.perf_counter() - start) / count)
    return min(found)


class Torch:
    def __init__(self, rows, compiled, device):
        import torch
        import torch.nn.functional as f

        self.torch = torch
        torch.set_default_device(device)
        self.on_device = device == "cuda"
        self.cleared = torch.empty(512 << 20 if self.on_device else 1, dtype=torch.int8)
        make = torch.randn
        self.x, self.r, self.w = make(rows, COLUMNS), make(rows, COLUMNS), make(rows, COLUMNS)
        scale, shift, bias = torch.ones(COLUMNS), torch.zeros(COLUMNS), torch.zeros(COLUMNS)
        labels = torch.arange(rows) * 7 % COLUMNS
        norm = lambda x, scale, shift: f.layer_norm(x, (COLUMNS,), scale, shift, 1e-12)
        wrap = torch.compile if compiled else lambda function: function
        forward = {
            "softmax": (lambda x: f.softmax(x, -1), (self.x,)),
            "layer_norm": (norm, (self.x, scale, shift)),
            "bias_gelu": (lambda x, b: f.gelu(x + b), (self.x, bias)),
            "bias_gelu_dropout": (lambda x, b: f.dropout(f.gelu(x + b), DROPOUT), (self.x, bias)),
            "dropout_residual_layer_norm": (lambda x, r, s, t: norm(f.dropout(x, DROPOUT) + r, s, t), (self.x, self.r, scale, shift)),
            "cross_entropy": (lambda x: f.cross_entropy(x, labels), (self.x,)),
        }
        inference = {**forward, "dropout_residual_layer_norm": (lambda x, r, s, t: norm(x + r, s, t), (self.x, self.r, scale, shift))}
        del inference["bias_gelu_dropout"]
        self.runs = {}
        for name, (function, arguments) in inference.items():
            self.runs[name + "_forward"] = self.without_gradient(wrap(function), arguments)
        for name, (function, arguments) in forward.items():
            self.runs[name + "_backward"] = self.with_gradient(wrap(function), [a.clone().requires_grad_() for a in arguments], name == "cross_entropy")
        self.runs["column_sums"] = self.without_gradient(wrap(lambda x: (x * x).sum(0)), (self.x,))
        parameter = torch.nn.Parameter(self.x.clone())
        parameter.grad = self.w
        optimizer = torch.optim.AdamW([parameter], fused=True)
        self.runs["adamw_update"] = optimizer.step

    def without_gradient(self, function, arguments):
        def run():
            with self.torch.no_grad():
                function(*arguments)
        return run

    def with_gradient(self, function, arguments, is_loss):
        def run():
            for a in arguments:
                a.grad = None
            result = function(*arguments)
            result.backward(None if is_loss else self.w)
        return run

    def seconds(self, run, count):
        if not self.on_device:
            return timed(run, count, lambda last: None)
        events = [[self.torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
        for _ in range(3):
            run()
        for before, after in events:
            self.cleared.zero_()
            before.record()
            run()
            after.record()
        self.torch.cuda.synchronize()
        return statistics.median(before.elapsed_time(after) for before, after in events) * 1e-3

    def copy(self):
        return lambda: self.r.copy_(self.x)


class Jax:
    def __init__(self, rows):
        import jax
        import jax.numpy as jnp

        self.jax = jax
        key = jax.random.PRNGKey(0)
        x, r, w = (jax.random.normal(k, (rows, COLUMNS)) for k in jax.random.split(key, 3))
        scale, shift, bias = jnp.ones(COLUMNS), jnp.zeros(COLUMNS), jnp.zeros(COLUMNS)
        labels = jnp.arange(rows) * 7 % COLUMNS

        def norm(x, s, t):
            centred = x - x.mean(-1, keepdims=True)
            return centred * jax.lax.rsqrt((centred ** 2).mean(-1, keepdims=True) + 1e-12) * s + t

        def drop(x):
            return jnp.where(jax.random.bernoulli(key, 1 - DROPOUT, x.shape), x / (1 - DROPOUT), 0)

        def entropy(x):
            return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1).mean()

        gelu = lambda x: jax.nn.gelu(x, approximate=False)
        forward = {
            "softmax": (jax.nn.softmax, (x,)),
            "layer_norm": (norm, (x, scale, shift)),
            "bias_gelu": (lambda x, b: gelu(x + b), (x, bias)),
            "bias_gelu_dropout": (lambda x, b: drop(gelu(x + b)), (x, bias)),
            "dropout_residual_layer_norm": (lambda x, r, s, t: norm(drop(x) + r, s, t), (x, r, scale, shift)),
            "cross_entropy": (entropy, (x,)),
        }
        inference = {**forward, "dropout_residual_layer_norm": (lambda x, r, s, t: norm(x + r, s, t), (x, r, scale, shift))}
        del inference["bias_gelu_dropout"]
        self.runs = {}

        def add(name, function, arguments):
            compiled = jax.jit(function)
            self.runs[name] = lambda: compiled(*arguments)

        for name, (function, arguments) in inference.items():
            add(name + "_forward", function, arguments)
        for name, (function, arguments) in forward.items():
            by = tuple(range(len(arguments)))
            if name == "cross_entropy":
                add(name + "_backward", jax.grad(function, by), arguments)
            else:
                add(name + "_backward", lambda w, *a, f=function: jax.vjp(f, *a)[1](w), (w, *arguments))
        add("column_sums", lambda x: (x * x).sum(0), (x,))
        add("copy", lambda x: x.copy(), (x,))

        def adam(p, m, v, g):
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            return p - 1e-3 * (m / 0.1 / (jnp.sqrt(v / 0.001) + 1e-8) + 0.01 * p), m, v

        compiled = jax.jit(adam, donate_argnums=(0, 1, 2))
        self.state = (x + 0, jnp.zeros_like(x), jnp.zeros_like(x))

        def update():
            self.state = compiled(*self.state, w)
            return self.state
        self.runs["adamw_update"] = update

    def seconds(self, run, count):
        return timed(run, count, self.jax.block_until_ready)

    def copy(self):
        return self.runs.pop("copy")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", choices=["torch", "torch-compile", "jax"], default="torch")
    parser.add_argument("--mb", type=int, nargs="+", default=[1, 16, 64, 256, 1024])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    args = parser.parse_args()
    os.environ["JAX_PLATFORMS"] = args.device
    for mb in args.mb:
        rows = mb * (1 << 20) // (4 * COLUMNS)
        peer = Jax(rows) if args.peer == "jax" else Torch(rows, args.peer == "torch-compile", args.device)
        copied = 2 * mb / peer.seconds(peer.copy(), args.runs)
        if set(peer.runs) != set(MATRICES):
            sys.exit(f"fused_ops.py: {set(peer.runs) ^ set(MATRICES)} on one side alone")
        for name, matrices in MATRICES.items():
            seconds = peer.seconds(peer.runs[name], args.runs)
            rate = matrices * mb / seconds
            print(json.dumps({"kind": "fused", "peer": args.peer, "op": name, "mb": mb, "seconds": round(seconds, 7), "gb_per_s": round(rate * 1.048576e-3, 1),
                              "copy_gb_per_s": round(copied * 1.048576e-3, 1), "of_copy": round(rate / copied, 3)}), flush=True)
        del peer


if __name__ == "__main__":
    main()
