"""The part of corpus.py that is of shards of token ids."""
import struct

from corpus_files import put

MAGIC = b"tx ids\r\n"


def shard(crc64, texts, documents, id_bytes=2, vocabulary=30, magic=MAGIC, order=0x0A0B0C0D, version=1, number=0, last=1, before=0, nothing=0, longest=None,
          ids=None, text_count=None, document_count=None):
    """texts: lists of ids; documents: how many texts there are up to the end of each. What else is named replaces what would be right."""
    flat = [i for t in texts for i in t]
    ends, end = [], 0
    for t in texts:
        end += len(t)
        ends.append(end)
    of_ids = struct.pack("<%d%s" % (len(flat), "H" if id_bytes == 2 else "I"), *flat)
    index = bytes(-len(of_ids) % 4) + struct.pack("<%dI" % (len(ends) + len(documents)), *ends, *documents)
    head = magic + struct.pack("<6I5Q2I2Q", order, version, id_bytes, vocabulary, number, last, 7, before, len(flat) if ids is None else ids,
                               len(texts) if text_count is None else text_count, len(documents) if document_count is None else document_count,
                               max(map(len, texts), default=0) if longest is None else longest, nothing, crc64(of_ids), crc64(index))
    return head + struct.pack("<Q", crc64(head)) + of_ids + index


def write(crc64):
    some, ends = [[1, 2, 3], [4], [29, 0]], [2, 3]
    of = lambda texts=some, documents=ends, **other: shard(crc64, texts, documents, **other)
    right = of()
    put("token_shard", {
        "right": right,
        "four_bytes": of([[65536, 1], [2]], [1, 2], id_bytes=4, vocabulary=70000),
        "odd_ids": of([[1, 2, 3]], [1]),
        "empty": of([], []),
        "later": of(number=3, last=0, before=5),
        "id_beyond": of([[30]], [1]),
        "no_vocabulary": of(vocabulary=0),
        "large_vocabulary": of(vocabulary=2**32 - 1),
        "other_magic": of(magic=b"tx ids\n\n"),
        "other_order": of(order=0x0D0C0B0A),
        "other_version": of(version=2),
        "ids_of_3": of(id_bytes=3),
        "last_2": of(last=2),
        "something": of(nothing=1),
        "longest": of(longest=4),
        "empty_text": of([[1], [], [2]], [3]),
        "empty_document": of(documents=[2, 2, 3]),
        "text_in_no_document": of(documents=[2]),
        "document_beyond": of(documents=[2, 4]),
        "documents_backwards": of(documents=[3, 2]),
        "more_ids": of(ids=7),
        "ids_of_64_bits": of(ids=2**64 - 1),
        "texts_that_wrap": of(text_count=2**62 + 3),
        "documents_for_texts": of(text_count=2, document_count=3),
        "cut_in_header": right[:60],
        "cut_in_ids": right[:108],
        "cut_in_index": right[:-1],
        "more_behind": right + b"\0",
        "wrong_header_sum": right[:96] + bytes(8) + right[104:],
        "wrong_ids": right[:104] + b"\2" + right[105:],
        "wrong_index": right[:-4] + b"\4" + right[-3:],
        "nothing": b"",
    })
