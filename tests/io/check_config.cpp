// A folder's configuration against a program's: what differs is named, and what would fit.
#include "temp_folder.hpp"

#include <tx/io/check_config.hpp>

#include <catch2/catch.hpp>

namespace {

struct minilm {
  static constexpr int layers = 6, hidden = 384, heads = 12, ffn = 1536, vocabulary = 30522, positions = 512, types = 2;
};
struct roberta : minilm {
  static constexpr int vocabulary = 50265, positions = 514, types = 1, first_position = 2;
  using layer_norm_epsilon = std::ratio<1, 100'000>;
};
struct from_zero : roberta {
  static constexpr int first_position = 0;
};
struct electra : minilm {
  static constexpr int embedding = 128;
};
struct half_the_heads : minilm {
  static constexpr int heads = 6;
};
struct distilled : minilm {
  static constexpr int types = 0;
};

std::string const file_of_minilm = R"({"architectures": ["BertModel"], "hidden_act": "gelu", "hidden_size": 384, "intermediate_size": 1536,
  "layer_norm_eps": 1e-12, "max_position_embeddings": 512, "model_type": "bert", "num_attention_heads": 12, "num_hidden_layers": 6,
  "position_embedding_type": "absolute", "type_vocab_size": 2, "vocab_size": 30522})";

// The text with the value of a key replaced.
std::string with(std::string text, std::string const& key, std::string const& value) {
  auto const at = text.find('"' + key + '"');
  REQUIRE(at != std::string::npos);
  auto const from = text.find(':', at) + 1;
  return text.replace(from, text.find_first_of(",}", from) - from, ' ' + value);
}

struct folder_of : temp_folder {
  explicit folder_of(std::string const& config) { tx::io::write_file_atomic(*this / "config.json", config); }
  tx::io::model_folder open() const { return tx::io::model_folder::open(path); }
};

TEST_CASE("the configuration that a program was compiled for", "[check_config]") {
  folder_of const minilm_folder(file_of_minilm);
  CHECK_NOTHROW(tx::io::check_config<minilm>(minilm_folder.open()));
  CHECK(minilm_folder.open().model_type() == "bert");
  std::string text = file_of_minilm;
  for (auto const& [key, value] : {std::pair{"vocab_size", "50265"}, {"max_position_embeddings", "514"}, {"type_vocab_size", "1"}, {"layer_norm_eps", "1e-05"}, {"model_type", "\"roberta\""}})
    text = with(text, key, value);
  CHECK_NOTHROW(tx::io::check_config<roberta>(folder_of(text).open(), {"roberta"}));
  CHECK_THROWS_WITH(tx::io::check_config<from_zero>(folder_of(text).open(), {"roberta"}),
                    Catch::Contains("pad_token_id + 1 is 2 in the file and 0 in the program (first_position)") && Catch::Contains("static constexpr int first_position = 2;"));
}

TEST_CASE("ELECTRA's width of word vectors", "[check_config]") {
  auto const text = with(file_of_minilm, "model_type", "\"electra\"");
  auto const narrow = text.substr(0, text.rfind('}')) + ", \"embedding_size\": 128}";
  CHECK_NOTHROW(tx::io::check_config<electra>(folder_of(narrow).open(), {"electra"}));
  CHECK_THROWS_WITH(tx::io::check_config<minilm>(folder_of(narrow).open(), {"electra"}), Catch::Contains("embedding_size is 128 in the file and 384 in the program (embedding)"));
  CHECK_THROWS_WITH(tx::io::check_config<electra>(folder_of(file_of_minilm).open()), Catch::Contains("embedding_size is 384 in the file and 128 in the program (embedding)"));
}

TEST_CASE("DistilBERT's names", "[check_config]") {
  folder_of const folder(R"({"activation": "gelu", "dim": 384, "hidden_dim": 1536, "max_position_embeddings": 512, "model_type": "distilbert", "n_heads": 12,
    "n_layers": 6, "vocab_size": 30522})");
  CHECK_NOTHROW(tx::io::check_config<distilled>(folder.open(), {"bert", "distilbert"}));
  CHECK_THROWS_WITH(tx::io::check_config<minilm>(folder.open(), {"distilbert"}), Catch::Contains("types of tokens is 0 in the file and 2 in the program (types)"));
}

