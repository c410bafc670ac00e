#!/usr/bin/env python3
"""Usage: distil.py --teacher bert --student small_bert --twinbert twinbert --pairs DIR --model DIR [--texts 54000] [--epochs 1] [--seeds 1,2,3]
       [--keep DIR | --fine-tuned DIR]

How much a small BERT learns from a large one that reads query and document together. The teacher, MiniLM, is fine-tuned to tell whether a document is a
query's. The student (bench/small_bert) has half of its layers: taught, it begins with the teacher's and learns from labels and the teacher's scores and hidden
states; by itself it begins with the same layers of MiniLM as they were before, and learns from labels alone. Beside them `twinbert --layers 0`, a bag of word
vectors that learns from all pairs. AUC of each over test.random.tsv, where other documents are drawn as in training, and test.section.tsv, where they are of the
same section. All pairs and an epoch take 15 minutes a seed on two cores, the teacher another 12.
--fine-tuned: a teacher of an earlier run, which --keep left. --pairs: what examples/twinbert/data/fetch.sh makes. --model: MiniLM's folder, as
examples/bert/data/fetch.sh makes it. Exit status 1 where a taught student is not above the other and above the bag of words, in documents of the section.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from labelled_pairs import rows, with_negatives, write_labelled

HERE = pathlib.Path(__file__).parent
TAUGHT_BY = (1, 3, 5)  # layers of MiniLM, one for each of the student's


def of_labels(path):
    return [(query, document, label == "1") for query, document, label in rows(path)]


def some_layers(model, folder, layers):
    """MiniLM with these layers alone."""
    import transformers

    whole = transformers.AutoModel.from_pretrained(model)
    config = transformers.BertConfig.from_json_file(HERE.parent / "small_bert" / "config.json")
    config.architectures = ["BertModel"]
    small = transformers.BertModel(config)
    small.embeddings.load_state_dict(whole.embeddings.state_dict())
    small.pooler.load_state_dict(whole.pooler.state_dict())
    for to, at in enumerate(layers):
        small.encoder.layer[to].load_state_dict(whole.encoder.layer[at].state_dict())
    small.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        if (model / name).exists():
            shutil.copy(model / name, folder / name)


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def area(text):
    return float(re.search(r"AUC ([0-9.]+)", text)[1])


def areas(program, folder, tests):
    return [area(run(program, "eval", "--model", folder, "--data", test)) for test in tests]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("teacher", "student", "twinbert", "pairs", "model"):
        p.add_argument("--" + name, type=pathlib.Path, required=True)
    p.add_argument("--texts", type=int, default=54000, help="that teacher and students learn from")
    p.add_argument("--epochs", type=float, default=1, help="of the students; the teacher has one")
    p.add_argument("--fine-tuned", type=pathlib.Path)
    p.add_argument("--keep", type=pathlib.Path, help="where to leave the teacher")
    p.add_argument("--seeds", default="1,2,3")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    o = p.parse_args()
    for name in ("teacher", "student", "twinbert"):
        setattr(o, name, getattr(o, name).resolve())
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        write_labelled(work / "train.tsv", with_negatives(rows(o.pairs / "train.tsv"), o.texts))
        write_labelled(work / "dev.tsv", of_labels(o.pairs / "dev.section.tsv")[:2000])
        kinds = ("random", "section")
        tests = [work / f"test.{kind}.tsv" for kind in kinds]
        for kind, test in zip(kinds, tests):
            write_labelled(test, of_labels(o.pairs / f"test.{kind}.tsv"))
        data = ("--data", work / "train.tsv", "--dev", work / "dev.tsv", "--threads", o.threads)

        bag = work / "bag"
        run(o.twinbert, "train", "--pairs", o.pairs / "train.tsv", "--dev", o.pairs / "dev.section.tsv", "--out", bag, "--layers", 0, "--threads", o.threads)
        of_bag = [area(run(o.twinbert, "eval", "--model", bag, "--pairs", o.pairs / f"test.{kind}.tsv")) for kind in kinds]
        print(f"bag of words, of all pairs: AUC {of_bag[0]:.4f}, {of_bag[1]:.4f}", flush=True)

        teacher = o.fine_tuned or o.keep or work / "teacher"
        if not o.fine_tuned:
            run(o.teacher, "finetune", "--model", o.model, "--out", teacher, "--epochs", 1, *data)
        of_teacher = areas(o.teacher, teacher, tests)
        print(f"teacher: AUC {of_teacher[0]:.4f}, {of_teacher[1]:.4f}", flush=True)
        some_layers(o.model, work / "begin", TAUGHT_BY)
        short = False
        for seed in o.seeds.split(","):
            found = {}
            for how, command in (("labels alone", ("finetune", "--model", work / "begin")),
                                 ("taught", ("distil", "--teacher", teacher, "--config", work / "begin", "--teacher-layers"))):
                out = work / "student"
                told = run(o.student, *command, "--out", out, "--epochs", o.epochs, "--seed", seed, *data)
                found[how] = areas(o.student, out, tests)
                print(f"seed {seed}, {how}: AUC {found[how][0]:.4f}, {found[how][1]:.4f} (while training: {told})", flush=True)
                shutil.rmtree(out)
            by = [a - b for a, b in zip(found["taught"], found["labels alone"])]
            over = [a - b for a, b in zip(found["taught"], of_bag)]
            print(f"seed {seed}: {by[0]:+.4f}, {by[1]:+.4f} by the teacher; {over[0]:+.4f}, {over[1]:+.4f} over the bag of words", flush=True)
            short |= min(by[1], over[1]) <= 0
        if short:
            sys.exit("a student has learned less from its teacher than it should")


if __name__ == "__main__":
    main()
