"""Names and descriptions that belong together and such that do not, as `bert finetune` reads them."""
import random


def rows(path):
    return [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]


def write_labelled(path, pairs):
    with open(path, "w", encoding="utf-8") as out:
        out.write("".join(f"{'its' if own else 'other'}\t{query}\t{document}\n" for query, document, own in pairs))


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
