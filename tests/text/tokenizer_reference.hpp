// Written by tokenizer_reference.py, with version 0.23.3 of the package tokenizers.
#pragma once

#include <tx/text/truncation.hpp>

#include <cstdint>
#include <utility>

namespace tokenizer_reference {

inline constexpr char const* parts[] = {"[MASK]", "[CLS]", " [SEP]", "[mask]", "<mask>", " <mask> ", "\t<mask>", "\u00a0<mask>", "<s>", "</s>", "word", "words", "sword", "wor ", "_word", "\u0301word", "Hello", " the", "texts", ", ", ".", "12", "\n", " ", "\u00e9", "\u4e2d", "  ", "'s"};
inline constexpr std::pair<int, tx::text::truncation> cuts[] = {{0, tx::text::truncation::longest_first}, {9, tx::text::truncation::longest_first}, {12, tx::text::truncation::longest_first}, {17, tx::text::truncation::only_first}, {16, tx::text::truncation::only_second}};
inline constexpr int texts = 300;

struct tokenizer_sums {
  char const* name;
  std::uint32_t of_groups[20];
};
inline constexpr tokenizer_sums all[] = {
    {"uncased",
     {0xc6b61c01, 0xd110908a, 0x39ec0957, 0x47d9718c, 0x2778d90c, 0x6f24247c, 0x5fc347e0, 0xdf22d43f, 0xd0eff778, 0xbe2004a8,
      0x2399f479, 0x4395930d, 0x0977067c, 0x4229e017, 0x4a871540, 0x707d5dfa, 0xc2dee578, 0xc9aab478, 0x7d474e8f, 0x06382ffc}},
    {"cased",
     {0xaf73e6e1, 0x7bb8c0c3, 0xe19f319b, 0xd081afae, 0x1645b2d0, 0x68907ee5, 0x3d64bc8b, 0x0cdbd7e3, 0x46c91232, 0x96ae1cf4,
      0x0d30264e, 0xb821990d, 0x318ff53b, 0x6ceae29b, 0x4092e70d, 0x30b321aa, 0x779ef98f, 0x23d9ef88, 0xc28b7364, 0x211429ae}},
    {"roberta",
     {0xf10ea75b, 0x19f07f33, 0x97026a97, 0xa7f523c2, 0x4ab83531, 0xa39304c3, 0x5e6b1d62, 0xca207e2b, 0x4e8ab9e2, 0x104ac150,
      0xbf956e90, 0x2541db8c, 0xffab7280, 0x4cd4d69c, 0x004d3801, 0x7d15e08a, 0xebf01f67, 0x5b030670, 0x5acedab4, 0xe705b78f}},
    {"gpt2",
     {0x94a3dcc4, 0x0bc54938, 0x96d6315b, 0x9d22a198, 0xd9a67790, 0xa887d5fb, 0x399b3a8e, 0xa1a166dc, 0x1e4e0b91, 0xd2b475da,
      0x38bce40d, 0xca38dc8c, 0x0c34f3a3, 0x19ac9b83, 0x43f115b5, 0x9e687388, 0xbc4e64bb, 0x000fe546, 0xc421e2f1, 0x0dcb021e}},
};

}  // namespace tokenizer_reference
