// Written by sentencepiece_reference.py, with version 0.2.3 of the package sentencepiece.
#pragma once

#include <cstdint>

namespace sentencepiece_reference {

inline constexpr char const* parts[] = {"Hello", " the", "texts", ", ", ".", "12", "\012", " ", "  ", "\303\251", "\344\270\255", "'s", "<s>", "</s>", "<unk>", "<0x41>", "<word>", " <word> ", "\342\226\201", "\342\226\201\342\226\201", "e\314\201", "\357\254\201", "\357\254\201x", "\001", "\315\204", "\341\204\200\341\205\241\341\206\250", "\340\244\225\340\245\215", "\360\237\230\200", "\302\251", "\357\274\241", "\357\275\266\357\276\236", "\343\200\200", "\015\012", "ab\314\201", "\302\250", "tokens", "learn", "ing"};
inline constexpr char const* bytes[] = {"\377", "\303", "\342\226", "\355\240\200", "\360\237\230", "\200"};
inline constexpr int texts = 500;

struct model_sums {
  char const* name;
  std::uint32_t of_groups[20];
};
inline constexpr model_sums all[] = {
    {"plain",
     {0x5d2eeca3, 0xd4f80b9b, 0xe5d4d901, 0x34714d0c, 0x9b85658a, 0xd63fd378, 0x9ff9ec5b, 0x214c7a53, 0xced470da, 0x2a05e01b,
      0x5360e1d9, 0xc641bdd3, 0xd225faa8, 0x6275ae25, 0x55be2ee1, 0xc1ac4720, 0xd1b48a57, 0x06a11d3e, 0x68bf78b6, 0xd80a7410}},
    {"bytes",
     {0xdbc23b02, 0x5ff253ce, 0x79e61635, 0x18701197, 0x585fc675, 0xb60594ba, 0x993b94b3, 0xcf55c5c8, 0x2173c25e, 0x93453aeb,
      0xe684f461, 0x43dd63db, 0x398c12dd, 0xcb89d95b, 0xf42ba9bc, 0xe61f7436, 0xef949073, 0xa372bd5c, 0x4bd7bd1f, 0x48be2834}},
    {"as_is",
     {0x08388f28, 0xa295d060, 0xceb20264, 0xa159e5e0, 0xbbdac64f, 0x261d6214, 0x5dfbe474, 0xc3aa673f, 0x66a1e23d, 0xed5ca4cd,
      0x6e30a3c2, 0x59a71d4b, 0xc6c5498f, 0xf3f4b45a, 0xf50e9d88, 0x2ed81f11, 0x60b822ff, 0xa5c2e19e, 0x3ec3a3c9, 0xac1ca06a}},
    {"behind",
     {0xd3a33260, 0xbe3bc955, 0x965d314d, 0x10e87fb1, 0xe532a4fa, 0x191629e3, 0xccb3cbe8, 0x34501d57, 0x691ac83e, 0xc0ae7479,
      0x243fe0b4, 0x9cbe1efb, 0xca315977, 0x98027581, 0x45c41431, 0xb55790b0, 0x205127eb, 0x1991a230, 0xdff8807d, 0x9529147a}},
    {"unused",
     {0x81683cae, 0x85c34d1d, 0xf510bfc5, 0x13cbceaa, 0xa5617d43, 0xb1c32903, 0xcdc42ee5, 0x4f799bb1, 0xb45d24a5, 0xf5de9eaf,
      0x55ccf8f6, 0xdd3143f4, 0x5a18892d, 0x5595a5a2, 0x2597f3af, 0x4ad18b74, 0xdefc5a4e, 0x4143aff3, 0x78255280, 0x148a01ba}},
    {"spaces",
     {0xdd8f9fc0, 0x44976537, 0xc37fad86, 0xeb44674e, 0xa798e814, 0x9904f2f6, 0xc7573ebb, 0x94e13aa6, 0x784c75fa, 0x696323fa,
      0x8818cc08, 0x1e8b224d, 0x3bd43def, 0xe2328a80, 0xdab66c93, 0x32aa4d5b, 0x315274c2, 0x53ed52c1, 0x28975565, 0x76b0dd7c}},
    {"joined",
     {0x2457457d, 0xc78373cb, 0x388aff88, 0xc74c6c9c, 0x1dd62a8b, 0x6719913e, 0x1cade0f6, 0x0f86cd24, 0x111d6f28, 0xd1b2c2e1,
      0x7d4c1fb6, 0x773a18c5, 0x8847b5d4, 0xe89252ae, 0xdf799d09, 0xa00f4616, 0x7e380761, 0x2de9e974, 0xf2972cdf, 0x7ffd72d8}},
};

}  // namespace sentencepiece_reference
