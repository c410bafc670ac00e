#!/usr/bin/env python3
"""Writes tests/fuzz/corpus: for each target a few dozen small inputs, right and wrong in every way that has a rule of its own.

Usage: corpus.py    (overwrites; the files are committed, so that fuzzing begins with them)
"""
import json
import struct

import corpus_models
import corpus_shards
from corpus_files import put

BOM = b"\xef\xbb\xbf"


# ---- safetensors -----------------------------------------------------------------------------------------------------

def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def dense(obj):
    return json.dumps(obj, separators=(",", ":"))


def entry(name, dtype, shape, offsets):  # as text, for what json.dumps would not write
    return '"%s":{"dtype":"%s","shape":%s,"data_offsets":%s}' % (name, dtype, shape, offsets)


headers = {  # header text, bytes of data
    "empty": ("{}", 0),
    "padded": ("{}      ", 0),
    "matrix": (dense({"w": tensor("F32", [2, 3], 0, 24)}), 24),
    "scalar": (dense({"s": tensor("F64", [], 0, 8)}), 8),
    "no_elements": (dense({"e": tensor("F32", [3, 0], 0, 0), "u": tensor("U8", [1], 0, 1)}), 1),
    "all_types": (dense({t: tensor(t, [1], b, e) for t, b, e in [
        ("F64", 0, 8), ("I64", 8, 16), ("F32", 16, 20), ("I32", 20, 24), ("F16", 24, 26), ("BF16", 26, 28), ("I16", 28, 30),
        ("I8", 30, 31), ("U8", 31, 32), ("BOOL", 32, 33), ("F8_E4M3", 33, 34)]}), 34),
    "not_aligned": (dense({"b": tensor("U8", [1], 0, 1), "f": tensor("F32", [2], 1, 9)}), 9),
    "any_order": (dense({"b": tensor("U8", [2], 1, 3), "a": tensor("U8", [1], 0, 1)}), 3),
    "metadata": (dense({"__metadata__": {"format": "pt", "": "", "é": "\n"}}), 0),
    "metadata_number": ('{"__metadata__":{"a":1}}', 0),
    "metadata_twice": ('{"__metadata__":{},"__metadata__":{}}', 0),
    "metadata_key_twice": ('{"__metadata__":{"k":"1","k":"1"}}', 0),
    "name_twice": ("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("\\u0061", "U8", "[1]", "[1,2]") + "}", 2),
    "name_escaped": ("{" + entry("a\\\"\\\\\\n\\u00e9", "U8", "[1]", "[0,1]") + "}", 1),
    "hole": (dense({"a": tensor("U8", [2], 0, 2), "b": tensor("U8", [2], 3, 5)}), 5),
    "overlap": (dense({"a": tensor("U8", [2], 0, 2), "b": tensor("U8", [2], 1, 3)}), 3),
    "reversed": (dense({"a": tensor("U8", [2], 2, 0)}), 2),
    "beyond": (dense({"a": tensor("U8", [4], 0, 4)}), 3),
    "left_over": (dense({"a": tensor("U8", [2], 0, 2)}), 3),
    "too_long": (dense({"a": tensor("F32", [2], 0, 7)}), 7),
    "wraps": ("{" + entry("a", "U8", "[4294967296,4294967296]", "[0,0]") + "}", 0),
    "offset_of_64_bits": ("{" + entry("a", "U8", "[2]", "[0,18446744073709551615]") + "}", 2),
    "size_of_65_bits": ("{" + entry("a", "U8", "[18446744073709551616]", "[0,0]") + "}", 0),
    "negative": ("{" + entry("a", "U8", "[-1]", "[0,0]") + "}", 0),
    "fraction": ("{" + entry("a", "U8", "[1.0]", "[0,1]") + "}", 1),
    "unknown_type": ("{" + entry("a", "F8_E5M2", "[1]", "[0,1]") + "}", 1),
    "unknown_key": ('{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"more":1}}', 0),
    "no_shape": ('{"a":{"dtype":"U8","data_offsets":[0,0]}}', 0),
    "three_offsets": ('{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0,0]}}', 0),
    "a_list": ("[]", 0),
    "two_objects": ("{} {}", 0),
    "space_first": (" {}", 0),
    "deep": ('{"a":' * 40 + "}", 0),
    "deep_lists": ('{"a":' + "[" * 60 + "}", 0),
    "no_end": ('{"a":', 0),
}
bad_bytes = {"name_not_utf8": b'{"\xff":{}}', "nul": b"{}\0{}", "mark": BOM + b"{}", "surrogate": b'{"\\ud800":{}}'}
put("safetensors_header", {n: h for n, (h, _) in headers.items()} | bad_bytes)
files = {n: struct.pack("<Q", len(h.encode())) + h.encode() + bytes(i % 2 for i in range(d)) for n, (h, d) in headers.items()}
matrix = files["matrix"]
files |= {
    "length_0": bytes(8),
    "length_beyond": struct.pack("<Q", 3) + b"{}",
    "length_too_much": struct.pack("<Q", 100_000_001) + b"{}",
    "length_of_64_bits": b"\xff" * 8 + b"{}",
    "seven_bytes": bytes(7),
    "bool_of_2": struct.pack("<Q", 54) + dense({"m": tensor("BOOL", [1], 0, 1)}).encode().ljust(54) + b"\2",
    "cut_in_header": matrix[:30],
    "cut_in_data": matrix[:-1],
}
put("safetensors", files)


