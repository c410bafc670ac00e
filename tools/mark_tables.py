#!/usr/bin/env python3
"""Writes include/tx/text/mark_tables.hpp: in which order the tokenizers of Hugging Face put accents, asked of the package itself.

Usage: mark_tables.py    (overwrites; needs the package tokenizers)
"""
import pathlib
import unicodedata

import tokenizers
from tokenizers import normalizers

from code_tables import POINTS, table

nfd = normalizers.NFD()
apart = {p: nfd.normalize_str(chr(p)) for p in POINTS}
known = {}  # of each order a character that is not taken apart
for p in POINTS:
    order = unicodedata.combining(chr(p))
    if order and apart[p] == chr(p) and nfd.normalize_str("a\u0345" + chr(p)) != "a\u0345" + chr(p):
        known.setdefault(order, chr(p))
known[240] = "\u0345"


def order_of(c):  # 0: nothing moves past it
    for order, other in known.items():
        if nfd.normalize_str(c + other) == c + other and nfd.normalize_str(other + c) == other + c and nfd.normalize_str("\u0345" + c) != "\u0345" + c:
            return order
    return 240 if c == "\u0345" else 0


single = {c: order_of(c) for p in POINTS if not 0xAC00 <= p < 0xD7A4 for c in apart[p] if unicodedata.combining(c) or nfd.normalize_str("\u0345" + c) != "\u0345" + c}
assert all(single[c] == o for o, c in known.items())
orders = []  # first, last, orders
for p in POINTS:
    if 0xAC00 <= p < 0xD7A4:
        continue
    of = [single.get(c, 0) for c in apart[p]]
    after = tuple(of[max((k + 1 for k, o in enumerate(of) if o == 0), default=0):])
    if not after:
        continue
    if orders and orders[-1][1] == p - 1 and orders[-1][2] == after and orders[-1][3] == (0 in of):
        orders[-1][1] = p
    else:
        orders.append([p, p, after, 0 in of])


def lists(comment, name, of_letters):
    return table(comment, "mark_order", name, [o for o in orders if o[3] == of_letters],
                 lambda o: f"{{0x{o[0]:X}, 0x{o[1]:X}, {{{', '.join(str(k) for k in o[2])}}}}}")


text = f"""// In which order accents are put, as version {tokenizers.__version__} of the package tokenizers does it. Written by tools/mark_tables.py.
#pragma once

#include <cstdint>

namespace tx::text::detail {{

struct mark_order {{
  char32_t first, last;
  std::uint8_t orders[3];  // 0 where there are less
}};

"""
text += lists("Of the accents that each of these is, or is taken apart into.", "mark_orders", False)
text += lists("Of the accents behind the letter that each of these is taken apart into.", "letter_mark_orders", True)
text = text.rstrip("\n") + "\n\n}  // namespace tx::text::detail\n"
(pathlib.Path(__file__).parent.parent / "include/tx/text/mark_tables.hpp").write_text(text)
