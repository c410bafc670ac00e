#!/usr/bin/env python3
"""Seconds and bytes of a training step on many ranks, predicted from what a step and collectives take on few.

    tools/scale.py check bench/results/xeon_ranks.md    predictions beside what bench_ranks and bench_zero measured; fails beyond 15%
    tools/scale.py table [--device h100|a100]           the fastest strategy that fits, for models and numbers of GPUs, beside published runs
    tools/scale.py plot FILE.svg [--device h100|a100]   the same as a chart
    tools/scale.py trace FOLDER --model NAME --gpus N [--device h100|a100]   the step of the fastest that fits as Chakra traces, step.RANK.et of each rank

A step takes its kernels' time, the waiting of a pipeline, and the communication that nothing hides:

    kernels        FLOPs of the passes (Narayanan et al., arXiv 2104.04473, section 5.1), at the share of a device's peak that its kernels reach
    data parallel  2 (D - 1) / D of the gradients' bytes a step; with zero<3> three times (D - 1) / D of the parameters' bytes a micro-batch
    tensor         4 all_reduces of a layer's values a micro-batch, 6 where they are computed again
    pipeline       (P - 1) / M of the time of M micro-batches

Bytes of a rank: parameters 4, gradients 4, states 8 for each, of which stages 1 to 3 divide the last, the last two, all (Rajbhandari et al., arXiv 1910.02054);
values kept of a layer 34 for each of a batch's tokens and channels, or 2 where they are computed again (Korthikanti et al., arXiv 2205.05198, without the scores,
which attention by blocks does not keep). tx runs all of these.
"""
import argparse
import itertools
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import scale_plot
import scale_trace


# ---- what was measured on few -----------------------------------------------------------------------------------------


class Links:
    """Seconds of a collective between two ranks by bytes, from the table that bench_collectives prints."""

    def __init__(self, text, column):
        self.seconds = {}
        for name, size, *milliseconds in re.findall(r"^ +(\w+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+)", text, re.M):
            self.seconds.setdefault(name, []).append((int(size), float(milliseconds[column]) / 1e3))

    def of_two(self, name, size):
        points = self.seconds[name]
        if size <= points[0][0]:
            return points[0][1]
        for (a, at), (b, bt) in zip(points, points[1:]):
            if size <= b or (b, bt) == points[-1]:
                return at + (bt - at) * (size - a) / (b - a)

    def among(self, name, size, ranks):
        """Each rank sends (R - 1) / R of the bytes where one of two sends a half."""
        return self.of_two(name, size) * 2 * (ranks - 1) / ranks if ranks > 1 else 0.0


def encoder_tensors(layers, hidden, ffn, vocabulary, positions):
    """Elements of each matrix of bench_ranks' encoder, and of all its vectors together, which travel as one."""
    layer = [hidden * hidden] * 4 + [hidden * ffn] * 2
    vectors = layers * (9 * hidden + ffn) + 4 * hidden
    return layer * layers + [vocabulary * hidden, positions * hidden, hidden * hidden], vectors


def communication(links, ranks, stage):
    """Seconds of a step's collectives, one after the other."""
    matrices, vectors = encoder_tensors(6, 384, 1536, 30522, 512)
    # Of each matrix: what becomes of its gradient, and of its portions.
    ways = {0: ["all_reduce"], 1: ["all_reduce", "all_gather"], 2: ["reduce_scatter", "all_gather"], 3: ["reduce_scatter", "all_gather", "all_gather"]}
    total = sum(links.among(way, 4 * m, ranks) for m in matrices for way in ways[stage])
    return total + links.among("all_reduce", 4 * vectors, ranks)