# ---- portions of tensors in two files, their headers -------------------------------------------------------------------

def portion(rows, shape, dtype="U8", more=None):
    count = 1
    for extent in shape:
        count *= extent
    return dense({"__metadata__": {"portion w": rows}, "w": tensor(dtype, shape, 0, count)} | (more or {})).encode()


put("tensor_portions", {n: b"\0".join(pair) for n, pair in {
    "rows": (portion("0 0 3", [2, 2]), portion("0 2 3", [1, 2])),
    "columns": (portion("1 0 3", [2, 2]), portion("1 2 3", [2, 1])),
    "any_order": (portion("0 1 3", [2, 2]), portion("0 0 3", [1, 2])),
    "one_whole": (dense({"w": tensor("U8", [2], 0, 2)}).encode(), b"{}"),
    "both_whole": (dense({"w": tensor("U8", [2], 0, 2)}).encode(),) * 2,
    "whole_and_rows": (dense({"w": tensor("U8", [2], 0, 2)}).encode(), portion("0 0 2", [1])),
    "a_hole": (portion("0 0 4", [2, 2]), portion("0 3 4", [1, 2])),
    "twice": (portion("0 0 3", [2, 2]), portion("0 1 3", [2, 2])),
    "unlike": (portion("0 0 3", [2, 2]), portion("1 2 3", [2, 1])),
    "other_type": (portion("0 0 2", [1]), portion("0 1 2", [1], "BOOL")),
    "no_rows": (portion("0 0 0", [0, 2]), portion("0 0 0", [0, 2])),
    "too_many": (portion("0 0 9223372036854775807", [1, 9]), b"{}"),
    "no_axis": (portion("2 0 2", [1, 2]), b"{}"),
    "no_numbers": (portion("0 0", [1, 2]), b"{}"),
    "beside": (portion("0 0 2", [1, 2], more={"b": tensor("U8", [1], 2, 3)}), portion("0 1 2", [1, 2])),
}.items()})

# ---- pairs -----------------------------------------------------------------------------------------------------------

put("pairs", {
    "one": "query\tdocument\n",
    "labelled": "cats\tabout cats\t1\ndogs\tabout cats\t0\n",
    "fractions": "a\tb\t0.25\na\tb\t1e-3\na\tb\t.5\na\tb\t-0\n",
    "tiny": "a\tb\t1e-45\na\tb\t4.9e-324\n",
    "no_last_end": "a\tb",
    "windows": "a\tb\r\nc\td\t1\r\n",
    "two_returns": "a\tb\r\r\n",
    "mark": BOM + b"a\tb\n",
    "two_marks": BOM + BOM + b"a\tb\n",
    "only_mark": BOM,
    "empty": "",
    "empty_document": "a\t\n",
    "empty_query": "\tb\n",
    "blank_query": "  \tb\n",
    "blank_line": "a\tb\n\nc\td\n",
    "one_column": "a\tb\nc\n",
    "four_columns": "a\tb\t1\tx\n",
    "label_empty": "a\tb\t\n",
    "label_text": "a\tb\tx\n",
    "label_2": "a\tb\t2\n",
    "label_negative": "a\tb\t-0.1\n",
    "label_nan": "a\tb\tnan\n",
    "label_inf": "a\tb\tinf\n",
    "label_huge": "a\tb\t1e99\n",
    "label_plus": "a\tb\t+1\n",
    "label_hex": "a\tb\t0x1\n",
    "label_spaces": "a\tb\t 0.5\n",
    "not_utf8": b"a\xff\tb\n",
    "surrogate": b"a\t\xed\xa0\x80\n",
    "overlong": b"a\t\xc0\x80\n",
    "nul": b"a\0b\tc\n",
    "controls": b"\x1b[0m\t\x07\n",
    "unicode": "été 中文\tПривет \U0001f600\n",
    "only_ends": "\n\n\n",
})

