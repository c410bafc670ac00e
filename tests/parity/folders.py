#!/usr/bin/env python3
"""Usage: folders.py --programs DIR --texts FILE

Folders from transformers and back, of a BERT, a RoBERTa, a DistilBERT and an ELECTRA of odd widths (folders/): drawn weights and a tokenizer that is
learned from the texts are saved by transformers, `bert finetune` of the program of that family trains a head on them, and transformers opens what it left without
a warning, with every tensor in its place. Its probabilities of all texts are those that `bert predict` prints, within 1e-4, its vectors of the encoder alone
those of `bert embed`, within 1e-5. Texts: label<TAB>text, as examples/bert/data/fetch.sh makes them; DIR holds folder_bert, folder_roberta, ...
"""
import argparse
import io
import json
import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings

import tokenizers
import torch
import transformers

HERE = pathlib.Path(__file__).parent
LONGEST, LEARNED, ASKED = 32, 200, 300


def rows(path):
    return [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]


def words_of(family, texts, size):
    """A tokenizer of the family's kind, learned from these texts."""
    if family == "roberta":
        words = tokenizers.ByteLevelBPETokenizer()
        words.train_from_iterator(texts, vocab_size=size, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False)
        words.post_processor = tokenizers.processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
        return transformers.PreTrainedTokenizerFast(tokenizer_object=words._tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>", pad_token="<pad>",
                                                    unk_token="<unk>", mask_token="<mask>", model_max_length=LONGEST)
    words = tokenizers.BertWordPieceTokenizer(lowercase=True)
    words.train_from_iterator(texts, vocab_size=size, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False)
    number = words.token_to_id
    words.post_processor = tokenizers.processors.BertProcessing(("[SEP]", number("[SEP]")), ("[CLS]", number("[CLS]")))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words._tokenizer, cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]",
                                                model_max_length=LONGEST)


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines()


def opened(kind, folder):
    """What transformers makes of a folder; whatever it has to say of it ends the test."""
    told = io.StringIO()
    handler = logging.StreamHandler(told)
    log = logging.getLogger("transformers")
    log.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model, about = kind.from_pretrained(folder, output_loading_info=True)
            words = transformers.AutoTokenizer.from_pretrained(folder)
    finally:
        log.removeHandler(handler)
    wrong = {key: value for key, value in about.items() if value}
    if wrong or told.getvalue():
        sys.exit(f"{folder}: transformers says: {wrong} {told.getvalue()}")
    return model.eval(), words


def asked(model, words, texts):
    coded = words(texts, truncation=True, max_length=LONGEST, padding=True, return_tensors="pt")
    coded.pop("token_type_ids", None)
    with torch.no_grad():
        return model(**coded), coded["attention_mask"]


def check(family, programs, texts, work):
    program = programs / f"folder_{family}"
    config = transformers.AutoConfig.from_pretrained(HERE / "folders" / f"{family}.json")
    torch.manual_seed(len(family))
    words = words_of(family, [row[1] for row in texts], config.vocab_size)
    encoder = transformers.AutoModel.from_config(config)
    with torch.no_grad():
        for p in encoder.parameters():
            p += 0.1 * torch.randn_like(p)
    encoder.save_pretrained(work / "drawn")
    words.save_pretrained(work / "drawn")

    learned, unseen = work / "learned.tsv", work / "texts"
    learned.write_text("".join("\t".join(row) + "\n" for row in texts[:LEARNED]), encoding="utf-8")
    asked_texts = [row[1] for row in texts[-ASKED:]]
    unseen.write_text("".join(text + "\n" for text in asked_texts), encoding="utf-8")

    vectors = torch.tensor([json.loads(line) for line in run(program, "embed", "--model", work / "drawn", "--text", unseen, "--pool", "mean")])
    said, mask = asked(encoder.eval(), words, asked_texts)
    there = mask[..., None].float()
    of_encoder = ((said.last_hidden_state * there).sum(1) / there.sum(1) - vectors).abs().max().item()

    run(program, "finetune", "--model", work / "drawn", "--data", learned, "--dev", learned, "--out", work / "out", "--epochs", 20, "--rate", 0.002, "--dropout", 0)
    model, again = opened(transformers.AutoModelForSequenceClassification, work / "out")
    told = [line.split("\t") for line in run(program, "predict", "--model", work / "out", "--text", unseen)]
    likely = asked(model, again, asked_texts)[0].logits.softmax(-1)
    of_head = max(abs(float(p) - likely[i, model.config.label2id[label]].item()) for i, (label, p, _) in enumerate(told))
    spread = likely[:, 0].std().item()
    print(f"{family}: vectors within {of_encoder:.1e}, probabilities within {of_head:.1e} (which spread by {spread:.2f}); {type(model).__name__} opens without a warning", flush=True)
    return of_encoder < 1e-5 and of_head < 1e-4 and spread > 0.1 and len(told) == ASKED


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--programs", type=pathlib.Path, required=True)
    p.add_argument("--texts", type=pathlib.Path, required=True)
    p.add_argument("--families", default="bert,roberta,distilbert,electra")
    o = p.parse_args()
    good = True
    for family in o.families.split(","):
        with tempfile.TemporaryDirectory() as name:
            good &= check(family, o.programs.resolve(), rows(o.texts), pathlib.Path(name))
    if not good:
        sys.exit("too far from transformers'")


if __name__ == "__main__":
    main()
