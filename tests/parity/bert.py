#!/usr/bin/env python3
"""A small BERT classifier by Hugging Face's transformers, to compare tx with: writes data/bert.*.safetensors.

See README.md.
"""

import copy
import pathlib

import torch
import transformers
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"
BATCH, WORDS = 4, 16
RATE, DECAY = 1e-2, 0.5


def make_model(seed):
    config = transformers.BertConfig(
        vocab_size=40,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=20,
        type_vocab_size=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=2,
    )
    config._attn_implementation = "eager"
    model = transformers.BertForSequenceClassification(config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator) * 0.1
            p.copy_(1 + noise if "LayerNorm.weight" in name else noise)
    return model


def make_batch(seed):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([16, 9, 1, 12])
    ids = torch.randint(1, 40, (BATCH, WORDS), generator=generator, dtype=torch.int32)
    mask = (torch.arange(WORDS)[None] < lengths[:, None]).int()
    types = torch.randint(0, 2, (BATCH, WORDS), generator=generator, dtype=torch.int32)
    return {"ids": ids * mask, "mask": mask, "types": types * mask, "labels": torch.tensor([1, 0, 0, 1], dtype=torch.int32)}


def step(model, batch, types):
    """Loss, logits and gradients, and the weights after one step."""
    out = model(
        input_ids=batch["ids"].long(),
        attention_mask=batch["mask"].long(),
        token_type_ids=batch["types"].long() if types else None,
        labels=batch["labels"].long(),
    )
    named = dict(model.named_parameters())
    decayed = lambda n: not (n.endswith(".bias") or "LayerNorm" in n)
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for n, p in named.items() if decayed(n)], "weight_decay": DECAY},
            {"params": [p for n, p in named.items() if not decayed(n)], "weight_decay": 0.0},
        ],
        lr=RATE,
        betas=(0.9, 0.999),
        eps=1e-8,
    )
    optimizer.zero_grad()
    out.loss.backward()
    gradients = {n: p.grad.clone() for n, p in named.items()}
    optimizer.step()
    updated = {n: p.detach().clone() for n, p in named.items()}
    return out.loss.detach(), out.logits.detach(), gradients, updated


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    DATA.mkdir(exist_ok=True)
    model = make_model(seed=1).train()
    batch = make_batch(seed=2)
    initial = {n: p.detach().clone() for n, p in model.named_parameters()}
    exact = step(copy.deepcopy(model).double(), batch, types=False)
    with_types = step(copy.deepcopy(model), batch, types=True)
    loss, logits, gradients, updated = step(model, batch, types=False)
    distance = max((gradients[n] - exact[2][n]).abs().max().item() for n in gradients)
    about = (
        f"AdamW, rate {RATE}, betas 0.9 0.999, epsilon 1e-8, decay {DECAY}; distance to f64: loss "
        f"{abs(loss.item() - exact[0].item()):.1e}, largest of a gradient {distance:.1e}; "
        f"torch {torch.__version__}, transformers {transformers.__version__}"
    )
    results = {"loss": loss, "logits": logits, "loss_with_types": with_types[0], "logits_with_types": with_types[1]}
    save_file(batch | results, DATA / "bert.batch.safetensors", {"about": about})
    save_file(initial, DATA / "bert.initial.safetensors")
    save_file(gradients, DATA / "bert.gradients.safetensors")
    save_file(updated, DATA / "bert.updated.safetensors")
    print(f"bert: loss {loss.item():.6f}, with token types {with_types[0].item():.6f}; {about}")


if __name__ == "__main__":
    main()