def check(path, tolerance=0.15):
    text = open(path, encoding="utf-8").read()
    runs = re.findall(r"^ +mpirun .*?bench_(?:ranks|zero)(?: --over (\w+))?.*$|^ +(\{\"(?:ranks|stage)\".*\})$", text, re.M)
    over, lines = "mpi", []
    for named, line in runs:
        if line:
            run = json.loads(line)
            if "in_collectives" not in run:  # ranks that divide products, which nothing is predicted of
                lines.append((over, run))
        else:
            over = named or "mpi"
    one = next(l["seconds_alone"] for _, l in lines if l["ranks"] == 1 and "seconds_alone" in l)
    whole = next(l for _, l in lines if l.get("stage") == 0)
    processors = 2
    wrong = 0
    print(f"{'':34}{'seconds':>9}{'predicted':>11}{'ratio':>8}")
    for over, l in lines:
        stage, ranks = l.get("stage", 0), l["ranks"]
        # More ranks than processors share them, for collectives as for kernels.
        crowd = max(1.0, ranks / processors)
        predicted = crowd * (one + communication(Links(text, 0 if over == "mpi" else 1), ranks, stage))
        ratio = predicted / l["seconds"]
        wrong += abs(ratio - 1) > tolerance
        print(f"{ranks} ranks over {over:8}{'zero<' + str(stage) + '>' if stage else '':12}{l['seconds']:14.3f}{predicted:11.3f}{ratio:8.2f}")
        if "stage" in l:
            formula = l["formula"] + whole["arena"]
            ratio = formula / l["planned_peak"]
            wrong += abs(ratio - 1) > tolerance
            if "held" in l:
                wrong += abs(l["planned_peak"] / l["held"] - 1) > 0.05
                print(f"{'':14}megabytes: {l['planned_peak'] / 1e6:.0f} planned, {formula / 1e6:.0f} by formula ({ratio:.3f}), {l['held'] / 1e6:.0f} held")
    pipelines = re.findall(r"bench_pipeline --steps.*\n +(\{.*\})\n +(\{.*\})$", text, re.M)
    for alone, together in ((json.loads(a), json.loads(b)) for a, b in pipelines):
        ranks, parts = together["ranks"], 8
        predicted = alone["seconds"] / ranks * (1 + (ranks - 1) / parts)
        ratio = predicted / together["seconds"]
        wrong += abs(ratio - 1) > tolerance
        lines.append(("mpi", together))
        print(f"{ranks} ranks over {'mpi':8}{'pipeline':12}{together['seconds']:14.3f}{predicted:11.3f}{ratio:8.2f}")
    print(f"{len(lines)} runs, {wrong} of their numbers beyond {tolerance:.0%}")
    check_traces()
    if len(lines) < 8 or wrong:
        sys.exit(1)


# ---- what many would take ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Device:
    name: str
    flops: float  # dense bf16
    memory: float  # bytes
    near: float  # bytes/s of a rank to those of its machine
    far: float  # and to others
    reached: float  # share of the peak that a layer's kernels reach, alone


DEVICES = {
    "a100": Device("A100 80 GB", 312e12, 80e9, 240e9, 22e9, 0.52),  # the share is what the published runs below need
    "h100": Device("H100 80 GB", 989e12, 80e9, 380e9, 45e9, 0.28),  # that of tx's BERT-base, bench/results/h100.md
}
OF_A_MACHINE = 8


@dataclass(frozen=True)
class Model:
    name: str
    layers: int
    hidden: int
    vocabulary: int
    tokens: int  # of a text
    texts: int  # of a step's batch on all ranks

    @property
    def parameters(self):
        return 12 * self.layers * self.hidden**2 * (1 + 13 / (12 * self.hidden)) + (self.vocabulary + self.tokens) * self.hidden

    def flops(self, passes):
        """passes: 3 forward and backward, 4 with values computed again."""
        l, h, s = self.layers, self.hidden, self.tokens
        return 24 * passes * self.texts * s * l * h**2 * (1 + s / (6 * h) + self.vocabulary / (16 * l * h))


MODELS = [
    Model("BERT-large", 24, 1024, 30528, 512, 4096),
    Model("1.5 billion", 48, 1600, 51200, 1024, 1024),
    Model("175 billion", 96, 12288, 51200, 2048, 1536),
    Model("530 billion", 105, 20480, 51200, 2048, 1920),
]


