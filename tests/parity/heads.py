#!/usr/bin/env python3
"""BERT's masked language model by Hugging Face's transformers, and a classifier on the mean of all tokens: writes data/heads.*.safetensors.

See README.md.
"""

import pathlib

import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).parent / "data"
BATCH, WORDS, LABELS = 3, 12, 2
LENGTHS = torch.tensor([12, 7, 1])
PLACES = torch.tensor([2, 7, 13, 17, 24])  # masked tokens, by their number among all of the batch


def config():
    c = transformers.BertConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=WORDS,
        type_vocab_size=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        num_labels=LABELS,
    )
    c._attn_implementation = "eager"
    return c


def drawn(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=generator) * 0.2
            p.copy_(1 + noise if "LayerNorm.weight" in name else noise)
    return model.double()


def backward(model, loss):
    model.zero_grad()
    loss.backward()
    return {n: p.grad.float() for n, p in model.named_parameters()}


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(1, 40, (BATCH, WORDS), generator=generator)
    mask = (torch.arange(WORDS)[None] < LENGTHS[:, None]).long()
    types = torch.randint(0, 2, (BATCH, WORDS), generator=generator)
    hidden_words = torch.randint(1, 40, PLACES.shape, generator=generator)
    labels = torch.tensor([1, 0, 1])
    batch = {"ids": ids, "mask": mask, "types": types, "places": PLACES, "words": hidden_words, "labels": labels}
    out = {k: v.int() for k, v in batch.items()}

    language = drawn(transformers.BertForMaskedLM(config()), seed=1)
    targets = torch.full((BATCH * WORDS,), -100)
    targets[PLACES] = hidden_words
    everything = language(input_ids=ids, attention_mask=mask, token_type_ids=types, labels=targets.reshape(BATCH, WORDS))
    out["language.loss"] = everything.loss.detach()
    out["language.logits"] = everything.logits.detach().reshape(-1, 40)[PLACES].contiguous()
    save_file({n: p.detach().float() for n, p in language.named_parameters()}, DATA / "masked_lm.initial.safetensors")
    save_file(backward(language, everything.loss), DATA / "masked_lm.gradients.safetensors")
    plain = language(input_ids=ids, labels=targets.reshape(BATCH, WORDS))  # without mask and types
    out["language.plain_loss"] = plain.loss.detach()
    save_file(backward(language, plain.loss), DATA / "masked_lm.plain_gradients.safetensors")

    # The same classifier as Hugging Face's, but that its pooler sees the mean of all tokens, padding included.
    mean = drawn(transformers.BertForSequenceClassification(config()), seed=2)
    tokens = mean.bert(input_ids=ids, attention_mask=mask).last_hidden_state
    logits = mean.classifier(torch.tanh(mean.bert.pooler.dense(tokens.mean(1))))
    loss = F.cross_entropy(logits, labels)
    out["mean.loss"], out["mean.logits"] = loss.detach(), logits.detach()
    save_file({n: p.detach().float() for n, p in mean.named_parameters()}, DATA / "bert_mean.initial.safetensors")
    save_file(backward(mean, loss), DATA / "bert_mean.gradients.safetensors")
    save_file(out, DATA / "heads.batch.safetensors", {"about": f"torch {torch.__version__}, transformers {transformers.__version__}"})


if __name__ == "__main__":
    main()
