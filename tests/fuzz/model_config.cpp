// Whatever the text of a model's config.json: an error that names it, or the one configuration that the program was compiled for.
#include "fuzz.hpp"

#include <tx/io/check_config.hpp>

using fuzz::require;

struct minilm {
  static constexpr int layers = 6, hidden = 384, heads = 12, ffn = 1536, vocabulary = 30522, positions = 512, types = 2;
};

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = fuzz::text_of(data, size);
  auto const folder = fuzz::unless_refused([&] { return tx::io::model_folder::of("fuzz", tx::io::parse_json(text, "fuzz/config.json")); });
  if (!folder) return 0;
  require(nlohmann::json::accept(text));
  bool fits = true;
  try {
    fits = fuzz::unless_refused([&] { return tx::io::check_config<minilm>(*folder), true; }).has_value();
  } catch (tx::shape_error const& e) {
    std::string_view const message = e.what();
    require(message.starts_with("fuzz/config.json is of another model") && message.size() < 5000 && tx::io::is_utf8(message));
    fits = false;
  }
  auto const& c = folder->config();
  auto const is = [&](char const* name, int wanted) { return c.contains(name) && c[name] == wanted && c[name].is_number_integer(); };
  auto const is_unless_absent = [&](char const* name, int wanted) { return !c.contains(name) || is(name, wanted); };  // what BERT's defaults are
  bool const same = folder->model_type() == "bert" && is("num_hidden_layers", 6) && is("hidden_size", 384) && is("num_attention_heads", 12) && is("intermediate_size", 1536) &&
                    is("vocab_size", 30522) && is_unless_absent("max_position_embeddings", 512) && is_unless_absent("type_vocab_size", 2);
  require(!fits || same);
  return 0;
}