# ---- vocabularies, words ---------------------------------------------------------------------------------------------

special = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
vocabularies = {
    "special": special,
    "small": special + "a\nb\n##a\n##b\nab\n",
    "no_last_end": special + "a",
    "windows": special.replace("\n", "\r\n") + "a\r\n",
    "mark": BOM + special.encode(),
    "two_marks": BOM + BOM + b"x\n" + special.encode(),
    "two_returns": special + "a\r\r\nb\n",
    "special_last": "a\n##a\n" + special,
    "lacks_mask": special.replace("[MASK]\n", ""),
    "lacks_all": "a\nb\n",
    "empty": "",
    "only_ends": "\n\n",
    "blank": special + "a\n\nb\n",
    "twice": special + "a\nb\na\n",
    "hashes": special + "#\n##\n###\n####\n#####\n",
    "continuation_twice": special + "##a\n##a\n",
    "unicode": special + "中\n##文\né\n\U0001f600\n",
    "punctuation": special + "!\n##!\n##-\n",
    "not_utf8": special.encode() + b"\xff\n",
    "cut_character": special.encode() + b"\xe4\xb8\n",
    "nul": special.encode() + b"a\0b\n",
    "space": special + "a b\n \n",
    "prefixes": special + "".join("a" * n + "\n" for n in range(1, 20)),
    "long": special + "x" * 300 + "\n",
    "trigrams": "#ca\ncat\nat#\n###\n",
    "trigram_twice": "abc\nabc\n",
    "trigram_upper": "ABC\nAb#\n",
    "trigram_blank": "abc\n\ndef\n",
    "trigram_other": "a-b\néa\nab\nabcd\n",
    "trigram_mark": BOM + b"abc\n" + BOM + b"def\n",
    "trigram_space": "a b\n",
    "trigram_long": "abcdefghijklmnop\nabcdefghijklmnopq\n",
}
put("vocabulary", vocabularies)

texts = {
    "empty": "",
    "words": "Hello, World! a-b_c$d`e",
    "spaces": " \t\r\n\u00a0\u2003\u3000\u2028x",
    "accents": "ÀÉÎÕÜ çñÿ ĀĖİŁŒŻ ſ ŉ",
    "combining": "e\u0301 n\u0303 \u0301 a\ufe0f",
    "ideographs": "ab中文cd\U00020000x",
    "kana": "カタカナ ひらがな 한국어",
    "punctuation": "\u201cquoted\u201d\u2014dash\u2026 \u00b7\u00a1",
    "controls": b"a\0b\x01\x7f \xc2\x80 \xc2\xad",
    "format": "soft\u00adhyphen \ufeffmark zero\u200bwidth",
    "private": "\ue000 \U000f0000 \U0010ffff",
    "replacement": "a\ufffdb \ufffe \uffff",
    "stray": b"a\x80b \xbf\xbf",
    "cut_two": b"a\xc3",
    "cut_three": b"\xe4\xb8 \xe4(",
    "cut_four": b"\xf0\x9f\x98 \xf0\x9f(",
    "overlong": b"\xc0\x80 \xc1\xbf \xe0\x9f\xbf \xf0\x8f\xbf\xbf",
    "surrogates": b"\xed\xa0\x80 \xed\xbf\xbf",
    "beyond": b"\xf4\x90\x80\x80 \xf5\x80\x80\x80 \xff\xfe",
    "long_word": "x" * 101,
    "word_of_100": "x" * 100,
    "long_accents": "é" * 101,
    "long_removed": "a" + "\u0301" * 150 + "b",
    "lines": "one\r\ntwo\n\nthree\r\r\n",
    "marks": BOM + BOM + b"x",
    "greek": "Ω Σίσυφος Привет",
    "emoji": "\u2764\ufe0f \U0001f468\u200d\U0001f469",
    "numbers": "3.14 1,000 2\u00d73\u00f74",
    "json": "\"quotes\" \\ back\\slash \b\f",
    "digits": "٣ ४ ⅷ ²",
}
put("text", texts)


def data(text):
    return text if isinstance(text, bytes) else text.encode()


