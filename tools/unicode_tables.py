#!/usr/bin/env python3
"""Writes include/tx/text/unicode_tables.hpp and character_kinds.hpp: what the tokenizers of Hugging Face make of each code point, asked of the package itself.

Usage: unicode_tables.py    (overwrites; needs the package tokenizers)
"""
import pathlib
import unicodedata

import tokenizers
from tokenizers import normalizers, pre_tokenizers

from code_tables import POINTS, ranges, table, two

HANGUL = range(0xAC00, 0xD7A4)


def bert(**one):
    return normalizers.BertNormalizer(**{"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False, **one})


def alone(normalizer, point):  # what becomes of it between two letters
    text = normalizer.normalize_str("a" + chr(point) + "b")
    assert text[0] == "a" and text[-1] == "b", hex(point)
    return text[1:-1]


clean, ideographs, strip, lower = (bert(**{k: True}) for k in ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"))
nfd, bert_words = normalizers.NFD(), pre_tokenizers.BertPreTokenizer()

removed = [p for p in POINTS if alone(clean, p) == ""]
spaces = [p for p in POINTS if alone(clean, p) == " "]
words = [p for p in POINTS if alone(ideographs, p) == " " + chr(p) + " "]
pieces = {p: [t for t, _ in bert_words.pre_tokenize_str("a" + chr(p) + "b")] for p in POINTS}
white = [p for p in POINTS if pieces[p] == ["a", "b"]]
punctuation = [p for p in POINTS if pieces[p] == ["a", chr(p), "b"]]
assert all(pieces[p] == ["a" + chr(p) + "b"] for p in POINTS if p not in set(white) | set(punctuation))

# A mark moves before U+0345, whose class is the last but one; a character of class 0 stays behind it.
moves = {p for p in POINTS if nfd.normalize_str("a\u0345" + chr(p) + "b") != "a\u0345" + nfd.normalize_str(chr(p)) + "b"} | {0x345}
stripped = {p: alone(strip, p) for p in POINTS}
marks = [p for p in POINTS if stripped[p] == "" and p in moves]
blocking = [p for p in POINTS if stripped[p] == "" and p not in moves]
kept_marks = [(p, unicodedata.combining(chr(p))) for p in POINTS if stripped[p] != "" and p in moves]
for a, of_a in kept_marks:
    for b, of_b in kept_marks:
        wanted = chr(b) + chr(a) if of_a > of_b else chr(a) + chr(b)
        assert nfd.normalize_str(chr(a) + chr(b)) == wanted, (hex(a), hex(b))
others = {p: s for p, s in stripped.items() if s not in ("", chr(p)) and p not in HANGUL}
single = [(p, ord(s)) for p, s in others.items() if len(s) == 1]
several = [(p, [ord(c) for c in s]) for p, s in others.items() if len(s) > 1]
lowered = {p: alone(lower, p) for p in POINTS}
assert [p for p in POINTS if len(lowered[p]) != 1] == [0x130] and lowered[0x130] == "i\u0307"
steps = []  # first, last, distance, difference
for p in POINTS:
    if p == 0x130 or lowered[p] == chr(p):
        continue
    d = ord(lowered[p]) - p
    last = steps[-1] if steps else None
    if last and last[3] == d and p - last[1] in ((last[2],) if last[0] != last[1] else (1, 2)):
        last[2], last[1] = p - last[1], p
    else:
        steps.append([p, p, 1, d])


text = f"""// What the tokenizers of Hugging Face make of each code point, as version {tokenizers.__version__} of their package says it. Written by tools/unicode_tables.py.
#pragma once

#include <tx/text/code_ranges.hpp>

namespace tx::text::detail {{

// first, first + step, ... last: each becomes the one `difference` beyond it.
struct code_steps {{
  char32_t first, last;
  int step, difference;
}};
struct code_pair {{
  char32_t from, to;
}};
struct code_list {{
  char32_t from, to[3];  // 0 where it is shorter
}};
struct combining_mark {{
  char32_t value;
  int order;  // its canonical combining class
}};

"""
text += table("Removed by clean_text: control, format, private use and unassigned characters.", "code_range", "removed_ranges", ranges(removed), two)
text += table("Spaces to clean_text.", "code_range", "space_ranges", ranges(spaces), two)
text += table("Spaces to the splitting into words.", "code_range", "white_ranges", ranges(white), two)
text += table("Each a word of its own: ideographs.", "code_range", "ideograph_ranges", ranges(words), two)
text += table("Each a word of its own: punctuation.", "code_range", "punctuation_ranges", ranges(punctuation), two)
text += table("Removed with accents, after marks around them have been put in order: those that marks move past, and those that they do not.", "code_range", "mark_ranges", ranges(marks), two)
text += table("", "code_range", "blocking_ranges", ranges(blocking), two).replace("// \n", "", 1)
text += table("Marks that stay.", "combining_mark", "kept_marks", kept_marks, lambda m: f"{{0x{m[0]:X}, {m[1]}}}")
text += table("Without accents: one character, but for syllables of Hangul.", "code_pair", "stripped_pairs", single, two)
text += table("Without accents: several.", "code_list", "stripped_lists", several, lambda m: f"{{0x{m[0]:X}, {{{', '.join(f'0x{c:X}' for c in m[1])}}}}}")
text += table("In lower case, but for U+0130.", "code_steps", "lower_steps", steps, lambda s: f"{{0x{s[0]:X}, 0x{s[1]:X}, {s[2]}, {s[3]}}}")
text = text.rstrip("\n") + "\n\n}  // namespace tx::text::detail\n"
(pathlib.Path(__file__).parent.parent / "include/tx/text/unicode_tables.hpp").write_text(text)

# ---- what the expression that GPT-2 splits texts by takes for letters, numbers and spaces -------------------------------


def of_kind(expression):
    splits = pre_tokenizers.Split(tokenizers.Regex(expression), "removed")
    return [p for p in POINTS if splits.pre_tokenize_str("\u0000" + chr(p) + "\u0001") != [("\u0000" + chr(p) + "\u0001", (0, 3))]]


def of_words():  # a token that has to stand alone is not found beside them
    alone = tokenizers.Tokenizer(tokenizers.models.BPE())
    alone.add_tokens([tokenizers.AddedToken("q", single_word=True, normalized=False)])
    return [p for p in POINTS if not alone.encode("q" + chr(p)).ids and p != ord("q")] + [ord("q")]


text = f"""// Letters, numbers and spaces of Unicode, as version {tokenizers.__version__} of the package tokenizers knows them. Written by tools/unicode_tables.py.
#pragma once

#include <tx/text/code_ranges.hpp>

namespace tx::text::detail {{

"""
text += table("General category L.", "code_range", "letter_ranges", ranges(of_kind(r"\p{L}")), two)
text += table("General category N.", "code_range", "number_ranges", ranges(of_kind(r"\p{N}")), two)
text += table("White space.", "code_range", "blank_ranges", ranges(of_kind(r"\s")), two)
text += table("What words are of.", "code_range", "word_ranges", ranges(sorted(of_words())), two)
text = text.rstrip("\n") + "\n\n}  // namespace tx::text::detail\n"
(pathlib.Path(__file__).parent.parent / "include/tx/text/character_kinds.hpp").write_text(text)
