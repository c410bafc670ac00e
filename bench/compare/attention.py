#!/usr/bin/env python3
"""Attention, forward and backward: tx's kernels against PyTorch's scaled_dot_product_attention, on the processor.

Both sides run in turns, --rounds times, each in a process of its own; a figure is the least of all rounds. PyTorch's memory is by how much
a first forward and backward raise the process's peak, with what goes in and comes out; tx's is what its kernels need beside that. Exit status 1 where tx is less than --least times as fast at 512 tokens or more.
"""
import argparse
import json
import resource
import subprocess
import sys
import time

# texts, tokens, heads, key heads, elements of a head, causal
SHAPES = [(64, 32, 8, 8, 64, 0), (32, 64, 12, 12, 32, 0), (8, 512, 12, 12, 64, 0), (8, 512, 12, 12, 64, 1), (1, 2048, 12, 12, 64, 0), (1, 2048, 12, 12, 64, 1)]


def peer(args):
    import torch
    from torch.nn.functional import scaled_dot_product_attention
    torch.set_num_threads(args.threads)
    texts, tokens, heads, key_heads, head, causal = map(int, args.peer.split(","))
    dtype = torch.bfloat16 if args.dtype == "bf16" else torch.float32

    def drawn(count):  # token-major, as linear layers produce it
        return torch.randn(texts, tokens, count, head, dtype=dtype)
    q, k, v = (drawn(n).requires_grad_() for n in (heads, key_heads, key_heads))
    slope = drawn(heads).transpose(1, 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    raised, forward, backward = 0, [], []
    for i in range(args.repeat + 1):
        start = time.perf_counter()
        out = scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=bool(causal), enable_gqa=heads != key_heads)
        between = time.perf_counter()
        out.backward(slope)
        end = time.perf_counter()
        q.grad = k.grad = v.grad = None
        if i == 0:
            raised = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            continue
        forward.append(1e3 * (between - start))
        backward.append(1e3 * (end - between))
    print(json.dumps({"forward_ms": min(forward), "backward_ms": min(backward), "bytes": raised * 1024}))


def found(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="Python of the environment that setup.sh has made")
    parser.add_argument("--tx", help="bench_attention")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5, help="runs in a round")
    parser.add_argument("--least", type=float, default=1.3)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        return peer(args)
    short_of = []
    print(f"{args.dtype}, {args.threads} threads; milliseconds of forward + backward, and megabytes\n")
    for shape in SHAPES:
        text = ",".join(map(str, shape))
        common = ["--dtype", args.dtype, "--threads", str(args.threads)]
        rows = {"tx": [], "PyTorch": []}
        for _ in range(args.rounds):
            rows["tx"].append(found([args.tx, "--only", text, "--rounds", str(args.repeat), *common]))
            rows["PyTorch"].append(found([args.python, __file__, "--peer", text, "--repeat", str(args.repeat), *common]))
        least = {name: [min(r[what] for r in of) for what in ("forward_ms", "backward_ms", "bytes")] for name, of in rows.items()}
        texts, tokens, heads, _, head, causal = shape
        ratio = sum(least["PyTorch"][:2]) / sum(least["tx"][:2])
        print(f"{texts} x {tokens}, {heads} heads of {head}{', causal' if causal else ''}: tx {ratio:.2f} times as fast")
        if tokens >= 512 and ratio < args.least:
            short_of.append(text)
        for name, (forward, backward, size) in least.items():
            print(f"  {name:8} {forward:9.2f} + {backward:9.2f} ms {size / 2**20:8.1f} MB")
        print(flush=True)
    if short_of:
        sys.exit(f"below {args.least}: {' '.join(short_of)}")


main()