@dataclass(frozen=True)
class Strategy:
    data: int
    tensor: int
    pipeline: int
    stage: int
    texts: int  # of a micro-batch of a rank
    again: bool  # values of the forward pass are computed again

    def __str__(self):
        ways = [f"data {self.data}"]
        ways += [f"zero<{self.stage}>"] if self.stage else []
        ways += [f"tensor {self.tensor}"] if self.tensor > 1 else []
        ways += [f"pipeline {self.pipeline}"] if self.pipeline > 1 else []
        return ", ".join(ways + [f"{self.texts} texts at a time"] + (["recomputed"] if self.again else []))


def predict(m, d, s):
    """Seconds of a step and bytes of a rank."""
    apart = s.tensor * s.pipeline  # ranks that hold the model once
    own = m.parameters / apart
    micro_batches = m.texts / (s.data * s.texts)
    kernels = m.flops(4 if s.again else 3) / (s.data * apart) / (d.flops * d.reached)
    values = 2 * s.texts * m.tokens * m.hidden
    tensor = 0.0
    if s.tensor > 1:
        tensor = micro_batches * m.layers / s.pipeline * (6 if s.again else 4) * 2 * (s.tensor - 1) / s.tensor * values / d.near
    waiting = (kernels + tensor) * (s.pipeline - 1) / micro_batches
    handed_on = micro_batches * 2 * values / s.tensor / d.far if s.pipeline > 1 else 0.0
    rate = d.near if s.data * apart <= OF_A_MACHINE else d.far
    share = (s.data - 1) / s.data
    gradients = 2 * share * 4 * own / rate  # all_reduce, or reduce_scatter and all_gather
    if s.stage == 3:
        gradients = micro_batches * share * (4 + 4 + 4) * own / rate
    seconds = kernels + tensor + waiting + handed_on + gradients
    divided = [1 if s.stage < 3 else 1 / s.data, 1 if s.stage < 2 else 1 / s.data, 1 if s.stage < 1 else 1 / s.data]
    kept = own * (4 * divided[0] + 4 * divided[1] + 8 * divided[2])
    if s.stage == 3:
        kept += 2 * 4 * own / m.layers * s.pipeline  # a layer's parameters and gradients, whole
    layer = values / 2 * (2 if s.again else 34 / s.tensor)
    in_flight = min(micro_batches, s.pipeline)
    return seconds, kept + layer * m.layers / s.pipeline * in_flight + values / 2 * 34 / s.tensor


def strategies(m, ranks, whole_models):
    for tensor, pipeline in itertools.product([1, 2, 4, 8], [p for p in range(1, m.layers + 1) if m.layers % p == 0]):
        if ranks % (tensor * pipeline) or (whole_models and tensor * pipeline > 1):
            continue
        data = ranks // (tensor * pipeline)
        for stage, texts, again in itertools.product([0, 1, 2, 3] if data > 1 else [0], [1, 2, 4, 8, 16, 32], [False, True]):
            if m.texts % (data * texts) == 0 and not (stage == 3 and pipeline > 1):
                yield Strategy(data, tensor, pipeline, stage, texts, again)


def fastest(m, d, ranks, whole_models=False):
    found = [(*predict(m, d, s), s) for s in strategies(m, ranks, whole_models)]
    fits = [f for f in found if f[1] <= 0.92 * d.memory]
    return min(fits, key=lambda f: (round(f[0], 6), -f[2].texts)) if fits else None  # kernels like large batches


PUBLISHED = [  # seconds of a step on A100s
    ("175 billion", Strategy(16, 8, 8, 0, 1, True), 32.0, "Narayanan et al., arXiv 2104.04473: 1,024 GPUs, 1,536 texts; divided as is assumed here"),
    ("530 billion", Strategy(8, 8, 35, 0, 1, True), 60.1, "Smith et al., arXiv 2201.11990: 2,240 GPUs, 1,920 texts"),
    ("530 billion", Strategy(10, 8, 35, 0, 1, True), 50.2, "the same: 2,800 GPUs"),
    ("530 billion", Strategy(12, 8, 35, 0, 1, True), 44.4, "the same: 3,360 GPUs"),
]


