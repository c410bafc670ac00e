#!/usr/bin/env python3
"""One training step of a BERT classifier in another framework, timed as bench_step times tx's.

The step: forward, cross-entropy of a two-class head, backward, AdamW on every parameter, the loss read back; every step
reads a new batch. The head: dense and tanh of the first token (or of the mean of all), dropout, linear.
Prints one JSON line with bench_step's keys; with --check FOLDER the ten losses from the weights and batches written there.
"""
import argparse
import json
import os
import random
import resource
import statistics
import sys
import time

# layers, hidden, heads, ffn, batch, tokens: as in bench/step/CMakeLists.txt
MODELS = {
    "tiny": (2, 128, 2, 512, 8, 32),
    "twin": (6, 512, 8, 512, 64, 32),
    "minilm": (6, 384, 12, 1536, 32, 64),
    "small": (4, 512, 8, 2048, 16, 128),
    "base": (12, 768, 12, 3072, 8, 128),
    "large": (24, 1024, 16, 4096, 8, 128),
    "odd": (3, 320, 5, 1000, 7, 100),
    "idle": (2, 128, 2, 512, 1, 8),  # what a process takes before it does anything
}
VOCABULARY, RATE, DECAY = 30522, 1e-4, 0.01


def multiply_by_onednn(torch):
    """f32 products of linear layers, forward and backward, by oneDNN: PyTorch takes MKL. Attention's stay where they are."""
    product = torch.ops.mkldnn._linear_pointwise  # of x and w: x times w transposed, and the bias

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(c, x, w, b):
            c.save_for_backward(x, w)
            return product(x, w, b, "none", [], "")

        @staticmethod
        def backward(c, g):
            x, w = c.saved_tensors
            rows = g.reshape(-1, g.shape[-1])
            of_weight = product(rows.t().contiguous(), x.reshape(-1, x.shape[-1]).t().contiguous(), None, "none", [], "")
            return product(g, w.t().contiguous(), None, "none", [], ""), of_weight, rows.sum(0)

    torch.nn.Linear.forward = lambda self, x: Linear.apply(x, self.weight, self.bias)


class Torch:
    # By --peer: how the model is compiled.
    COMPILED = {"torch-compile": {}, "torch-max-autotune": {"mode": "max-autotune"}, "torch-zentorch": {"backend": "zentorch"}}

    def __init__(self, args, sizes):
        import torch
        from transformers import BertConfig, BertModel

        if args.peer == "torch-zentorch":
            import zentorch  # noqa: F401, registers the backend
        if args.peer == "torch-onednn":
            if args.dtype != "f32":
                sys.exit("torch-onednn is f32: products of halves are oneDNN's anyway")
            multiply_by_onednn(torch)

        layers, hidden, heads, ffn, self.batch, self.tokens = sizes
        self.version = "PyTorch " + torch.__version__
        self.torch, dropout = torch, 0.0 if args.check else args.dropout
        torch.manual_seed(0)
        torch.set_num_threads(args.threads)
        config = BertConfig(vocab_size=VOCABULARY, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                            intermediate_size=ffn, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
                            attn_implementation="sdpa")

        class Classifier(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.bert = BertModel(config)
                self.dropout = torch.nn.Dropout(dropout)
                self.classifier = torch.nn.Linear(hidden, 2)

            def forward(self, ids, labels, mask=None):
                if args.pool == "mean":
                    pooled = torch.tanh(self.bert.pooler.dense(self.bert(input_ids=ids).last_hidden_state.mean(1)))
                else:
                    pooled = self.bert(input_ids=ids, attention_mask=mask).pooler_output
                logits = self.classifier(self.dropout(pooled))
                return torch.nn.functional.cross_entropy(logits, labels)

        self.device = args.device
        self.model = Classifier().to(self.device).train()
        if args.check:
            from safetensors.torch import load_file
            missing, unknown = self.model.load_state_dict(load_file(args.check + "/model.safetensors"), strict=False)
            if unknown or [name for name in missing if "position_ids" not in name]:
                sys.exit(f"the weights do not fit: missing {missing}, unknown {unknown}")
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=RATE, weight_decay=DECAY, eps=1e-8, fused=True)
        self.forward = torch.compile(self.model, **self.COMPILED[args.peer]) if args.peer in self.COMPILED else self.model
        self.mixed = args.dtype == "bf16"

    def step(self, ids, labels, mask=None):
        ids, labels = self.torch.tensor(ids, device=self.device), self.torch.tensor(labels, device=self.device)
        masks = [] if mask is None else [self.torch.tensor(mask, device=self.device)]
        with self.torch.autocast(self.device, dtype=self.torch.bfloat16, enabled=self.mixed):
            loss = self.forward(ids, labels.long(), *masks)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.item()

    def device_bytes(self):
        return self.torch.cuda.max_memory_allocated()