TEST_CASE("every field that differs is named, with what to compile", "[check_config]") {
  folder_of const folder(file_of_minilm);
  CHECK_THROWS_AS(tx::io::check_config<half_the_heads>(folder.open()), tx::shape_error);
  CHECK_THROWS_WITH(tx::io::check_config<half_the_heads>(folder.open()),
                    Catch::Contains("num_attention_heads is 12 in the file and 6 in the program (heads)") && Catch::Contains("static constexpr int heads = 12;") &&
                        !Catch::Contains("hidden_size is"));
  CHECK_THROWS_WITH(tx::io::check_config<roberta>(folder.open()),
                    Catch::Contains("vocab_size is 30522 in the file and 50265") && Catch::Contains("max_position_embeddings is 512 in the file and 514") &&
                        Catch::Contains("type_vocab_size is 2 in the file and 1") && Catch::Contains("layer_norm_eps is 1e-12 in the file and 1e-05") &&
                        Catch::Contains("using layer_norm_epsilon = std::ratio<1, 1000000000000>;"));
}

TEST_CASE("what a program computes whatever its configuration", "[check_config]") {
  for (auto const& [key, value] : {std::pair{"hidden_act", "\"gelu_new\""}, {"position_embedding_type", "\"relative_key\""}}) {
    folder_of const folder(with(file_of_minilm, key, value));
    CHECK_THROWS_WITH(tx::io::check_config<minilm>(folder.open()), Catch::Contains(std::string(key) + " is") && Catch::Contains("whatever their configuration"));
  }
  CHECK_THROWS_WITH(tx::io::check_config<minilm>(folder_of(with(file_of_minilm, "model_type", "\"deberta\"")).open()), Catch::Contains("its model_type is 'deberta'; the program reads bert"));
}

TEST_CASE("configurations that say too little, or nothing", "[check_config]") {
  auto const refused = [](std::string const& config, std::string const& reason) {
    CHECK_THROWS_WITH(tx::io::check_config<minilm>(folder_of(config).open()), Catch::Contains(reason));
  };
  refused(with(file_of_minilm, "hidden_size", "\"384\""), "hidden_size is '384' in the file and 384 in the program");
  // What transformers takes where a file does not say.
  std::string usual = file_of_minilm;
  for (std::string const name : {"max_position_embeddings", "type_vocab_size"}) usual.replace(usual.find(name), name.size(), "not_" + name);
  CHECK_NOTHROW(tx::io::check_config<minilm>(folder_of(usual).open()));
  CHECK_THROWS_WITH(tx::io::check_config<roberta>(folder_of(usual).open()), Catch::Contains("max_position_embeddings is 512 in the file and 514"));
  refused(R"({"model_type": "bert"})", "hidden_size is not given in the file and 384 in the program (hidden)");
  refused("{}", "its model_type is ''");
  refused("[]", "is no JSON object");
  refused("{\"model_type\": ", "is no JSON");
  refused("", "is no JSON");
  refused(file_of_minilm + std::string("\0{}", 3), "is no JSON: what byte " + std::to_string(file_of_minilm.size() + 1) + " belongs to is not understood");
  auto const nested = [](std::size_t levels) { return "{\"[\\\"[\": " + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}"; };
  refused(nested(500), "its model_type is ''");
  refused(nested(501), "has lists and objects more than 500 deep in each other");
  refused(nested(100'000), "has lists and objects more than 500 deep in each other");
  refused(with(file_of_minilm, "layer_norm_eps", "1e7300"), "has a number that no f64 holds");
  refused(with(file_of_minilm, "layer_norm_eps", "0"), "using layer_norm_epsilon = std::ratio<1, ...>;");
  temp_folder empty;
  CHECK_THROWS_AS(tx::io::model_folder::open(empty.path), tx::io_error);
  CHECK_THROWS_WITH(tx::io::model_folder::open(empty / "none"), Catch::Contains("there is no folder"));
}

}  // namespace
