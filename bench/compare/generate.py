#!/usr/bin/env python3
"""Bytes per second that a language model writes: examples/gpt with its cache against PyTorch with one, the same weights, greedy.

PyTorch runs twice: Transformers' GPT2LMHeadModel.generate, and a loop by hand over linear layers, scaled_dot_product_attention and keys and
values kept in tensors of the whole context, which has none of generate's own work. Sides run in turns, --rounds times; a figure is the best of all
rounds. Exit status 1 where the three texts are not the same, or tx is slower than either.
"""
import argparse
import re
import subprocess
import sys
import time


def weights_of(folder):
    from safetensors.torch import load_file
    return load_file(f"{folder}/model.safetensors")


def sizes_of(w):
    layers = 1 + max(int(name.split(".")[1]) for name in w if name.startswith("h."))
    return layers, w["wpe.weight"].shape[0], w["wte.weight"].shape[1]


def by_hand(w, heads, torch):
    from torch.nn.functional import gelu, layer_norm, linear, scaled_dot_product_attention
    layers, context, width = sizes_of(w)
    head = width // heads
    blocks = []
    for i in range(layers):
        own = {name[len(f"h.{i}."):]: x for name, x in w.items() if name.startswith(f"h.{i}.")}
        own["qkv.weight"] = torch.cat([own[f"attn.{k}_proj.weight"] for k in "qkv"])
        own["qkv.bias"] = torch.cat([own[f"attn.{k}_proj.bias"] for k in "qkv"])
        blocks.append((own, torch.zeros(1, heads, context, head), torch.zeros(1, heads, context, head)))

    def logits(token, place):
        x = w["wte.weight"][token] + w["wpe.weight"][place]  # [width]
        for own, keys, values in blocks:
            norm = layer_norm(x, (width,), own["ln_1.weight"], own["ln_1.bias"], 1e-5)
            q, k, v = linear(norm, own["qkv.weight"], own["qkv.bias"]).view(3, heads, 1, head)
            keys[0, :, place] = k[:, 0]
            values[0, :, place] = v[:, 0]
            mixed = scaled_dot_product_attention(q.unsqueeze(0), keys[:, :, :place + 1], values[:, :, :place + 1])
            x = x + linear(mixed.reshape(width), own["attn.o_proj.weight"], own["attn.o_proj.bias"])
            norm = layer_norm(x, (width,), own["ln_2.weight"], own["ln_2.bias"], 1e-5)
            x = x + linear(gelu(linear(norm, own["fc.weight"], own["fc.bias"])), own["proj.weight"], own["proj.bias"])
        return linear(layer_norm(x, (width,), w["ln_f.weight"], w["ln_f.bias"], 1e-5), w["wte.weight"])

    def run(prompt, tokens):
        text = list(prompt)
        start = time.perf_counter()
        for place, token in enumerate(prompt[:-1]):
            logits(token, place)
        while len(text) < len(prompt) + tokens:
            text.append(int(logits(text[-1], len(text) - 1).argmax()))
        return bytes(text), time.perf_counter() - start
    return run


def by_transformers(w, heads, torch):
    from transformers import GPT2Config, GPT2LMHeadModel
    layers, context, width = sizes_of(w)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=w["wte.weight"].shape[0], n_positions=context, n_embd=width, n_layer=layers, n_head=heads,
                                       activation_function="gelu", bos_token_id=None, eos_token_id=None)).eval()
    to = {"wte.weight": w["wte.weight"], "wpe.weight": w["wpe.weight"], "ln_f.weight": w["ln_f.weight"], "ln_f.bias": w["ln_f.bias"]}
    for i in range(layers):
        own = {name[len(f"h.{i}."):]: x for name, x in w.items() if name.startswith(f"h.{i}.")}
        for name in ("ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias"):
            to[f"h.{i}.{name}"] = own[name]
        to[f"h.{i}.attn.c_attn.weight"] = torch.cat([own[f"attn.{k}_proj.weight"] for k in "qkv"]).T.contiguous()  # stored [in, out]
        to[f"h.{i}.attn.c_attn.bias"] = torch.cat([own[f"attn.{k}_proj.bias"] for k in "qkv"])
        for name, of in (("attn.c_proj", "attn.o_proj"), ("mlp.c_fc", "fc"), ("mlp.c_proj", "proj")):
            to[f"h.{i}.{name}.weight"] = own[f"{of}.weight"].T.contiguous()
            to[f"h.{i}.{name}.bias"] = own[f"{of}.bias"]
    wrong = model.transformer.load_state_dict(to, strict=False)
    if wrong.unexpected_keys or [k for k in wrong.missing_keys if not k.endswith((".attn.bias", ".attn.masked_bias"))]:
        sys.exit(f"the model's names: {wrong}")

    def run(prompt, tokens):
        ids = torch.tensor([list(prompt)])
        start = time.perf_counter()
        out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, use_cache=True, min_new_tokens=tokens, max_new_tokens=tokens, pad_token_id=0)
        return bytes(out[0].tolist()), time.perf_counter() - start
    return run


def peer(args):
    import torch
    torch.set_num_threads(args.threads)
    w = weights_of(args.model)
    prompt = args.prompt.encode()
    with torch.inference_mode():
        run = {"hand": by_hand, "transformers": by_transformers}[args.peer](w, args.heads, torch)
        run(prompt, 8)
        text, seconds = run(prompt, args.tokens)
    sys.stdout.buffer.write(f"{seconds}\n".encode() + text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="Python of the environment that setup.sh has made")
    parser.add_argument("--tx", help="gpt, the example's program")
    parser.add_argument("--model", required=True, help="a folder that `gpt train` wrote")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--prompt", default="Tool for ")
    parser.add_argument("--tokens", type=int, default=240)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        return peer(args)
    common = ["--model", args.model, "--prompt", args.prompt, "--tokens", str(args.tokens), "--threads", str(args.threads)]
    best, texts = {}, {}
    for _ in range(args.rounds):
        for name in ("tx", "hand", "transformers"):
            if name == "tx":
                done = subprocess.run([args.tx, "generate", *common, "--temperature", "0"], capture_output=True)
                found = re.search(rb"written in ([0-9.]+) s", done.stderr)
                if done.returncode != 0 or not found:
                    sys.exit(done.stderr.decode())
                seconds, text = float(found[1]), done.stdout[:len(args.prompt.encode()) + args.tokens]
            else:
                done = subprocess.run([args.python, __file__, "--peer", name, "--heads", str(args.heads), *common], capture_output=True)
                if done.returncode != 0:
                    sys.exit(done.stderr.decode()[-2000:])
                first, text = done.stdout.split(b"\n", 1)
                seconds = float(first)
            best[name] = min(best.get(name, seconds), seconds)
            texts[name] = text
    names = {"tx": "tx", "hand": "PyTorch, a loop by hand", "transformers": "PyTorch, Transformers' generate"}
    for name, seconds in best.items():
        print(f"{names[name]:32} {args.tokens / seconds:9.0f} bytes/s   {seconds / best['tx']:6.2f} times tx's time")
    same = all(text == texts["tx"] for text in texts.values())
    print("the three texts are the same" if same else f"the texts differ: {texts}")
    return 0 if same and min(best.values()) == best["tx"] else 1


if __name__ == "__main__":
    sys.exit(main())