def table(device):
    d = DEVICES[device]
    print(f"{d.name}, {d.reached:.0%} of its peak in kernels: the fastest that fits, and the fastest where every rank has all layers\n")
    for m, ranks in itertools.product(MODELS, [8, 64, 256, 1024]):
        for whole_models in (False, True):
            best = fastest(m, d, ranks, whole_models)
            what = f"{best[0]:9.2f} s {best[1] / 1e9:6.1f} GB {m.flops(3) / best[0] / ranks / 1e12:6.0f} TFLOP/s  {best[2]}" if best else "    does not fit"
            print(f"{m.name:12} {ranks:5} GPUs {'whole' if whole_models else '':6}{what}")
    print("\nPublished, on A100s, seconds of a step:")
    for name, s, seconds, source in PUBLISHED:
        m = next(m for m in MODELS if m.name == name)
        predicted, _ = predict(m, DEVICES["a100"], s)
        print(f"  {name} {seconds:6.1f}  predicted {predicted:6.1f} ({predicted / seconds:.2f})  {source}")


NUMBERS = [8, 16, 32, 64, 128, 256, 512, 1024]


def plot(path, device):
    d = DEVICES[device]
    lines = {}
    for m in MODELS:
        best = [(n, fastest(m, d, n)) for n in NUMBERS]
        lines[m.name] = [(n, b[0]) for n, b in best if b]
    points = [(scale_trace.ranks_of(s), seconds, f"{name}, {source}") for name, s, seconds, source in PUBLISHED if device == "a100"]
    Path(path).write_text(scale_plot.plot(f"Predicted seconds of a step, {d.name}, the fastest strategy that fits", {n: l for n, l in lines.items() if l}, points), encoding="utf-8")


def kernels_of(m, d, s):
    return m.flops(4 if s.again else 3) / scale_trace.ranks_of(s) / (d.flops * d.reached)


def trace(folder, device, name, ranks):
    m, d = next((m for m in MODELS if m.name == name), None), DEVICES[device]
    best = fastest(m, d, ranks) if m and ranks > 0 else None
    if best is None:
        sys.exit(f"no such step: {name} on {ranks} GPUs. FIX: one of {', '.join(repr(m.name) for m in MODELS)}, and so many that it fits")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for other in Path(folder).glob("step.*.et"):  # of a run on more
        other.unlink()
    for rank in range(ranks):
        (Path(folder) / f"step.{rank}.et").write_bytes(scale_trace.of_rank(m, d, best[2], rank))
    print(f"{ranks} files in {folder}: {m.name}, {best[2]}, predicted {best[0]:.3f} s")


def check_traces():
    """Of strategies of every kind, small enough to be read back whole."""
    m, d = Model("small", 8, 1024, 30528, 512, 64), DEVICES["a100"]
    for s in [Strategy(4, 1, 1, 0, 4, False), Strategy(4, 1, 1, 2, 4, True), Strategy(4, 1, 1, 3, 4, False), Strategy(2, 2, 1, 0, 8, False), Strategy(2, 2, 4, 0, 2, True), Strategy(1, 1, 8, 0, 4, False)]:
        messages = scale_trace.check(m, d, s, kernels_of(m, d, s))
        print(f"trace of {s}: {scale_trace.ranks_of(s)} ranks, {messages} messages")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    checks = commands.add_parser("check")
    checks.add_argument("results")
    tables = commands.add_parser("table")
    tables.add_argument("--device", choices=sorted(DEVICES), default="a100")
    plots = commands.add_parser("plot")
    plots.add_argument("file")
    traces = commands.add_parser("trace")
    traces.add_argument("folder")
    traces.add_argument("--model", required=True)
    traces.add_argument("--gpus", type=int, required=True)
    for command in [plots, traces]:
        command.add_argument("--device", choices=sorted(DEVICES), default="a100")
    given = parser.parse_args()
    if given.command == "check":
        check(given.results)
    elif given.command == "plot":
        plot(given.file, given.device)
    elif given.command == "trace":
        trace(given.folder, given.device, given.model, given.gpus)
    else:
        table(given.device)


if __name__ == "__main__":
    main()
