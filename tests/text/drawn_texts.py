"""What the scripts beside it draw texts by and sum what becomes of them, as drawn_texts.hpp does."""

POOLS = [(0x0, 0x250), (0x300, 0x370), (0x370, 0x600), (0x8D0, 0x900), (0x900, 0xE00), (0x1B00, 0x1C00), (0x1D150, 0x1D1E8), (0x1E000, 0x1E030), (0x1E940, 0x1E960),
         (0xAC00, 0xD7A4), (0x1E00, 0x2000), (0x2000, 0x3400), (0x4E00, 0x5000), (0xF900, 0x10000), (0x10000, 0x110000)]


class Sum:  # FNV-1a of words that 0xFF ends and of texts that 0xFE ends
    def __init__(self):
        self.value = 0x811C9DC5

    def add(self, data):
        for byte in data:
            self.value = (self.value ^ byte) * 0x01000193 & 0xFFFFFFFF


class Draws:
    def __init__(self, seed):
        self.state = seed

    def under(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def anywhere(draws):  # a character of any block, each block of 256 as likely as another, but for those where hardly anything is
    block = draws.under(0x326)
    block = block - 8 if 0xD8 <= block < 0xE0 else block if block < 0x324 else block - 0x324 + 0xE00
    return chr(256 * block + draws.under(256))


def text(draws):
    out = ""
    for _ in range(1 + draws.under(12)):
        first, end = POOLS[draws.under(len(POOLS))]
        out += chr(first + draws.under(end - first))
    return out


def places(text):  # of each character, and of the end: how many bytes of UTF-8 come before it
    out = [0]
    for c in text:
        out.append(out[-1] + len(c.encode()))
    return out


def literal(text):  # of C++, a byte that is not plain in octal digits
    return '"' + "".join(chr(b) if 0x20 <= b < 0x7F and b not in b'"\\?' else f"\\{b:03o}" for b in text.encode()) + '"'