class Jax:
    def __init__(self, args, sizes):
        import jax
        import jax.numpy as jnp
        import numpy as np

        if args.peer == "jax-rbg":  # keys of the generator that XLA has of its own, cheaper than the default's
            jax.config.update("jax_default_prng_impl", "rbg")
        layers, hidden, heads, ffn, self.batch, self.tokens = sizes
        rate = 0.0 if args.check else args.dropout
        self.np, self.version, self.jax = np, "JAX " + jax.__version__, jax
        width = hidden // heads
        if args.check:
            from safetensors.numpy import load_file
            weights = load_file(args.check + "/model.safetensors")
        else:
            weights = self.fresh(np, layers, hidden, ffn)

        def product(a, b):
            if args.dtype == "f32":
                return a @ b
            return (a.astype(jnp.bfloat16) @ b.astype(jnp.bfloat16)).astype(jnp.float32)

        def linear(w, name, x):
            return product(x, w[name + ".weight"].T) + w[name + ".bias"]

        def norm(w, name, x):
            mean = x.mean(-1, keepdims=True)
            variance = ((x - mean) ** 2).mean(-1, keepdims=True)
            return (x - mean) * jax.lax.rsqrt(variance + 1e-12) * w[name + ".weight"] + w[name + ".bias"]

        def loss_of(w, ids, labels, key):
            keys = iter(jax.random.split(key, 3 * layers + 2))

            def drop(x):
                k = next(keys)
                return x if rate == 0 else jnp.where(jax.random.bernoulli(k, 1 - rate, x.shape), x / (1 - rate), 0)

            e = "bert.embeddings."
            x = w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][: ids.shape[1]]
            x = drop(norm(w, e + "LayerNorm", x + w[e + "token_type_embeddings.weight"][0]))
            for i in range(layers):
                at = f"bert.encoder.layer.{i}."
                # [batch, tokens, hidden] -> [batch, heads, tokens, width]
                q, k, v = (linear(w, at + "attention.self." + n, x).reshape(*ids.shape, heads, width).transpose(0, 2, 1, 3)
                           for n in ("query", "key", "value"))
                p = drop(jax.nn.softmax(product(q, k.transpose(0, 1, 3, 2)) / width ** 0.5))
                y = product(p, v).transpose(0, 2, 1, 3).reshape(x.shape)
                x = norm(w, at + "attention.output.LayerNorm", x + drop(linear(w, at + "attention.output.dense", y)))
                y = jax.nn.gelu(linear(w, at + "intermediate.dense", x), approximate=False)
                x = norm(w, at + "output.LayerNorm", x + drop(linear(w, at + "output.dense", y)))
            pooled = drop(jnp.tanh(linear(w, "bert.pooler.dense", x.mean(1) if args.pool == "mean" else x[:, 0])))
            logp = jax.nn.log_softmax(linear(w, "classifier", pooled))
            return -jnp.take_along_axis(logp, labels[:, None], 1).mean()

        def update(state, ids, labels):
            w, m, v, t, key = state
            key, mine = jax.random.split(key)
            loss, g = jax.value_and_grad(loss_of)(w, ids, labels, mine)
            t = t + 1
            m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
            v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
            adam = lambda w, m, v: w - RATE * (m / (1 - 0.9 ** t) / (jnp.sqrt(v / (1 - 0.999 ** t)) + 1e-8) + DECAY * w)
            return (jax.tree.map(adam, w, m, v), m, v, t, key), loss

        weights = {name: jnp.asarray(w) for name, w in weights.items()}
        zeros = lambda: {name: jnp.zeros_like(w) for name, w in weights.items()}
        self.state = (weights, zeros(), zeros(), jnp.float32(0), jax.random.PRNGKey(0))
        self.update = jax.jit(update, donate_argnums=0)

    @staticmethod
    def fresh(np, layers, hidden, ffn):
        draw = np.random.default_rng(0)
        w = {}

        def linear(name, rows, columns):
            w[name + ".weight"] = draw.normal(0, 0.02, (rows, columns)).astype(np.float32)
            w[name + ".bias"] = np.zeros(rows, np.float32)

        def norm(name):
            w[name + ".weight"], w[name + ".bias"] = np.ones(hidden, np.float32), np.zeros(hidden, np.float32)

        for name, rows in (("word", VOCABULARY), ("position", 512), ("token_type", 2)):
            w[f"bert.embeddings.{name}_embeddings.weight"] = draw.normal(0, 0.02, (rows, hidden)).astype(np.float32)
        norm("bert.embeddings.LayerNorm")
        for i in range(layers):
            at = f"bert.encoder.layer.{i}."
            for name in ("query", "key", "value"):
                linear(at + "attention.self." + name, hidden, hidden)
            linear(at + "attention.output.dense", hidden, hidden)
            norm(at + "attention.output.LayerNorm")
            linear(at + "intermediate.dense", ffn, hidden)
            linear(at + "output.dense", hidden, ffn)
            norm(at + "output.LayerNorm")
        linear("bert.pooler.dense", hidden, hidden)
        linear("classifier", 2, hidden)
        return w

    def step(self, ids, labels):
        self.state, loss = self.update(self.state, self.np.asarray(ids, "int32"), self.np.asarray(labels, "int32"))
        return float(loss)

    def device_bytes(self):
        return self.jax.devices()[0].memory_stats()["peak_bytes_in_use"]


