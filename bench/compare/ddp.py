#!/usr/bin/env python3
"""Usage: ddp.py --tx bench_ranks [--ranks 2] [--rounds 3] [--steps 4] [--over mpi]

A training step of bench_step's minilm (6 layers of 384, 32 texts of 64 tokens a rank, dropout 0.1) on several processes of one thread each: tx's data_parallel
beside PyTorch's DistributedDataParallel with gloo, in turns. Prints tokens a second of all ranks, the median of the rounds, their ratio, and what PyTorch's
all_reduce of 100 MB takes.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def peer(rank, o, results):
    import torch
    import torch.distributed as dist
    from peer_step import MODELS, Torch

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
    dist.init_process_group("gloo", rank=rank, world_size=o.ranks)
    args = argparse.Namespace(peer="torch", dtype="f32", check="", dropout=0.1, threads=1, device="cpu", pool="first")
    model = Torch(args, MODELS["minilm"])
    model.forward = torch.nn.parallel.DistributedDataParallel(model.model)
    ids = [[1000 + (i * 7919 + t * 31 + rank * 104729) % 20000 for t in range(model.tokens)] for i in range(model.batch)]
    labels = [i % 2 for i in range(model.batch)]
    for _ in range(2):
        model.step(ids, labels)
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(o.steps):
        model.step(ids, labels)
    dist.barrier()
    seconds = (time.perf_counter() - begin) / o.steps
    x = torch.ones(25_000_000)
    times = []
    for _ in range(4):
        dist.barrier()
        begin = time.perf_counter()
        dist.all_reduce(x)
        times.append(time.perf_counter() - begin)
    if rank == 0:
        results.put((model.batch * model.tokens * o.ranks / seconds, statistics.median(times[1:]) * 1000))
    dist.destroy_process_group()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tx", required=True)
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, default=4)
    p.add_argument("--over", default="mpi")
    o = p.parse_args()
    sys.path.insert(0, HERE)
    import torch.multiprocessing as processes

    # As root and on fewer processors than ranks Open MPI starts nothing unless it is told to.
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    tx, torch, gloo = [], [], []
    for _ in range(o.rounds):
        done = subprocess.run(["mpirun", "-n", str(o.ranks), o.tx, "--over", o.over, "--rounds", "1", "--steps", str(o.steps)], capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            sys.exit(done.stderr)
        tx.append(json.loads(done.stdout.strip().splitlines()[-1])["tokens_per_second"])
        context = processes.get_context("spawn")
        results = context.Queue()
        processes.spawn(peer, args=(o, results), nprocs=o.ranks)
        speed, milliseconds = results.get()
        torch.append(speed)
        gloo.append(milliseconds)
        print(f"tx {tx[-1]:.0f}  PyTorch {torch[-1]:.0f} tokens/s on {o.ranks} ranks; gloo's all_reduce of 100 MB {gloo[-1]:.1f} ms", flush=True)
    print(f"tx over {o.over} has {statistics.median(tx) / statistics.median(torch):.2f} times PyTorch's tokens/s; gloo's all_reduce of 100 MB takes {statistics.median(gloo):.1f} ms")


if __name__ == "__main__":
    main()
