// Written by parts_reference.py, with version 0.23.3 of the package tokenizers.
#pragma once

#include <cstdint>

namespace parts_reference {

inline constexpr char const* parts[] = {"Hello", " the", "texts", ", ", ".", " .", "12", "\012", " ", "  ", "'", " 's", "n't", "``", "''", "\342\226\201", "word", "W\303\266rd", "[MASK]", "<mask>", "<s>", "\303\251", "e\314\201", "\341\273\207", "e\314\243\314\202", "e\314\202\314\243", "\315\204", "\315\205\314\201", "\340\275\263\340\275\261", "\340\276\201\340\275\264", "\341\204\200\341\205\241\341\206\250", "\341\204\200\341\205\241", "\352\260\200\341\206\250", "\352\260\201", "\341\206\247", "\340\267\231\340\267\217\340\267\212", "\340\245\230", "\340\244\225\340\244\274", "\340\247\207\340\246\276", "\342\204\246", "\342\204\253", "\357\244\200", "\357\254\201", "\357\267\272", "\357\267\273\314\201", "\357\274\241", "\357\275\266\357\276\236", "\302\275", "\342\221\240", "\360\235\220\200", "\360\235\205\240", "\360\235\205\236\360\235\205\256", "\304\260", "\302\250", "\341\277\256", "\001", "\177", "\342\200\213", "\342\200\250", "\357\273\277", "\357\277\275", "\360\237\230\200", "\360\237\221\250\342\200\215\360\237\221\251", "\360\237\207\251\360\237\207\252", "\360\237\221\215\360\237\217\275", "\342\235\244\357\270\217", "\340\270\263", "\340\270\201\340\270\263\340\271\210", "\343\200\200", "\302\240", "\302\255", "\314\200", "\326\221", "\343\200\252", "\360\236\245\204\360\236\245\212"};
inline constexpr int block = 32768, texts = 200;

// Of each block of code points, those that a normalizer changes between two letters.
struct point_sums {
  char const* normalizer;
  std::uint32_t of_blocks[34];
};
inline constexpr point_sums points[] = {
    {R"({"type": "NFC"})",
     {0xd66fcc17, 0x56375394, 0x811c9dc5, 0x731b1594, 0x811c9dc5, 0xc7b1e092, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5}},
    {R"({"type": "NFD"})",
     {0x58b4df45, 0xe4e286cd, 0xbac0bfc9, 0x731b1594, 0x811c9dc5, 0xc7b1e092, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5}},
    {R"({"type": "NFKC"})",
     {0xf8266bd7, 0xb0e9358d, 0x811c9dc5, 0xac680f11, 0x811c9dc5, 0xc7b1e092, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5}},
    {R"({"type": "NFKD"})",
     {0xc7037ba8, 0x7c37d49a, 0xbac0bfc9, 0x4c9850ca, 0x811c9dc5, 0xc7b1e092, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5}},
    {R"({"type": "Nmt"})",
     {0x9ac05fb5, 0x53c7421c, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5}},
    {R"({"type": "StripAccents"})",
     {0x9d9f5c37, 0x20b233d0, 0x1101cc33, 0xb309d3d5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0xc909a4b9, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5}},
    {R"({"type": "Lowercase"})",
     {0xd01596f6, 0x48f0a396, 0x65d1350d, 0xce98056d, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5,
      0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5, 0x811c9dc5}},
};

// Of each group of drawn texts and ids. patch: what takes the place of a file's own parts.
struct case_sums {
  char const *file, *patch;
  std::uint32_t of_groups[10];
};
inline constexpr case_sums cases[] = {
    {"uncased",
     R"json({"normalizer": null, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}, "added_tokens": [{"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 4, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}]})json",
     {0x944175d0, 0x9d1b5226, 0x8345bcd3, 0xe8220260, 0x52041ff3, 0xcfc86c19, 0x11e774d3, 0x3c8b71a7, 0x6cf090b7, 0xcdd56539}},
    {"uncased",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true}]}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false}, "added_tokens": [{"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 4, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}]})json",
     {0x71181b55, 0xb713faaa, 0x93084b52, 0x534852b5, 0x4c708b52, 0xa9c49d32, 0x193024d4, 0x3f168f65, 0x2f6ac533, 0x5da26760}},
    {"uncased",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}]}, "decoder": null, "added_tokens": [{"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 4, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 142, "content": "W\u00f6rd", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}, {"id": 143, "content": "\u00e9", "single_word": false, "lstrip": true, "rstrip": false, "normalized": true, "special": false}, {"id": 144, "content": "\ufdfa", "single_word": false, "lstrip": false, "rstrip": true, "normalized": true, "special": false}]})json",
     {0x1484306e, 0x9d39d8ce, 0xb590acfe, 0xd89a9612, 0x0221ea7f, 0x6858df8e, 0x26f0c95c, 0xe830312e, 0xf922c638, 0xa2d931c5}},
    {"cased",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFC"}, {"type": "Strip", "strip_left": true, "strip_right": true}, {"type": "Replace", "pattern": {"String": "``"}, "content": "\""}, {"type": "Prepend", "prepend": "the "}]}, "decoder": {"type": "BPEDecoder", "suffix": "s"}, "added_tokens": [{"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 4, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 150, "content": "text ", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}]})json",
     {0x9ca0a372, 0xec53d4a5, 0x339539bd, 0xeb75a55e, 0x0e5d0987, 0xdfd7b378, 0x6f7b6f18, 0x0af56153, 0x0637cdf5, 0x9e398e2e}},
    {"cased",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "Sequence", "normalizers": [{"type": "StripAccents"}]}]}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}, "added_tokens": [{"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 4, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 150, "content": " do not", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}, {"id": 151, "content": "word .", "single_word": true, "lstrip": false, "rstrip": false, "normalized": true, "special": false}]})json",
     {0x72c2e805, 0x33301cb2, 0x7a1aecfb, 0x4d92b62a, 0xf22a5ba9, 0x60fc5385, 0xdc06ccad, 0xe3d90e60, 0x97e03c1e, 0xc4b8f545}},
    {"gpt2",
     R"json({"normalizer": {"type": "NFC"}, "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}, "added_tokens": [{"id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "<pad>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}]})json",
     {0x63d62a44, 0x7fd8a70e, 0x33020c28, 0x493fc713, 0xabd87d2e, 0x3b6581ea, 0x265653c1, 0x0f18d696, 0x9309c176, 0xc3460436}},
    {"gpt2",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]}, "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}, "added_tokens": [{"id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "<pad>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 330, "content": "W\u00f6rd", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}, {"id": 331, "content": "\u00e9t\u00e9", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}]})json",
     {0xdedb129c, 0x1d4fb4d5, 0x008210e1, 0x204ef772, 0xa6dbcdf4, 0x159629b3, 0x6ec85c48, 0xe2ef2c20, 0x22d7ae27, 0xaadcc436}},
    {"gpt2",
     R"json({"normalizer": null, "decoder": null, "added_tokens": [{"id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "<pad>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 330, "content": "\u4e2d", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}]})json",
     {0xf4b44228, 0xe8311b45, 0x445658fb, 0x128e8fdc, 0x89d6bd72, 0x6ced9106, 0x8cff5c1c, 0x64e4d863, 0x9887c5d5, 0x68652d9b}},
    {"roberta",
     R"json({"normalizer": {"type": "NFKC"}, "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}, "added_tokens": [{"id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "<pad>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 329, "content": "wor", "single_word": false, "lstrip": false, "rstrip": true, "normalized": false, "special": false}, {"id": 330, "content": "<mask>", "single_word": false, "lstrip": true, "rstrip": false, "normalized": false, "special": true}, {"id": 331, "content": "word", "single_word": true, "lstrip": false, "rstrip": false, "normalized": false, "special": false}, {"id": 332, "content": "W\u00f6rd", "single_word": false, "lstrip": true, "rstrip": false, "normalized": true, "special": false}, {"id": 333, "content": "\uff21", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}, {"id": 334, "content": " ", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}]})json",
     {0xfb78379e, 0xfe4dce2f, 0xd2485eec, 0x64cd73a4, 0x26eba47d, 0xe041b9ef, 0x26073ce8, 0x298b154e, 0x0282b207, 0xbe94bf65}},
    {"roberta",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFD"}]}, "decoder": {"type": "Sequence", "decoders": [{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}, {"type": "Replace", "pattern": {"String": "e"}, "content": "E"}, {"type": "Strip", "content": "T", "start": 2, "stop": 0}]}, "added_tokens": [{"id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 1, "content": "<pad>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 168, "content": "\u00e9", "single_word": false, "lstrip": false, "rstrip": true, "normalized": true, "special": false}, {"id": 329, "content": "wor", "single_word": false, "lstrip": false, "rstrip": true, "normalized": false, "special": false}, {"id": 330, "content": "<mask>", "single_word": false, "lstrip": true, "rstrip": false, "normalized": false, "special": true}, {"id": 331, "content": "word", "single_word": true, "lstrip": false, "rstrip": false, "normalized": false, "special": false}]})json",
     {0x12f1e197, 0x3bf94192, 0x8b26339f, 0xc416d3ce, 0xba497d56, 0x2ee43c46, 0x919c7153, 0x09315e0c, 0x86f387e9, 0x449f6227}},
    {"t5",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": "``"}, "content": "\""}, {"type": "Replace", "pattern": {"String": "''"}, "content": "\""}, {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]}, "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": true}, "added_tokens": [{"id": 0, "content": "<unk>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 67, "content": "<extra_id_0>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 68, "content": "W\u00f6rd", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}, {"id": 69, "content": "\u2581x", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}]})json",
     {0x9c694852, 0x02fbc0bd, 0x728664e8, 0x1da12a54, 0x575c24b0, 0x7b80e736, 0xc6337e8a, 0x6933e393, 0x3d617ba8, 0x12718858}},
    {"xlm_r",
     R"json({"normalizer": {"type": "NFC"}, "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": true}, "added_tokens": [{"id": 1, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 67, "content": "<mask>", "single_word": false, "lstrip": true, "rstrip": false, "normalized": true, "special": true}]})json",
     {0x5ac7ae90, 0x7aa38347, 0x2cb56090, 0xd1581f21, 0xa5b372b8, 0xe80cd186, 0xb0f2db2f, 0x81a38c99, 0x05b72a95, 0x90a710a0}},
    {"t5_first",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}, "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": true}, "added_tokens": [{"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 67, "content": "<extra_id_0>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 68, "content": "W\u00f6rd", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}]})json",
     {0x67ffdc9c, 0xf358fe07, 0xfa218a97, 0x465e63a2, 0x8b0c0740, 0x1f7d8f63, 0x9b08540e, 0x6e2cec48, 0xed03b835, 0x0a7db995}},
    {"strip_first",
     R"json({"normalizer": {"type": "StripAccents"}, "decoder": {"type": "Sequence", "decoders": [{"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": true}, {"type": "Fuse"}]}, "added_tokens": []})json",
     {0x53c93a38, 0xef0da955, 0xd9cc01af, 0xbacf0285, 0x489876b5, 0x31acbd92, 0xaad01090, 0xba7eaa40, 0xe2411de9, 0xc897374b}},
    {"strip_first",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Nmt"}, {"type": "StripAccents"}]}, "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "add_prefix_space": false}, "added_tokens": []})json",
     {0xbe6ada86, 0x7c979ed4, 0x508298db, 0xefdef99e, 0x01e7771e, 0x284729f9, 0xc3ce8819, 0xd691b295, 0x7c6df955, 0x201d727c}},
    {"fallback",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}, "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}, "added_tokens": [{"id": 323, "content": "Word", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}, {"id": 324, "content": "<0x+7>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}, {"id": 325, "content": "<0xg0>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}]})json",
     {0xd26bb7aa, 0xbac953ee, 0xe0e1eb94, 0xa55ff8c0, 0x2a859806, 0xd9bbeee0, 0xbdc2e515, 0xaed3e822, 0x9b018a56, 0xc29c1d1b}},
    {"deberta",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Strip", "strip_left": true, "strip_right": true}, {"type": "NFKD"}]}, "decoder": {"type": "Strip", "content": "s", "start": 0, "stop": 1}, "added_tokens": [{"id": 67, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}, {"id": 68, "content": "Word", "single_word": true, "lstrip": false, "rstrip": false, "normalized": true, "special": false}, {"id": 69, "content": "\uff21", "single_word": false, "lstrip": false, "rstrip": true, "normalized": true, "special": false}]})json",
     {0xf4edcbcf, 0x3fe6ccc9, 0xa26595e9, 0x986906b2, 0xe0f2fb11, 0xd6c86f7b, 0x9035886e, 0x825ae1e4, 0x01632c2e, 0xb389231a}},
    {"bare",
     R"json({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}, {"type": "NFD"}]}, "decoder": {"type": "Sequence", "decoders": []}, "added_tokens": []})json",
     {0x40d2bead, 0x1be05ba8, 0x8e94b5ce, 0x7ccb6c01, 0x828bedf0, 0xaa4fc87b, 0x8b4df860, 0xeeed01b9, 0x7e4b5822, 0x81786b9b}},
};

}  // namespace parts_reference
