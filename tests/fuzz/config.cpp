// Whatever the bytes of a model's config.json: an error, or one flat object that is the same when it is written and
// read again, and that describes the compiled model or is refused for naming another.
#include "fuzz.hpp"

#include "../../examples/twinbert/config_file.cpp"

using fuzz::require;

namespace {

twinbert::description const model{.layers = 2,
                                  .hidden = 16,
                                  .heads = 2,
                                  .ffn = 32,
                                  .vocabulary = 400,
                                  .query_words = 8,
                                  .document_words = 24,
                                  .letters = 0,
                                  .shared = true,
                                  .special_tokens = false,
                                  .labelled = false,
                                  .cosine_score = true,
                                  .pooler = "weighted",
                                  .crossing = "cosine",
                                  .block = "pre-norm",
                                  .loss = "in-batch softmax",
                                  .batch = 8,
                                  .bag_batch = 8,
                                  .train_document_words = 16,
                                  .encode_batch = 32,
                                  .bag_steps = 1,
                                  .steps = 1,
                                  .group = 1,
                                  .rate = 1,
                                  .bag_word_rate = 1,
                                  .word_rate = 1,
                                  .word_decay = 0,
                                  .dropout = 0,
                                  .warmup = 0,
                                  .cloze = 0};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const text = fuzz::text_of(data, size);
  auto const members = fuzz::unless_refused([&] { return twinbert::parse_flat_json(text, "fuzz"); });
  if (!members) return 0;
  std::string again = "{";
  for (auto const& [key, value] : *members)
    again += (again.size() > 1 ? "," : "") + tx::io::json_string(key) + ':' + value;
  require(twinbert::parse_flat_json(again + '}', "again") == *members);
  try {
    auto const config = fuzz::unless_refused([&] { return twinbert::parse_config(text, "fuzz", model); });
    if (config) require(twinbert::parse_config(twinbert::config_text(model, *config), "again", model) == *config);
  } catch (tx::value_error const& e) {  // of another model
    fuzz::require_printable(e.what());
  }
  return 0;
}
