#!/usr/bin/env python3
"""Small models of four families by Hugging Face's transformers, each with five heads: writes data/families_NAME.safetensors.

Of each head its logits; of the first and the last of them also the loss and all gradients; of the first, a classifier, the losses of 100 steps
of AdamW. Everything is computed in f64. See README.md.
"""

import pathlib

import torch
import transformers
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"
VOCABULARY, BATCH, WORDS = 50, 4, 12
LENGTHS = torch.tensor([12, 7, 1, 9])
STEPS, RATE, DECAY = 100, 1e-3, 0.01
PLACES = torch.tensor([3, 12, 18, 24, 40])  # of masked tokens, among BATCH * WORDS


def configurations():
    off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "vocab_size": VOCABULARY}
    yield "bert", transformers.BertConfig(
        num_hidden_layers=3, hidden_size=20, num_attention_heads=4, intermediate_size=30, max_position_embeddings=15, type_vocab_size=2, **off
    )
    yield "roberta", transformers.RobertaConfig(
        num_hidden_layers=1, hidden_size=18, num_attention_heads=3, intermediate_size=26, max_position_embeddings=17, type_vocab_size=1, layer_norm_eps=1e-5, **off
    )
    yield "distilbert", transformers.DistilBertConfig(
        n_layers=4, dim=14, n_heads=2, hidden_dim=22, max_position_embeddings=13, dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0, qa_dropout=0.0, vocab_size=VOCABULARY
    )
    yield "electra", transformers.ElectraConfig(
        num_hidden_layers=2, hidden_size=24, num_attention_heads=3, intermediate_size=30, embedding_size=10, max_position_embeddings=14, type_vocab_size=2, summary_last_dropout=0.0, **off
    )


HEADS = {"sequence": 3, "token": 5, "question": 2, "choice": 2, "masked": 2}  # and their labels
CLASSES = {
    "sequence": "AutoModelForSequenceClassification",
    "token": "AutoModelForTokenClassification",
    "question": "AutoModelForQuestionAnswering",
    "choice": "AutoModelForMultipleChoice",
    "masked": "AutoModelForMaskedLM",
}


def weights(model, seed):
    """The same numbers for the same names, whatever else a model has."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            own = sum(ord(c) * (k + 1) for k, c in enumerate(name)) * 31 + seed
            noise = torch.randn(p.shape, generator=torch.Generator().manual_seed(own), dtype=torch.float32) * 0.3
            norm = ("LayerNorm" in name or "layer_norm" in name) and name.endswith("weight")
            p.copy_(1 + noise if norm else noise)
    return model


def batch(types):
    g = torch.Generator().manual_seed(7)
    mask = (torch.arange(WORDS)[None] < LENGTHS[:, None]).int()
    ids = torch.randint(3, VOCABULARY, (BATCH, WORDS), generator=g, dtype=torch.int32)
    out = {"ids": torch.where(mask.bool(), ids, 1), "mask": mask, "labels": torch.tensor([2, 0, 1, 2], dtype=torch.int32)}
    if types > 1:
        out["types"] = torch.randint(0, types, (BATCH, WORDS), generator=g, dtype=torch.int32) * mask
    out["words"] = torch.randint(0, VOCABULARY, (len(PLACES),), generator=g, dtype=torch.int32)
    return out


def logits_of(model, head, b):
    turn = (lambda x: x.long().reshape(BATCH // 2, 2, WORDS)) if head == "choice" else lambda x: x.long()
    inputs = {"input_ids": turn(b["ids"]), "attention_mask": turn(b["mask"])}
    if "types" in b:
        inputs["token_type_ids"] = turn(b["types"])
    out = model(**inputs)
    if head == "question":
        return torch.stack([out.start_logits, out.end_logits], -1)
    return out.logits.reshape(-1, VOCABULARY)[PLACES] if head == "masked" else out.logits


def trained(model, b):
    """The losses of steps of AdamW, before each."""
    named = list(model.named_parameters())
    plain = lambda n: n.endswith("bias") or "LayerNorm" in n or "layer_norm" in n
    groups = [{"params": [p for n, p in named if plain(n) == k], "weight_decay": 0.0 if k else DECAY} for k in (False, True)]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.999), eps=1e-8)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits_of(model, "sequence", b), b["labels"].long())
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    return torch.tensor(losses)


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for name, config in configurations():
        config._attn_implementation = "eager"
        b = batch(getattr(config, "type_vocab_size", 0))
        out = dict(b)
        for head, labels in HEADS.items():
            config.num_labels = labels
            model = weights(getattr(transformers, CLASSES[head]).from_config(config), seed=5).double().train()
            for n, p in model.named_parameters():
                own = "" if n.startswith(name + ".") else head + "."  # the encoder's are the same whatever the head
                out[f"weight.{own}{n}"] = p.detach().float().clone()
            logits = logits_of(model, head, b)
            out["logits." + head] = logits.detach().float().contiguous()
            if head in ("sequence", "masked"):
                loss = torch.nn.functional.cross_entropy(logits, (b["labels"] if head == "sequence" else b["words"]).long())
                loss.backward()
                out["loss." + head] = loss.detach().float()
                for n, p in model.named_parameters():
                    if p.grad is not None:
                        out[f"gradient.{head}.{n}"] = p.grad.float().clone()
            if head == "sequence":
                inputs = {"input_ids": b["ids"].long(), "attention_mask": b["mask"].long()}
                if "types" in b:
                    inputs["token_type_ids"] = b["types"].long()
                hidden = getattr(model, name)(**inputs).last_hidden_state
                out["hidden"] = (hidden * b["mask"][..., None]).detach().float()
                out["losses"] = trained(model, b).float()
        about = f"rate {RATE}, decay {DECAY}; torch {torch.__version__}, transformers {transformers.__version__}"
        path = DATA / f"families_{name}.safetensors"
        save_file({k: v.contiguous() for k, v in out.items()}, path, {"about": about})
        print(f"{path.name}: {path.stat().st_size} bytes, loss {out['loss.sequence']:.5f}, after {STEPS} steps {out['losses'][-1]:.5f}; {about}")


if __name__ == "__main__":
    main()
