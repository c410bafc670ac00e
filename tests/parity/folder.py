#!/usr/bin/env python3
"""A small model's folder as Hugging Face and sentence-transformers lay it out: writes data/folder/, whose vectors.safetensors has what transformers
makes of the lines of texts.txt. See README.md.
"""

import json
import pathlib
import shutil

import torch
import transformers
from families import weights
from safetensors.torch import save_file
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / "data" / "folder"
TEXTS = ["Hello, the tokens of the texts.", "the", "Numbers 1234 and signs ... count too!", "It isn't the words' pairing alone: joins the commonest pair of tokens, then the next."]


def main():
    torch.set_num_threads(1)
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "1_Pooling").mkdir(parents=True)
    shutil.copy(HERE.parent / "text" / "tokenizers" / "uncased.json", FOLDER / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=40, type_vocab_size=2
    )
    model = weights(transformers.BertModel(config), seed=9).eval()
    model.save_pretrained(FOLDER)
    (FOLDER / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ], indent=1) + "\n")
    (FOLDER / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 16, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, indent=1) + "\n")
    (FOLDER / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 12, "do_lower_case": False}) + "\n")
    (FOLDER / "texts.txt").write_text("".join(t + "\n" for t in TEXTS))
    tokenizer.enable_truncation(12)
    model = model.double()
    out = {"mean": [], "first": []}
    with torch.no_grad():
        for text in TEXTS:
            hidden = model(input_ids=torch.tensor([tokenizer.encode(text).ids])).last_hidden_state[0]
            out["mean"].append(torch.nn.functional.normalize(hidden.mean(0), dim=0))
            out["first"].append(hidden[0])
    save_file({k: torch.stack(v).float() for k, v in out.items()}, FOLDER / "vectors.safetensors")
    print(sum(f.stat().st_size for f in FOLDER.rglob("*") if f.is_file()), "bytes")


if __name__ == "__main__":
    main()
