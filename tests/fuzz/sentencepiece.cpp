// How long a text is, in a byte, the text, and a file of SentencePiece: refused with the file's name, or ids that are below its size and ranges within the text.
#include "fuzz.hpp"

#include <tx/text/sentencepiece.hpp>

using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string const input = fuzz::text_of(data, size);
  std::size_t const length = input.empty() ? 0 : std::min<std::size_t>(static_cast<unsigned char>(input[0]), input.size() - 1);
  std::string const text = input.substr(std::min<std::size_t>(1, input.size()), length), model = input.substr(std::min(1 + length, input.size()));
  auto const coder = fuzz::unless_refused([&] { return tx::text::sentencepiece(tx::text::sentencepiece_model::parse(model, "fuzz"), "fuzz"); });
  if (!coder) return 0;
  tx::text::token_list found;
  coder->append<true>(text, 0, found);
  require(found.ids == coder->encode(text) && found.ranges.size() == found.ids.size());
  for (std::int32_t const id : found.ids) require(id >= 0 && static_cast<std::size_t>(id) < coder->size());
  for (std::size_t i = 0; i < found.ranges.size(); ++i) {
    auto const [begin, end] = found.ranges[i];
    require(begin <= end && end <= text.size() && (i == 0 || found.ranges[i - 1].begin <= begin));
  }
  return 0;
}
