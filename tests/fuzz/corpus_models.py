"""The part of corpus.py that is of models' folders: configurations and tokenizers."""
import base64
import json
import pathlib
import struct

from corpus_files import put

TOKENIZERS = pathlib.Path(__file__).parent.parent / "text" / "tokenizers"


def map_of(replacements):
    """A map of characters as SentencePiece compiles it, of strings of one byte: blocks of 256 units, the first for what begins a string, then one for each end."""
    units, texts = [0] * 256 * (len(replacements) + 2), b""
    units[0] = 256 << 10
    for k, (byte, to) in enumerate(replacements.items()):
        here, end = 256 ^ byte, 256 * (k + 2)
        units[here] = byte | 1 << 8 | (here ^ end) << 10
        units[end] = 1 << 31 | len(texts)
        texts += to.encode() + b"\0"
    return struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + texts


def behind(text, content):  # a text whose length is a byte, and what it is read with
    return bytes([len(text.encode())]) + text.encode() + content


def write():
    # ---- a model's configuration -----------------------------------------------------------------------------------------

    bert = {"hidden_act": "gelu", "hidden_size": 384, "intermediate_size": 1536, "layer_norm_eps": 1e-12, "max_position_embeddings": 512, "model_type": "bert",
            "num_attention_heads": 12, "num_hidden_layers": 6, "position_embedding_type": "absolute", "type_vocab_size": 2, "vocab_size": 30522}
    put("model_config", {name: text if isinstance(text, str) else json.dumps(text) for name, text in {
        "bert": bert, "heads": {**bert, "num_attention_heads": 6}, "huge": {**bert, "hidden_size": 2**70}, "negative": {**bert, "num_hidden_layers": -1},
        "fraction": {**bert, "hidden_size": 384.0}, "a_text": {**bert, "hidden_size": "384"}, "a_list": {**bert, "vocab_size": [1]},
        "no_epsilon": {**bert, "layer_norm_eps": 0}, "epsilon": {**bert, "layer_norm_eps": 1e-5}, "small_epsilon": {**bert, "layer_norm_eps": 1e-300},
        "activation": {**bert, "hidden_act": "relu"}, "null": {**bert, "position_embedding_type": None}, "decoder": {**bert, "is_decoder": True},
        "distilbert": {"activation": "gelu", "dim": 384, "hidden_dim": 1536, "max_position_embeddings": 512, "model_type": "distilbert", "n_heads": 12, "n_layers": 6,
                       "vocab_size": 30522},
        "empty": "", "an_empty_object": "{}", "a_number": "3", "deep": "[" * 2000, "beyond_f64": '{"layer_norm_eps": 1e7300}', "cut": "{\"a\": ", "bytes": "{\"\x80\": 1}", "control": "{\"model_type\": \"\\u0007\"}",
    }.items()})


    # ---- byte pairs ------------------------------------------------------------------------------------------------------

    put("byte_pairs", {name: "\0".join(parts) for name, parts in {
        "merges": ('{"a": 0}', "h e\nhe l\nl o\nhel lo\n\u0120 w\n", "hello world, hello"), "version": ("{}", "#version: 0.2\na b\n", "ab abab"), "blank": ("", "", " \n\n x  "),
        "contractions": ("", "' s\n' l\n'l l\n", "it's we'll 'S don't"), "long": ("", "a a\naa aa\naaaa aaaa\n", "a" * 200), "three": ("", "a b c\n", "abc"),
        "no_space": ("", "ab\n", "ab"), "unknown": ('{"a": 1, "b": 1}', "x y\n", "x"), "negative": ('{"a": -1}', "", ""), "text": ('{"a": "0"}', "", ""), "list": ("[1]", "", ""),
        "huge": ('{"a": 18446744073709551615}', "", ""), "letters": ("", "\u00c3 \u00a9\n", "\u00e9t\u00e9 \u4e2d\u6587 12\u00bd"), "same_twice": ("", "a b\na b\nb a\n", "abab")}.items()})


    # ---- tokenizer.json --------------------------------------------------------------------------------------------------

    word_pieces = {"added_tokens": [{"id": 0, "content": "[UNK]", "special": True, "normalized": False}, {"id": 3, "content": "ab", "single_word": True, "lstrip": True, "rstrip": True}],
                   "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
                   "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": {"type": "BertProcessing", "sep": ["[UNK]", 0], "cls": ["a", 1]},
                   "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1, "##b": 2}}}
    templates = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                 "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": {"x": {"id": "x", "ids": [1, 2], "tokens": ["a", "b"]}}}
    small_map = base64.b64encode(map_of({0x61: "b c", 0x09: " "})).decode()
    learned = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["\u2581", -2], ["\u2581a", -1], ["b", -3.5], ["ab", -1.5], ["<0x41>", -9]], "byte_fallback": False}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    strip, runs = {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    pieces = {"model": learned, "normalizer": {"type": "Sequence", "normalizers": [{"type": "Precompiled", "precompiled_charsmap": small_map}, strip, runs]},
              "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
              "added_tokens": [{"id": 9, "content": "[M]", "lstrip": True, "normalized": True}, {"id": 0, "content": "<unk>", "normalized": False}]}
    put("tokenizer", {name: (text if isinstance(text, str) else json.dumps(text)) + "\0" + given for name, (text, given) in {
        "words": (word_pieces, "a ab abb [UNK] c"), "templates": ({**word_pieces, "post_processor": templates}, "ab ab"), "no_template": ({**word_pieces, "post_processor": None}, "a"),
        "unigram": ({"model": {"type": "Unigram"}}, ""), "lacks_unk": ({**word_pieces, "model": {"type": "WordPiece", "vocab": {"a": 0}}}, "a"),
        "bytes": ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}}, "a"), "empty": ("", ""), "object": ("{}", ""),
        "sequence": ({**word_pieces, "post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel"}, templates]}}, "a"),
        "cased": ({**word_pieces, "normalizer": {"type": "BertNormalizer", "lowercase": False, "clean_text": False, "handle_chinese_chars": False}}, "A \u00c1 \u4e2d\u0001"),
        "pieces": (pieces, "ab  a\tb [M] \u00e9<unk>"), "first": ({**pieces, "pre_tokenizer": {**metaspace, "prepend_scheme": "first", "split": False}}, "  ab b"),
        "older": ({**pieces, "pre_tokenizer": {"type": "Metaspace", "replacement": "_", "add_prefix_space": False}}, "a b"),
        "replaced": ({**pieces, "normalizer": {"type": "Replace", "pattern": {"String": "b"}, "content": "ab"}}, "ab b"), "no_splits": ({"model": learned}, "abA"),
        "lowered": ({**pieces, "normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "Prepend", "prepend": "a"}]}}, "AB \u0130"),
        "normal_forms": ({**pieces, "normalizer": {"type": "Sequence", "normalizers": [{"type": n} for n in ("Nmt", "NFD", "NFKC", "StripAccents", "NFKD", "NFC")]}},
                         "e\u0301\u0323 \ufb01 \uac01 \u0f73\u0f71 \u200ba"),
        "changed_words": ({**word_pieces, "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Prepend", "prepend": "a "}]}}, "\uff41b AB"),
        "decoders": ({**pieces, "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Metaspace", "replacement": "b"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 2}, {"type": "BPEDecoder", "suffix": "a"}]}}, "ab b"),
        "joined": ({**word_pieces, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}}, "ab a abb"),
        "other_decoder": ({**word_pieces, "decoder": {"type": "CTC"}}, "a"),
        "no_unk_id": ({"model": {**learned, "unk_id": None}}, "a"), "bytes_of_unknown": ({"model": {**learned, "byte_fallback": True}}, "A"),
        "nested": ({**pieces, "normalizer": {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": [strip]}]}}, " a "),
        "roberta": ({**word_pieces, "post_processor": {"type": "RobertaProcessing", "sep": ["a", 1], "cls": ["[UNK]", 0]}}, "a a")}.items()})

    # ---- files of SentencePiece, and their maps of characters ---------------------------------------------------------------

    models = {p.stem: p.read_bytes() for p in sorted(TOKENIZERS.glob("*.model"))}
    texts = "Hello, the tokens <word>  \ufb01x e\u0301 \U0001f600"
    put("sentencepiece", {**{name: behind(texts, model) for name, model in models.items()}, "empty": b"", "no_pieces": b"\0", "cut": behind(texts, models["plain"][:300]),
                          "broken_text": b"\x04\xff\xe2\x96 " + models["as_is"], "word": behind("a", b"\x0a\x03\x0a\x01a\x12\x02\x18\x03")})
    put("charsmap", {"letters": behind("a\tab e\u0301", map_of({0x61: "", 0x09: " ", 0x62: "\u00e9\u00e9"})), "first_byte": behind("\u00e9\u00e8 \u00e9\u0301", map_of({0xC3: "x"})),
                     "clusters": behind("a\u0301\r\n\u1100\u1161\u0915\u094d\u0937\U0001f468\u200d\U0001f469", map_of({0x61: "b", 0x0D: "", 0xE1: "k"})),
                     "empty": b"", "cut": behind("a", map_of({0x61: "b"})[:900]), "no_end": behind("a", map_of({0x61: "b"})[:-1]),
                     "huge": behind("a", b"\xff\xff\xff\xff"), "no_root": behind("a", struct.pack("<256I", 1024, *[2**32 - 1] * 255) + b"\xff\xff\xff\xff\0")})
