#!/usr/bin/env python3
"""TwinBERT in plain PyTorch, to compare tx with: writes data/twinbert*.safetensors. See README.md."""

import copy
import pathlib

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

DATA = pathlib.Path(__file__).parent / "data"
LAYERS, HIDDEN, HEADS, FFN, VOCABULARY = 2, 32, 4, 64, 200
QUERY_WORDS, DOCUMENT_WORDS = 6, 12
BATCH, BATCHES, STEPS = 8, 20, 200
RATE, DECAY = 1e-3, 0.01
MASKED = -1e30


class Output(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, x, residual):
        return self.LayerNorm(self.dense(x) + residual)


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(HIDDEN, HIDDEN)
        self.key = nn.Linear(HIDDEN, HIDDEN)
        self.value = nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x, mask):  # [batch, words, hidden], [batch, words]
        split = lambda y: y.view(*y.shape[:2], HEADS, -1).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = q @ k.transpose(-1, -2) / (HIDDEN // HEADS) ** 0.5
        shares = torch.where(mask[:, None, None, :], scores, MASKED).softmax(-1)
        return (shares @ v).transpose(1, 2).reshape(x.shape)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.self = SelfAttention()
        self.output = Output(HIDDEN)

    def forward(self, x, mask):
        return self.output(self.self(x, mask), x)


class Intermediate(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(HIDDEN, FFN)

    def forward(self, x):
        return F.gelu(self.dense(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.intermediate = Intermediate()
        self.output = Output(FFN)

    def forward(self, x, mask):
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, HIDDEN)
        self.position_embeddings = nn.Embedding(max(QUERY_WORDS, DOCUMENT_WORDS), HIDDEN)

    def forward(self, ids):
        return self.word_embeddings(ids) + self.position_embeddings.weight[: ids.shape[1]]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, x, mask):
        for layer in self.layer:
            x = layer(x, mask)
        return x


class WeightedPooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(HIDDEN))

    def forward(self, x, mask):
        shares = torch.where(mask, x @ self.weight, MASKED).softmax(-1)
        return (torch.where(mask, shares, 0.0)[:, None, :] @ x)[:, 0]


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings()
        self.encoder = Encoder()
        self.pooler = WeightedPooler()

    def forward(self, ids):  # [batch, words], 0 for none
        mask = ids != 0
        return self.pooler(self.encoder(self.embeddings(ids), mask), mask)


class Cosine(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(1))
        self.bias = nn.Parameter(torch.empty(1))

    def forward(self, q, d):
        unit = lambda x: x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-12)
        return (unit(q) * unit(d)).sum(-1) * self.weight + self.bias


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(HIDDEN, HIDDEN)
        self.outer = nn.Linear(HIDDEN, HIDDEN)
        self.classifier = nn.Linear(HIDDEN, 1)

    def forward(self, q, d):
        x = torch.maximum(q, d)
        return self.classifier(self.outer(F.gelu(self.inner(x))) + x)[:, 0]


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.both = Tower()


class TwinBert(nn.Module):
    def __init__(self, crossing):
        super().__init__()
        self.towers = Twin()
        self.crossing = crossing()

    def forward(self, query, document):
        return self.crossing(self.towers.both(query), self.towers.both(document))


def is_decayed(name):
    """All weights but those of norms and the slope over the cosine."""
    return not (name.endswith(".bias") or "LayerNorm" in name or name == "crossing.weight")


def initialize(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator) * 0.1
            if name == "crossing.weight":
                p.fill_(5.0)  # the slope over the cosine
            elif "LayerNorm.weight" in name:
                p.copy_(1 + noise)
            else:
                p.copy_(noise)


def make_batches(seed):
    """Texts of all lengths between [CLS] = 1 and [SEP] = 2; the label grows with the words in common."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda low, high, count=1: torch.randint(low, high, (count,), generator=generator)
    query = torch.zeros(BATCHES, BATCH, QUERY_WORDS, dtype=torch.int32)
    document = torch.zeros(BATCHES, BATCH, DOCUMENT_WORDS, dtype=torch.int32)
    label = torch.zeros(BATCHES, BATCH)
    for b in range(BATCHES):
        for i in range(BATCH):
            q = draw(3, VOCABULARY, draw(1, QUERY_WORDS - 1).item())
            d = draw(3, VOCABULARY, draw(1, DOCUMENT_WORDS - 1).item())
            shared = min(draw(0, len(q) + 1).item(), len(d))
            d[:shared] = q[:shared]
            query[b, i, : len(q) + 2] = torch.cat([torch.tensor([1]), q, torch.tensor([2])])
            document[b, i, : len(d) + 2] = torch.cat([torch.tensor([1]), d, torch.tensor([2])])
            label[b, i] = torch.sigmoid(torch.tensor(6.0 * shared / len(q) - 3.0))
    document[3, 5] = 0  # a text without words
    label[3, 5] = 0.0
    return query, document, label


def train(model, batches):
    """The losses of all steps and the gradients of the first."""
    named = dict(model.named_parameters())
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for n, p in named.items() if is_decayed(n)], "weight_decay": DECAY},
            {"params": [p for n, p in named.items() if not is_decayed(n)], "weight_decay": 0.0},
        ],
        lr=RATE,
        betas=(0.9, 0.999),
        eps=1e-8,
    )
    losses, gradients = [], {}
    for step in range(STEPS):
        query, document, label = (x[step % BATCHES] for x in batches)
        loss = F.binary_cross_entropy_with_logits(model(query, document), label.to(next(iter(named.values())).dtype))
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            gradients = {n: p.grad.clone() for n, p in named.items()}
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses, dtype=torch.float64), gradients


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    DATA.mkdir(exist_ok=True)
    batches = make_batches(seed=2)
    query, document, label = batches
    save_file({"query": query, "document": document, "label": label}, DATA / "twinbert.batches.safetensors")
    for crossing in (Cosine, Residual):
        name = f"twinbert_{crossing.__name__.lower()}"
        model = TwinBert(crossing)
        initialize(model, seed=1)
        initial = {n: p.detach().clone() for n, p in model.named_parameters()}
        exact_losses, _ = train(copy.deepcopy(model).double(), batches)
        losses, gradients = train(model, batches)
        distance = (losses - exact_losses).abs()
        about = (
            f"AdamW, rate {RATE}, betas 0.9 0.999, epsilon 1e-8, decay {DECAY}; largest distance to the losses in f64 "
            f"{distance.max().item():.1e}, in the first 20 steps {distance[:20].max().item():.1e}; torch {torch.__version__}"
        )
        save_file(initial, DATA / f"{name}.initial.safetensors")
        save_file(gradients, DATA / f"{name}.gradients.safetensors")
        curves = {"losses": losses.float(), "losses_f64": exact_losses}
        save_file(curves, DATA / f"{name}.losses.safetensors", {"about": about})
        print(f"{name}: loss {losses[0]:.6f} -> {losses[-BATCHES:].mean():.6f}; {about}")


if __name__ == "__main__":
    main()
