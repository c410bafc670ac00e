#!/usr/bin/env python3
"""PyTorch's attention, with and without masks, biases, grouped heads and rotary places, and the feed-forward with a gate: writes
data/attention.safetensors.

The form is that of ops.py; see README.md. Rotary places and the feed-forward are those of transformers' Llama.
"""

import pathlib

import torch
import torch.nn.functional as F
from ops import Group, draw
from safetensors.torch import save_file
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP, LlamaRotaryEmbedding, apply_rotary_pos_emb

DATA = pathlib.Path(__file__).parent / "data"
BATCH, QUERIES, KEYS, HEADS, WIDTH = 2, 5, 7, 4, 8


def heads(x, count):
    return x.unflatten(-1, (count, -1)).transpose(1, 2)


def module(name, keys=QUERIES, key_heads=HEADS, memory=WIDTH, other=False, turned=False, **how):
    """multi_head_attention<8, 4, key_heads, memory>"""
    g = Group(name)
    shared = WIDTH // HEADS * key_heads
    sizes = {"q_proj": (WIDTH, WIDTH), "k_proj": (shared, memory), "v_proj": (shared, memory), "o_proj": (WIDTH, WIDTH)}
    parameters = {}
    for n, (out, into) in sizes.items():
        parameters[n] = g.argument(f"attention.{n}.weight", draw(out, into) * 0.5), g.argument(f"attention.{n}.bias", draw(out))
    x = g.argument("x", draw(BATCH, QUERIES, WIDTH))
    m = g.argument("memory", draw(BATCH, keys, memory)) if other else x
    if "bias" in how:
        how["attn_mask"] = g.argument("bias", draw(*how.pop("bias")))
    q = heads(F.linear(x, *parameters["q_proj"]), HEADS)
    k, v = (heads(F.linear(m, *parameters[n]), key_heads) for n in ("k_proj", "v_proj"))
    if turned:
        q, k = rotary(q, torch.arange(QUERIES)), rotary(k, torch.arange(QUERIES))
    y = F.scaled_dot_product_attention(q, k, v, enable_gqa=key_heads != HEADS, **how)
    g.value("y", F.linear(y.transpose(1, 2).flatten(2), *parameters["o_proj"]))
    return g.tensors()


def rotary(x, places):
    config = LlamaConfig(hidden_size=x.shape[1] * x.shape[-1], num_attention_heads=x.shape[1])
    cos, sin = LlamaRotaryEmbedding(config)(x, places[None].expand(x.shape[0], -1))
    return apply_rotary_pos_emb(x, x, cos, sin)[0]


def turns():
    g = Group("rotary")
    x = g.argument("x", draw(2, 3, 5, 6))
    g.value("from_zero", rotary(x, torch.arange(5)))
    g.value("at", rotary(x, torch.tensor([7, 3, 100, 0, 1])), 2.0)
    return g.tensors()


def feed_forward():
    g = Group("gated")
    mlp = LlamaMLP(LlamaConfig(hidden_size=6, intermediate_size=10, num_attention_heads=1)).double()
    parameters = {f"{n}.weight": g.argument(f"layer.{n}.weight", draw(*getattr(mlp, n).weight.shape) * 0.5) for n in ("gate_proj", "up_proj", "down_proj")}
    g.value("y", torch.func.functional_call(mlp, parameters, (g.argument("x", draw(3, 4, 6)),)))
    return g.tensors()


if __name__ == "__main__":
    mask = torch.tensor([[True] * 7, [True, True, False, True, False, False, False]])
    tensors = module("itself") | module("causal", is_causal=True) | module("grouped", key_heads=2, is_causal=True)
    tensors |= module("one_key_head", key_heads=1)
    tensors |= module("memory", KEYS, memory=6, other=True, attn_mask=mask[:, None, None])
    tensors |= module("biased", bias=(1, HEADS, QUERIES, QUERIES))
    tensors |= module("turned", turned=True, is_causal=True)
    tensors |= turns() | feed_forward()
    save_file(tensors, DATA / "attention.safetensors")