def keep_freed_memory():
    """Starts this process anew with an allocator so tuned, unless it is. Large pages where the system has them, as tx asks for."""
    if "MALLOC_MMAP_MAX_" not in os.environ:
        os.environ.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_="17179869184", MALLOC_TOP_PAD_="268435456",
                          GLIBC_TUNABLES="glibc.malloc.hugetlb=1", THP_MEM_ALLOC_ENABLE="1")
        os.execv(sys.executable, [sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", choices=["torch", *Torch.COMPILED, "torch-onednn", "jax", "jax-rbg"], default="torch")
    parser.add_argument("--model", choices=MODELS, default="twin")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32", help="bf16: of the products; parameters are f32")
    parser.add_argument("--pool", choices=["first", "mean"], default="first")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--batch", type=int, help="instead of the model's")
    parser.add_argument("--seq", type=int, help="tokens of a text, instead of the model's")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--tuned", action="store_true", help="glibc keeps freed memory instead of giving it back: faster, larger")
    parser.add_argument("--check", help="folder that bench_step --check has written")
    args = parser.parse_args()
    if args.tuned:
        keep_freed_memory()
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    os.environ["JAX_PLATFORMS"] = args.device
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if args.peer.startswith("jax"):  # it has no setting: it takes the processors that it sees
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])

    sizes = MODELS[args.model]
    sizes = (*sizes[:4], args.batch or sizes[4], args.seq or sizes[5])
    start = time.perf_counter()
    peer = Jax(args, sizes) if args.peer.startswith("jax") else Torch(args, sizes)
    if args.check:
        from safetensors.numpy import load_file
        batches = load_file(args.check + "/batches.safetensors")
        print(json.dumps([peer.step(x.tolist(), y.tolist()) for x, y in zip(batches["ids"], batches["labels"])]))
        return

    draw = random.Random(1)
    losses, times = [], []

    def one():
        ids = [[draw.randrange(VOCABULARY) for _ in range(peer.tokens)] for _ in range(peer.batch)]
        labels = [draw.randrange(2) for _ in range(peer.batch)]
        begin = time.perf_counter()  # drawing the batch is not timed
        losses.append(peer.step(ids, labels))
        times.append(time.perf_counter() - begin)
        return times[-1]

    one()
    first = time.perf_counter() - start
    one()
    times.clear()
    few = sum(one() for _ in range(args.steps))
    many = sum(one() for _ in range(3 * args.steps))
    each = (many - few) / (2 * args.steps)
    print(json.dumps({
        "kind": "step", "peer": args.peer, "version": peer.version, "model": args.model, "batch": peer.batch, "seq": peer.tokens, "dtype": args.dtype, "device": args.device,
        "pool": args.pool, "dropout": args.dropout, "threads": args.threads, "tuned": args.tuned, "median_s": round(statistics.median(times), 4),
        "best_s": round(min(times), 4), "step_s": round(each, 4), "tokens_per_s": round(peer.batch * peer.tokens / each, 1),
        "first_step_s": round(first, 2), "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 if args.device == "cpu" else peer.device_bytes(),
        "loss": [round(losses[0], 4), round(losses[-1], 4)]}))


if __name__ == "__main__":
    main()
