// Written by parity/named_pieces.py, with version 4.57.6 of the package transformers and 0.2.3 of sentencepiece.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace named_pieces_reference {

inline constexpr char const* parts[] = {"Hello", " the", "texts", ", ", ".", "12", "\012", " ", "  ", "\303\251", "\344\270\255", "'s", "<s>", "</s>", "<unk>", "<pad>", "<mask>", " <mask> ", "\302\240<mask>", "\034<mask>\037", "<extra_id_0>", "<extra_id_1>", " <extra_id_99> ", "<extra_id_", "[CLS]", "[SEP]", " [MASK] ", "[PAD]", "[UNK]", "[cls]", "[MASK", "<MASK>", "<Word>", "<word>", "Foo", "foo", "fooBar", " Q", "<0x41>", "\342\226\201", "\342\226\201\342\226\201", "\342\226\201the", "e\314\201", "\357\254\201", "\357\254\201x", "\304\260", "\316\243", "A\316\243", "\343\200\200", "\001", "\360\237\230\200", "TOKENS", "tokens", "learn", "ing", "</s>", "\341\276\263", "\315\205", "\342\200\250"};
inline constexpr int texts = 200;

struct folder {
  char const *name, *model, *file;
  std::size_t size;  // ids are below it
  std::vector<std::pair<std::string, std::string>> files;
  std::uint32_t of_groups[5];
};
inline std::vector<folder> const all = {
    {"xlm_r", "plain", "sentencepiece.bpe.model", 67,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042XLMRobertaTokenizer\042}"}},
     {0xc980f8bb, 0x9e6014c2, 0x1f272c2a, 0x6ad49b48, 0x509ae516}},
    {"xlm_r_by_type", "unused", "sentencepiece.bpe.model", 68,
     {{"config.json", "{\042model_type\042: \042xlm-roberta\042}"}},
     {0x9486e34a, 0x3656d460, 0x77f6e06e, 0xa94fe557, 0x2736be0c}},
    {"xlm_r_with_pad", "behind", "sentencepiece.bpe.model", 77,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042XLMRobertaTokenizerFast\042, \042mask_token\042: {\042content\042: \042<mask>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true, \042__type\042: \042AddedToken\042}}"}},
     {0x49d44b6f, 0x6cc7752c, 0x3fbdee4b, 0x04588be9, 0x218bb79f}},
    {"xlm_r_older", "joined", "sentencepiece.bpe.model", 141,
     {{"config.json", "{\042model_type\042: \042bert\042, \042tokenizer_class\042: \042XLMRobertaTokenizer\042}"},
      {"special_tokens_map.json", "{\042bos_token\042: \042<s>\042, \042cls_token\042: \042[CLS]\042, \042mask_token\042: {\042content\042: \042<mask>\042, \042lstrip\042: true, \042normalized\042: false, \042rstrip\042: true, \042single_word\042: false, \042special\042: true}, \042additional_special_tokens\042: [\042<Word>\042, {\042content\042: \042foo\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: true, \042single_word\042: false, \042special\042: true}]}"},
      {"added_tokens.json", "{\042fooBar\042: 140, \042[SEP]\042: 3}"}},
     {0xa271a961, 0x40c9daa2, 0x55d2c7df, 0x0250a0ff, 0xaa78b664}},
    {"t5", "t5_pieces", "spiece.model", 165,
     {{"config.json", "{\042model_type\042: \042t5\042}"}},
     {0x806b85c5, 0xc59f4d16, 0x5aa8b7f0, 0xce0ae4db, 0x5354e357}},
    {"t5_bytes", "bytes", "spiece.model", 328,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042T5Tokenizer\042, \042extra_ids\042: 2, \042additional_special_tokens\042: [\042<extra_id_0>\042, \042<extra_id_1>\042]}"}},
     {0x2148f466, 0x502f5a08, 0xe9adf9c5, 0x4a518c7e, 0xdcbb57e3}},
    {"t5_behind_others", "plain", "spiece.model", 70,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042T5Tokenizer\042, \042extra_ids\042: 3, \042additional_special_tokens\042: [\042<Word>\042], \042legacy\042: true}"},
      {"config.json", "{\042model_type\042: \042bert\042}"}},
     {0x1197b414, 0xc4b0d16e, 0xbaf23ef6, 0xc2472e2d, 0x711999d4}},
    {"t5_newer", "t5_pieces", "spiece.model", 165,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042T5Tokenizer\042, \042legacy\042: false}"}},
     {0x6246eea6, 0x3dfb910e, 0x653fad2b, 0x3801a54f, 0x101f2d1e}},
    {"t5_newer_without_prefix", "unused", "spiece.model", 67,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042T5Tokenizer\042, \042legacy\042: false, \042add_prefix_space\042: false, \042extra_ids\042: 0}"}},
     {0x7b23a325, 0x66c92fc3, 0xa55021f2, 0xf236211d, 0x6a36f1ef}},
    {"t5_newer_spaces", "spaces", "spiece.model", 67,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042T5Tokenizer\042, \042legacy\042: false, \042extra_ids\042: 1, \042bos_token\042: \042<s>\042}"}},
     {0xf79aaab1, 0x1ce67751, 0x5ccad893, 0x34425478, 0x66c92f62}},
    {"deberta", "deberta_pieces", "spm.model", 67,
     {{"config.json", "{\042model_type\042: \042deberta-v2\042}"},
      {"tokenizer_config.json", "{\042do_lower_case\042: false, \042vocab_type\042: \042spm\042}"}},
     {0x51b8aa8f, 0xc863391c, 0x82f29249, 0x421695aa, 0x4c22fe4a}},
    {"deberta_lower", "deberta_pieces", "spm.model", 124,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042DebertaV2Tokenizer\042, \042do_lower_case\042: true}"},
      {"added_tokens.json", "{\042[MASK]\042: 121, \042Foo\042: 122, \042<word>\042: 123}"}},
     {0x0e3019b1, 0xffe0a0ac, 0x074c73be, 0x845bca30, 0x9c48e9aa}},
    {"deberta_without", "plain", "spm.model", 69,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042DebertaV2Tokenizer\042, \042pad_token\042: \042<pad>\042, \042unk_token\042: \042<unk>\042}"}},
     {0x9bdaf59d, 0xba55841c, 0xf0944ba0, 0xb8e5a69f, 0x56e9410f}},
    {"deberta_bytes", "bytes", "spm.model", 502,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042DebertaV2Tokenizer\042, \042bos_token\042: null, \042added_tokens_decoder\042: {\0427\042: {\042content\042: \042fooBar\042, \042lstrip\042: false, \042normalized\042: true, \042rstrip\042: false, \042single_word\042: false, \042special\042: false}, \042500\042: {\042content\042: \042[MASK]\042, \042lstrip\042: true, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \042501\042: {\042content\042: \042 Q\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: false}}}"}},
     {0x220436d0, 0x66d82e78, 0xd678aaea, 0xd8d36fa5, 0x3b51da3f}},
    {"deberta_as_is", "as_is", "spm.model", 69,
     {{"tokenizer_config.json", "{\042tokenizer_class\042: \042DebertaV2Tokenizer\042}"}},
     {0x1dc7cd95, 0x90d9470d, 0x0a1c27fb, 0x48fb1263, 0xa3e93fa5}},
    {"xlm_r_saved", "plain", "sentencepiece.bpe.model", 70,
     {{"added_tokens.json", "{\042<Word>\042: 69, \042foo\042: 67, \042fooBar\042: 68}"},
      {"special_tokens_map.json", "{\042additional_special_tokens\042: [{\042content\042: \042<Word>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}], \042bos_token\042: \042<s>\042, \042cls_token\042: \042<s>\042, \042eos_token\042: \042</s>\042, \042mask_token\042: {\042content\042: \042<mask>\042, \042lstrip\042: true, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}, \042pad_token\042: \042<pad>\042, \042sep_token\042: \042</s>\042, \042unk_token\042: \042<unk>\042}"},
      {"tokenizer_config.json", "{\042added_tokens_decoder\042: {\0420\042: {\042content\042: \042<s>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0421\042: {\042content\042: \042<pad>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0422\042: {\042content\042: \042</s>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0423\042: {\042content\042: \042<unk>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04266\042: {\042content\042: \042<mask>\042, \042lstrip\042: true, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04267\042: {\042content\042: \042foo\042, \042lstrip\042: false, \042normalized\042: true, \042rstrip\042: false, \042single_word\042: false, \042special\042: false}, \04268\042: {\042content\042: \042fooBar\042, \042lstrip\042: false, \042normalized\042: true, \042rstrip\042: false, \042single_word\042: false, \042special\042: false}, \04269\042: {\042content\042: \042<Word>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}}, \042additional_special_tokens\042: [\042<Word>\042], \042bos_token\042: \042<s>\042, \042clean_up_tokenization_spaces\042: false, \042cls_token\042: \042<s>\042, \042eos_token\042: \042</s>\042, \042extra_special_tokens\042: {}, \042mask_token\042: \042<mask>\042, \042model_max_length\042: 1000000000000000019884624838656, \042pad_token\042: \042<pad>\042, \042sep_token\042: \042</s>\042, \042sp_model_kwargs\042: {}, \042tokenizer_class\042: \042XLMRobertaTokenizer\042, \042unk_token\042: \042<unk>\042}"}},
     {0x31f1b8d3, 0xa4c6f77f, 0x52f18ad2, 0xb3c3bf5a, 0x74cc0995}},
    {"t5_saved", "t5_pieces", "spiece.model", 70,
     {{"added_tokens.json", "{\042<extra_id_0>\042: 68, \042<extra_id_1>\042: 67, \042<extra_id_2>\042: 66, \042<extra_id_3>\042: 65, \042Foo\042: 69}"},
      {"special_tokens_map.json", "{\042additional_special_tokens\042: [{\042content\042: \042<extra_id_0>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}, {\042content\042: \042<extra_id_1>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}, {\042content\042: \042<extra_id_2>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}, {\042content\042: \042<extra_id_3>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}], \042eos_token\042: {\042content\042: \042</s>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}, \042pad_token\042: {\042content\042: \042<pad>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}, \042unk_token\042: {\042content\042: \042<unk>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}}"},
      {"tokenizer_config.json", "{\042add_prefix_space\042: true, \042added_tokens_decoder\042: {\0420\042: {\042content\042: \042<pad>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0421\042: {\042content\042: \042</s>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0422\042: {\042content\042: \042<unk>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04265\042: {\042content\042: \042<extra_id_3>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04266\042: {\042content\042: \042<extra_id_2>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04267\042: {\042content\042: \042<extra_id_1>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04268\042: {\042content\042: \042<extra_id_0>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04269\042: {\042content\042: \042Foo\042, \042lstrip\042: false, \042normalized\042: true, \042rstrip\042: false, \042single_word\042: false, \042special\042: false}}, \042additional_special_tokens\042: [\042<extra_id_0>\042, \042<extra_id_1>\042, \042<extra_id_2>\042, \042<extra_id_3>\042], \042clean_up_tokenization_spaces\042: false, \042eos_token\042: \042</s>\042, \042extra_ids\042: 4, \042extra_special_tokens\042: {}, \042legacy\042: true, \042model_max_length\042: 1000000000000000019884624838656, \042pad_token\042: \042<pad>\042, \042sp_model_kwargs\042: {}, \042tokenizer_class\042: \042T5Tokenizer\042, \042unk_token\042: \042<unk>\042}"}},
     {0xac20c460, 0x62319f05, 0x2ea292c8, 0x8ef04995, 0x20fc885e}},
    {"t5_newer_saved", "t5_pieces", "spiece.model", 69,
     {{"added_tokens.json", "{\042\134n\042: 68, \042<extra_id_0>\042: 66, \042<extra_id_1>\042: 65, \042Foo\042: 67}"},
      {"special_tokens_map.json", "{\042additional_special_tokens\042: [{\042content\042: \042<extra_id_0>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}, {\042content\042: \042<extra_id_1>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}], \042eos_token\042: {\042content\042: \042</s>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}, \042pad_token\042: {\042content\042: \042<pad>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}, \042unk_token\042: {\042content\042: \042<unk>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}}"},
      {"tokenizer_config.json", "{\042add_prefix_space\042: true, \042added_tokens_decoder\042: {\0420\042: {\042content\042: \042<pad>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0421\042: {\042content\042: \042</s>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0422\042: {\042content\042: \042<unk>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04265\042: {\042content\042: \042<extra_id_1>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04266\042: {\042content\042: \042<extra_id_0>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04267\042: {\042content\042: \042Foo\042, \042lstrip\042: false, \042normalized\042: true, \042rstrip\042: false, \042single_word\042: false, \042special\042: false}, \04268\042: {\042content\042: \042\134n\042, \042lstrip\042: false, \042normalized\042: true, \042rstrip\042: false, \042single_word\042: false, \042special\042: false}}, \042additional_special_tokens\042: [\042<extra_id_0>\042, \042<extra_id_1>\042], \042clean_up_tokenization_spaces\042: false, \042eos_token\042: \042</s>\042, \042extra_ids\042: 2, \042extra_special_tokens\042: {}, \042legacy\042: false, \042model_max_length\042: 1000000000000000019884624838656, \042pad_token\042: \042<pad>\042, \042sp_model_kwargs\042: {}, \042tokenizer_class\042: \042T5Tokenizer\042, \042unk_token\042: \042<unk>\042}"}},
     {0xbcacc38a, 0xce2022d3, 0x89314b97, 0x67670682, 0x5155a3a6}},
    {"deberta_saved", "deberta_pieces", "spm.model", 69,
     {{"added_tokens.json", "{\042<Word>\042: 68, \042[MASK]\042: 66, \042foo\042: 67}"},
      {"special_tokens_map.json", "{\042additional_special_tokens\042: [{\042content\042: \042<Word>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false}], \042bos_token\042: \042[CLS]\042, \042cls_token\042: \042[CLS]\042, \042eos_token\042: \042[SEP]\042, \042mask_token\042: \042[MASK]\042, \042pad_token\042: \042[PAD]\042, \042sep_token\042: \042[SEP]\042, \042unk_token\042: {\042content\042: \042[UNK]\042, \042lstrip\042: false, \042normalized\042: true, \042rstrip\042: false, \042single_word\042: false}}"},
      {"tokenizer_config.json", "{\042added_tokens_decoder\042: {\0420\042: {\042content\042: \042[PAD]\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0421\042: {\042content\042: \042[CLS]\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0422\042: {\042content\042: \042[SEP]\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \0423\042: {\042content\042: \042[UNK]\042, \042lstrip\042: false, \042normalized\042: true, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04266\042: {\042content\042: \042[MASK]\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}, \04267\042: {\042content\042: \042foo\042, \042lstrip\042: false, \042normalized\042: true, \042rstrip\042: false, \042single_word\042: false, \042special\042: false}, \04268\042: {\042content\042: \042<Word>\042, \042lstrip\042: false, \042normalized\042: false, \042rstrip\042: false, \042single_word\042: false, \042special\042: true}}, \042additional_special_tokens\042: [\042<Word>\042], \042bos_token\042: \042[CLS]\042, \042clean_up_tokenization_spaces\042: false, \042cls_token\042: \042[CLS]\042, \042do_lower_case\042: true, \042eos_token\042: \042[SEP]\042, \042extra_special_tokens\042: {}, \042mask_token\042: \042[MASK]\042, \042model_max_length\042: 1000000000000000019884624838656, \042pad_token\042: \042[PAD]\042, \042sep_token\042: \042[SEP]\042, \042sp_model_kwargs\042: {}, \042split_by_punct\042: false, \042tokenizer_class\042: \042DebertaV2Tokenizer\042, \042unk_token\042: \042[UNK]\042}"}},
     {0x8e2c6f43, 0x33d92f31, 0x0cada930, 0xb505c445, 0x853c62a5}},
};

}  // namespace named_pieces_reference
