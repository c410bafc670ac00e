"""Pairs of query and document, as examples/twinbert/data/fetch.sh makes them, as examples that examples/bert learns from: whether the document is the query's."""
import random


def rows(path):
    return [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]


def write_labelled(path, pairs):
    with open(path, "w", encoding="utf-8") as out:
        out.write("".join(f"{'its' if own else 'other'}\t{query}\t{document}\n" for query, document, own in pairs))


def of_labels(path):
    return [(query, document, label == "1") for query, document, label in rows(path)]


def with_negatives(pairs, count):
    """Half of them with the document of another query, drawn."""
    draw = random.Random(1)
    out = []
    for i in draw.sample(range(len(pairs)), count // 2):
        query, document = pairs[i][:2]
        other = document
        while other == document:
            other = pairs[draw.randrange(len(pairs))][1]
        out += [(query, document, True), (query, other, False)]
    return out
