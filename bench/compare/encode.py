#!/usr/bin/env python3
"""One text through an encoder, without training, on one core: tx against PyTorch, ONNX Runtime and OpenVINO, and zentorch on AMD's
processors. p50 in milliseconds.

tx is timed in C++, the others around their call in Python; OpenVINO by its own clock too, which runs from the start of a request to its end
and leaves Python out. A ratio is printed for both. First each gets tx's weights and ids; where its vector differs by more than 1e-4 there is no ratio. Then they run in turns, --rounds
times; a figure is the median of the rounds. Run with --peer it is one of the others.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from processor import is_amd, processor

# layers, hidden, heads, ffn: as in bench/encode.cpp
MODELS = {"tiny": (2, 128, 2, 512), "twin": (6, 512, 8, 512), "minilm": (6, 384, 12, 1536)}
PEERS = {"torch": "PyTorch", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
ZEN = "zentorch"
OWN_CLOCK = "OpenVINO, by its own clock"
TOKENS = 16


def encoder(args, folder):
    """A function of ids [1, TOKENS] that gives the mean of the last layer, and one that gives the milliseconds that its last call has
    taken by the framework's own clock, where that has one."""
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    torch.set_num_threads(args.threads)
    layers, hidden, heads, ffn = MODELS[args.model]
    config = BertConfig(vocab_size=30522, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=ffn,
                        attn_implementation="sdpa" if args.peer in ("torch", ZEN) else "eager")

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = BertModel(config, add_pooling_layer=False)

        def forward(self, ids):
            return self.bert(input_ids=ids).last_hidden_state.mean(1)

    model = Encoder().eval()
    missing, unknown = model.bert.load_state_dict(load_file(folder + "/model.safetensors"), strict=False)
    if unknown or [name for name in missing if "position_ids" not in name]:
        sys.exit(f"the weights do not fit: missing {missing}, unknown {unknown}")
    example = torch.zeros((1, TOKENS), dtype=torch.int64)
    if args.peer in ("torch", ZEN):
        if args.peer == ZEN:
            import zentorch  # noqa: F401, registers the backend
            torch._inductor.config.freezing = True
            model = torch.compile(model, backend="zentorch")

        def run(ids):
            with torch.no_grad() if args.peer == ZEN else torch.inference_mode():
                return model(torch.from_numpy(ids)).numpy()
        return run, None
    if args.peer == "openvino":
        import openvino
        converted = openvino.convert_model(model, example_input=example)
        converted.reshape([1, TOKENS])
        compiled = openvino.Core().compile_model(converted, "CPU", {"INFERENCE_NUM_THREADS": args.threads, "PERFORMANCE_HINT": "LATENCY",
                                                                    "INFERENCE_PRECISION_HINT": "f32"})
        request = compiled.create_infer_request()

        def call(ids):
            return request.infer(ids)[0]
        return call, lambda: request.latency
    import onnxruntime
    path = folder + "/model.onnx"
    torch.onnx.export(model, (example,), path, input_names=["ids"], output_names=["vector"], opset_version=18, dynamo=True, verbose=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda ids: session.run(None, {"ids": ids})[0], None


def peer(args):
    import numpy
    run, own_clock = encoder(args, args.folder)
    draw = numpy.random.default_rng(1)
    with open(args.folder + "/tx.json") as found:
        tx = json.load(found)
    apart = numpy.abs(run(numpy.array([tx["ids"]], dtype="int64"))[0] - numpy.array(tx["vector"])).max()
    times, own = [], []
    for i in range(-30, args.runs):
        ids = draw.integers(0, 30522, (1, TOKENS))
        start = time.perf_counter()
        run(ids)
        if i >= 0:
            times.append(1e3 * (time.perf_counter() - start))
            if own_clock:
                own.append(own_clock())
    times.sort()
    own.sort()
    found = {"p50_ms": times[len(times) // 2], "p99_ms": times[len(times) * 99 // 100], "apart": float(apart)}
    if own:
        found["own"] = {"p50_ms": own[len(own) // 2], "p99_ms": own[len(own) * 99 // 100], "apart": float(apart)}
    print(json.dumps(found))


def output(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout.strip().splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="Python of the environment that setup.sh has made")
    parser.add_argument("--tx", help="bench_encode")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--zen", default="build/peers-zen/bin/python", help="Python of the environment that setup_zen.sh has made")
    parser.add_argument("--alternatives", choices=["auto", "always", "never"], default="auto", help="zentorch; auto: on AMD's processors")
    parser.add_argument("--peer", choices=[*PEERS, ZEN])
    parser.add_argument("--model", choices=MODELS)
    parser.add_argument("--folder")
    args = parser.parse_args()
    if args.peer:
        return peer(args)

    peers = [name for name in args.peers.split(",") if name]
    if args.alternatives == "never" or (args.alternatives == "auto" and not is_amd()):
        print("zentorch is left out: " + ("it was not asked for" if args.alternatives == "never" else "this is no processor of AMD's"))
    elif not os.path.exists(args.zen):
        print(f"zentorch is left out: {args.zen} is not there; setup_zen.sh makes it where it can")
    else:
        peers.append(ZEN)
    print(processor())
    print(f"one text of {TOKENS} tokens, {args.threads} thread(s), f32; p50 (p99) in milliseconds\n")
    good = True
    for model in args.models.split(","):
        tx = [args.tx, "--model", model, "--threads", str(args.threads)]
        rows = {name: [] for name in ["tx", *peers]}
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/tx.json", "w") as to:
                to.write(output([*tx, "--check", folder]))
            for _ in range(args.rounds):
                for name, found in rows.items():
                    other = [args.zen if name == ZEN else args.python, os.path.abspath(__file__), "--peer", name, "--model", model, "--folder", folder, "--threads", str(args.threads)]
                    found.append(json.loads(output([*(tx if name == "tx" else other), "--runs", str(args.runs)])))
        apart = max((r["apart"] for name in rows for r in rows[name] if name != "tx"), default=0)
        middle = {name: statistics.median(r["p50_ms"] for r in found) for name, found in rows.items()}
        tail = {name: statistics.median(r["p99_ms"] for r in found) for name, found in rows.items()}
        if not apart <= 1e-4:
            print(f"{model}: the vectors differ by {apart:.1e}: no ratio")
            good = False
            continue
        best = min((middle[name] for name in rows if name != "tx"), default=float("nan"))
        times = f"{best / middle['tx']:.2f} times as fast as the best other"
        own = [r["own"] for found in rows.values() for r in found if "own" in r]
        if own:
            middle[OWN_CLOCK] = statistics.median(r["p50_ms"] for r in own)
            tail[OWN_CLOCK] = statistics.median(r["p99_ms"] for r in own)
            times += f", {min(best, middle[OWN_CLOCK]) / middle['tx']:.2f} with OpenVINO by its own clock"
        print(f"{model}: vectors agree to {apart:.0e}; {times}")
        for name in middle:
            print(f"  {PEERS.get(name, name):27} {middle[name]:8.3f} ({tail[name]:.3f})")
        print(flush=True)
    sys.exit(not good)


main()
