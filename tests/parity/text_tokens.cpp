// What a tokenizer makes of texts, for all_texts.py: text_tokens TOKENIZER TEXTS prints a line for each of the texts, which end with a zero each: ids, where
// each lies in bytes, and the text that the ids become again, as JSON.
#include <tx/text/tokenizer.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: text_tokens TOKENIZER TEXTS\n");
    return 2;
  }
  try {
    auto const coder = tx::text::tokenizer::load(argv[1]);
    std::string const all = tx::io::read_text(argv[2]);
    std::string out;
    for (std::size_t at = 0; at < all.size();) {
      std::size_t const end = all.find('\0', at);
      auto const e = coder.encode(std::string_view(all).substr(at, end - at), {.ranges = true});
      out.clear();
      for (std::int32_t const id : e.ids) out += std::to_string(id) + ' ';
      out += '\t';
      for (auto const& r : e.ranges) out += std::to_string(r.begin) + '-' + std::to_string(r.end) + ' ';
      out += '\t' + tx::io::json_string(coder.decode(e.ids)) + '\n';
      std::fwrite(out.data(), 1, out.size(), stdout);
      if (end == std::string::npos) break;
      at = end + 1;
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "text_tokens: %s\n", e.what());
    return 1;
  }
}
