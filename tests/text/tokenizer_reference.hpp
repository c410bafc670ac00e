// Written by tokenizer_reference.py, with version 0.23.3 of the package tokenizers.
#pragma once

#include <tx/text/truncation.hpp>

#include <cstdint>
#include <utility>

namespace tokenizer_reference {

inline constexpr char const* parts[] = {"[MASK]", "[CLS]", " [SEP]", "[mask]", "<mask>", " <mask> ", "\011<mask>", "\302\240<mask>", "<s>", "</s>", "word", "words", "sword", "wor ", "_word", "\314\201word", "Hello", " the", "texts", ", ", ".", "12", "\012", " ", "\303\251", "\344\270\255", "  ", "'s", "   ", "\342\226\201", "<extra_id_0>", "Word", "e\314\201", "\357\254\201", "\357\254\201\314\201", "\001", "\342\200\215", "\315\204\314\201", "\341\204\200\341\205\241\341\206\250", "\341\204\200\341\205\241", "\352\260\200\314\201", "\340\244\225\340\245\215", "\340\244\225\340\245\215\340\244\267", "\340\244\267\314\210", "\360\237\221\250\342\200\215\360\237\221\251", "\360\237\230\200", "\360\237\207\251\360\237\207\252", "\302\251", "\302\251\342\200\215", "\360\237\217\275", "\330\200", "\357\274\241", "\357\275\266\357\276\236", "\340\270\263", "\015\012", "\343\200\200", "ab\314\201", "\304\260", "\360\236\245\211\315\205\341\255\204", "\341\265\254\314\243\360\235\205\245", "\357\270\217", "\302\275"};
inline constexpr std::pair<int, tx::text::truncation> cuts[] = {{0, tx::text::truncation::longest_first}, {9, tx::text::truncation::longest_first}, {12, tx::text::truncation::longest_first}, {17, tx::text::truncation::only_first}, {16, tx::text::truncation::only_second}};
inline constexpr int texts = 300;

struct tokenizer_sums {
  char const* name;
  std::uint32_t of_groups[20];
};
inline constexpr tokenizer_sums all[] = {
    {"uncased",
     {0xd46d00eb, 0xf01fc47f, 0x3a200b10, 0xee3eb70f, 0xab3890d9, 0xe566d8b7, 0xac1f4eff, 0xb53a1b28, 0x7edbb776, 0xb4685138,
      0xca6ca7d6, 0x133eb65d, 0x4063a899, 0xb5e73c74, 0xb31e62d1, 0xc4b08dea, 0x842e8560, 0xab6a5c33, 0x1c826821, 0x80c22dfe}},
    {"cased",
     {0x9709961e, 0x6cc214ce, 0xb38e3984, 0x6ef97c50, 0x53b2e947, 0x3ae2e5de, 0x719a8e76, 0x78223713, 0xcbaecd98, 0x2ae8aec5,
      0xf4a6c873, 0xf82e60a2, 0x22af3c6c, 0xc1bb9a47, 0x26e12d23, 0xb5918757, 0xfab16a5e, 0x8f54e2bc, 0x6511e649, 0x029c253b}},
    {"roberta",
     {0xe6658180, 0x370f7a04, 0x4f8c1998, 0x6c481e30, 0xfd132167, 0x7d767780, 0xd1dff41c, 0x741242f8, 0x6de2a556, 0x9d3f9fda,
      0x94bc1ad3, 0x6242cb8f, 0x9c2e5eac, 0x65fa6721, 0x123595eb, 0x207b00f5, 0xf3b4cc41, 0x571f35e2, 0x5291b1b1, 0x7786e229}},
    {"gpt2",
     {0x30863aff, 0xbccc8af6, 0x60aee8d3, 0x11d66d50, 0x8d8767f0, 0x288e5ade, 0xf1776ab3, 0x1b2721e7, 0x29a51ab5, 0x2f74daf5,
      0x6f84756f, 0x64a1af06, 0x87e6280b, 0xe78cdaf0, 0x8baca53e, 0x7454710e, 0xd342531d, 0x9231d12e, 0xb7cce29d, 0xf9dc324c}},
    {"t5",
     {0xcf780f58, 0x1d20bb81, 0x12553852, 0x731fd7a8, 0x50d6f2c8, 0xadeeb27b, 0xac9a0a5b, 0x21caa961, 0x94c2ffe0, 0x15c9c073,
      0x60f179c0, 0x0a6fdc2e, 0xaac3eb35, 0x0d6babe8, 0x4b6cf534, 0x9e9dc27a, 0x67e6802d, 0x06096545, 0x9682c9bb, 0x41f88914}},
    {"t5_first",
     {0x65d5cb55, 0xa04e3475, 0x303d333e, 0xa340fe2e, 0x895857e6, 0x31942de6, 0xe58bcb39, 0xb2545086, 0x0e3a7d4a, 0x53080693,
      0x1c090537, 0x0730d328, 0xf9da6f9b, 0xabdd1d40, 0x5d5c5cda, 0x559b9d2f, 0x3e3a5036, 0x137df34d, 0xc0366177, 0x2b2a4d54}},
    {"xlm_r",
     {0x8287d7c6, 0x5858ed33, 0xaac0e50f, 0xb4c1ab54, 0x4375a095, 0x2127fe48, 0x8c2d2b3a, 0x8d875388, 0x0e150f25, 0x31818197,
      0xfb356e6f, 0xd5cc859b, 0xa2eec631, 0xf029e2c4, 0x0920e2eb, 0x5558ea39, 0x61cd7091, 0x551710de, 0x37fc8ea4, 0x0c7a5912}},
    {"deberta",
     {0x322da360, 0xed0e21e4, 0xa2858c68, 0x107dfca6, 0x9a6bc38d, 0x956bc7d2, 0xd887ee27, 0x05298721, 0xe8ae77b6, 0xe8320bdd,
      0x528c8d63, 0x26bbbab3, 0x924cbd2c, 0x1de532a4, 0x54b779f9, 0xa6a4e7e7, 0x811dcb1b, 0x9ec878a5, 0xcf256267, 0x98fc1620}},
    {"fallback",
     {0x742e6801, 0xa6116154, 0xa88f1a2b, 0x78f11d3b, 0x078ca209, 0xd6f2109d, 0xb46ee14b, 0x59067620, 0xc8adfaae, 0xac38317a,
      0x89b42808, 0xc73e56b0, 0x8632ea49, 0xa25ec3c1, 0x072d3dd7, 0x2e254aa6, 0xb44c5c3d, 0x0220dae1, 0x33ecddb2, 0x20a0b542}},
    {"first_behind",
     {0x19c6e9e4, 0x2a47cacf, 0x42e7623f, 0x93673812, 0x30551147, 0x421e8b5a, 0xbf787e20, 0xea309b84, 0x917a1ced, 0x1bc13c2b,
      0x21d74af7, 0xbda8b4de, 0x1468f734, 0xf2bb6ca3, 0x3784ffab, 0x0fa1af2b, 0xeef8ee93, 0xa883ed6c, 0x0fa6f993, 0x2d85690f}},
    {"strip_first",
     {0x689de7bd, 0x0efd4f84, 0xe8a84f69, 0x5a43254a, 0xc8a32d96, 0xae2a5c08, 0x4515e342, 0x24f15430, 0x70d81ad3, 0x4eb49a5f,
      0x4718aacf, 0x4bd2cb22, 0xfc75c73d, 0xf9c2b3fc, 0x71f37b43, 0x7c91c81b, 0x6424bac4, 0xc991c3b8, 0xedb8bb9b, 0xcafe5a37}},
    {"bare",
     {0x952255b0, 0x8b2b7b3e, 0x1cfd58b8, 0x7a4398ee, 0x2e046ae6, 0x19fd7375, 0xf1b3e48b, 0xd1e5fed5, 0x090680a9, 0x61341d38,
      0x9844d7b4, 0x4081a9f7, 0x222aebc7, 0xcd0db442, 0xff3d7efc, 0xcf711f69, 0xbb291915, 0x81cb041c, 0x526073b6, 0xfbf5f8eb}},
};

}  // namespace tokenizer_reference
