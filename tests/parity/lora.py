#!/usr/bin/env python3
"""LoRA on a small BERT by PEFT: writes data/lora/, the folder of the base model, that of the adapter as PEFT writes it, and what the two give. See README.md."""

import pathlib
import shutil

import peft
import torch
import transformers
from families import weights
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data" / "lora"
BATCH, WORDS, STEPS = 4, 6, 10


def main():
    torch.set_num_threads(1)
    shutil.rmtree(DATA, ignore_errors=True)
    config = transformers.BertConfig(
        vocab_size=20,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=12,
        max_position_embeddings=WORDS,
        type_vocab_size=2,
        num_labels=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    base = weights(transformers.BertForSequenceClassification(config), seed=4)
    base.save_pretrained(DATA / "base")
    model = peft.get_peft_model(base, peft.LoraConfig(r=2, lora_alpha=3, task_type="SEQ_CLS"))
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "lora_" in name:
                p.copy_(torch.randn(p.shape, generator=generator) * 0.3)
    model.save_pretrained(DATA / "adapter")
    (DATA / "adapter" / "README.md").unlink(missing_ok=True)

    ids = torch.randint(1, 20, (BATCH, WORDS), generator=generator)
    labels = torch.tensor([1, 0, 0, 1])
    model = model.double().eval()  # without dropout, of which there is none
    trained = {n: p for n, p in model.named_parameters() if p.requires_grad}
    out = {"ids": ids.int(), "labels": labels.int()}
    told = model(input_ids=ids, labels=labels)
    told.loss.backward()
    out["logits"] = told.logits
    for name, p in trained.items():
        out["gradient." + name.removeprefix("base_model.model.").replace(".default", "").replace(".modules_to_save", "")] = p.grad
    optimizer = torch.optim.AdamW(trained.values(), lr=0.01, weight_decay=0.0)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    out["losses"] = torch.stack(losses)
    save_file({k: v.detach().contiguous() for k, v in out.items()}, DATA / "reference.safetensors")
    print(sum(f.stat().st_size for f in DATA.rglob("*") if f.is_file()), "bytes")


if __name__ == "__main__":
    main()