pieces = {  # lines of a vocabulary beside the special ones, a NUL, a text
    "nothing": (b"", b""),
    "no_text": (b"a\n", b""),
    "example": (b"un\n##aff\n##able\n", b"unaffable unaffabl UNAFFABLE"),
    "longest": (b"a\nab\nabc\n##c\n##d\n", b"abcd abd abcc ab"),
    "only_continuations": (b"##a\n##b\n", b"a ab"),
    "no_continuations": (b"a\nb\n", b"a b ab"),
    "fails_late": (b"a\n##a\n", b"aaaa aaab"),
    "hashes": (b"#\n##\n###\n", b"# ## ###"),
    "special_in_text": (b"[\n]\npad\n", b"[PAD] [UNK] [MASK] pad"),
    "repeated": (b"", b"ab ab ab abab aab"),
    "overlapping": (b"", b"aaa aaaa aaaaa aaa"),
    "pairs": (b"", b"low lower lowest low newer newest new"),
    "one_word": (b"", b"banana banana"),
    "many": (b"", b" ".join(b"w%d" % i for i in range(40))),
    "letters": (b"", bytes(range(0x21, 0x7f))),
    "long": (b"x\n##x\n", b"x" * 100 + b" " + b"x" * 101),
    "bad_lines": (b"a\na\n", b"a"),
    "blank_line": (b"a\n\n", b"a"),
    "no_end": (b"a\nb", b"ab"),
    "not_utf8": (b"\xff\n", b"a\xff"),
    "unicode_pieces": ("é\n中\n##文\nп\n##р\n".encode(), "É 中文 пр".encode()),
}
put("wordpiece", {n: v + b"\0" + t for n, (v, t) in pieces.items()} | {"text_" + n: b"\0" + data(t) for n, t in texts.items()})

# ---- a model's config.json -------------------------------------------------------------------------------------------

config = {"model_type": "twinbert", "num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32,
          "vocab_size": 400, "query_words": 8, "document_words": 24, "input": "wordpiece", "letters": 0, "shared": True,
          "pooler": "weighted", "crossing": "cosine", "block": "pre-norm", "loss": "in-batch softmax"}


def lines(obj):
    return json.dumps(obj, indent=2) + "\n"


put("config", {
    "right": lines(config),
    "dense": dense(config),
    "no_layers": lines(config | {"num_hidden_layers": 0}),
    "more_keys": lines(config | {"more": None, "other": 1.5}),
    "other_heads": lines(config | {"num_attention_heads": 4}),
    "other_size": lines(config | {"hidden_size": 17}),
    "other_type": lines(config | {"model_type": "bert"}),
    "text_for_number": lines(config | {"query_words": "8"}),
    "number_for_text": lines(config | {"pooler": 1}),
    "fraction": lines(config | {"letters": 0.0}),
    "not_shared": lines(config | {"shared": False}),
    "lacks_loss": lines({k: v for k, v in config.items() if k != "loss"}),
    "lacks_layers": lines({k: v for k, v in config.items() if k != "num_hidden_layers"}),
    "empty": "",
    "empty_object": "{}",
    "spaces": " \n{ }\t\r\n",
    "open": "{",
    "open_text": '{"a',
    "a_list": "[]",
    "a_number": "1",
    "a_text": '"twinbert"',
    "null": "null",
    "nested_object": '{"a":{"b":1}}',
    "nested_list": '{"a":[1,2]}',
    "deep": '{"a":' * 60,
    "deep_lists": "[" * 100,
    "key_twice": '{"a":1,"a":2}',
    "key_twice_escaped": '{"a":1,"\\u0061":2}',
    "two_objects": "{}{}",
    "comma": '{"a":1,}',
    "comment": '{/**/"a":1}',
    "nul_behind": b'{"a":1}\0x',
    "nul_inside": b'{"a\0":1}',
    "escapes": '{"\\u0000\\n\\"\\\\":"\\ud83d\\ude00\\u007f"}',
    "surrogate": '{"a":"\\ud800"}',
    "not_utf8": b'{"a":"\xff"}',
    "mark": BOM + b"{}",
    "numbers": '{"a":-1,"b":18446744073709551615,"c":-9223372036854775808,"d":1e5,"e":-0,"f":-0.0,"g":18446744073709551616}',
    "huge": '{"a":1e400}',
    "zeros": '{"a":01}',
    "long_value": '{"num_attention_heads":"' + "x" * 200 + '"}',
    "control_value": lines(config | {"pooler": "\x7f\x1b[0m"}),
})

# ---- a checkpoint's manifest -----------------------------------------------------------------------------------------


def crc64(text):  # CRC-64/XZ
    rest = (1 << 64) - 1
    for byte in text:
        rest ^= byte
        for _ in range(8):
            rest = rest >> 1 ^ (0xC96C5795D7870F42 if rest & 1 else 0)
    return rest ^ (1 << 64) - 1


def members(values):
    return "{" + ",".join(f"\n    {name}: {value}" for name, value in values) + ("\n  }" if values else "}")


def body(version=2, step="25", seed="18446744073709551612", optimizer='"adamw(beta1 0.9, beta2 0.999)"', settings=(), position=(), files=()):
    return (f'{{\n  "format": "tx checkpoint",\n  "version": {version},\n  "step": {step},\n  "seed": {seed},\n  "optimizer": {optimizer},\n'
            f'  "settings": {members(settings)},\n  "position": {members(position)},\n  "files": {members(files)}')


def summed(text):
    text = text.encode() if isinstance(text, str) else text
    return text + b',\n  "checksum": "%016x"\n}\n' % crc64(text)


settings = [('"learning_rate"', "0.001"), ('"schedule.shape"', "2")]
position = [('"a \\"name\\"\\u000a"', '"text"'), ('"epoch"', "-3"), ('"inf"', '{"number": "-inf"}'), ('"nan"', '{"number": "nan"}'),
            ('"share"', "-1.7e+308")]
sums = [('"extra.safetensors"', '{"bytes": 16, "crc64": "0123456789abcdef"}'),
        ('"optimizer.safetensors"', '{"bytes": 1234, "crc64": "0000000000000000"}'),
        ('"parameters.safetensors"', '{"bytes": 18446744073709551615, "crc64": "ffffffffffffffff"}')]
full = body(settings=settings, position=position, files=sums)
values = lambda *all: summed(body(position=list(all)))
put("checkpoint", {
    "full": summed(full),
    "empty": summed(body()),
    "another_version": summed(body(version=3)),
    "first_version": summed(body().replace('"version": 2', '"version": 1').replace('  "optimizer": "adamw(beta1 0.9, beta2 0.999)",\n', "")),
    "cut_short": summed(full)[:-20],
    "no_checksum": full,
    "wrong_checksum": summed(full).replace(b'"step": 25', b'"step": 26'),
    "upper_checksum": full + ',\n  "checksum": "%016X"\n}\n' % crc64(full.encode()),
    "more_behind": summed(full) + b"\n",
    "name_twice": values(('"a"', "1"), ('"a"', "1")),
    "out_of_order": values(('"b"', "1"), ('"a"', "1")),
    "too_many_digits": values(('"a"', "0.10")),
    "unneeded_escape": values(('"\\u0061"', "1")),
    "no_end_of_text": summed('{\n  "format": "tx checkpoint",\n  "version": 2,\n  "step": 1,\n  "seed": 1,\n  "optimizer": "a'),
    "no_optimizer": summed(body(optimizer='""')),
    "optimizer_number": summed(body(optimizer="1")),
    "optimizer_not_utf8": summed(body(optimizer='"?"').encode().replace(b"?", b"\xff")),
    "optimizer_escaped": summed(body(optimizer='"a \\"b\\" \\\\ \\u0007"')),
    "negative_step": summed(body(step="-1")),
    "step_of_65_bits": summed(body(step="36893488147419103232")),
    "negative_seed": summed(body(seed="-1")),
    "plus": summed(body(step="+1")),
    "zeros": summed(body(step="01")),
    "integers": values(('"least"', "-9223372036854775808"), ('"most"', "9223372036854775807")),
    "integer_too_large": values(('"a"', "9223372036854775808")),
    "numbers": values(('"a"', "0.0"), ('"b"', "-0.0"), ('"c"', "5e-324"), ('"d"', "1e+22"), ('"e"', "0.3333333333333333")),
    "number_too_large": values(('"a"', "1e999")),
    "number_other": values(('"a"', '{"number": "infinity"}')),
    "a_list": values(('"a"', "[1]")),
    "true": values(('"a"', "true")),
    "not_utf8": summed(body(position=[('"?"', "1")]).encode().replace(b"?", b"\xff")),
    "short_crc": summed(body(files=[('"a"', '{"bytes": 1, "crc64": "12"}')])),
    "upper_crc": summed(body(files=[('"a"', '{"bytes": 1, "crc64": "0123456789ABCDEF"}')])),
    "negative_bytes": summed(body(files=[('"a"', '{"bytes": -1, "crc64": "0123456789abcdef"}')])),
    "other_order": summed(body().replace('"step"', '"x"').replace('"seed"', '"step"').replace('"x"', '"seed"')),
})

corpus_models.write()
corpus_shards.write(crc64)
