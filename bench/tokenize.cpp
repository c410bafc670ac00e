// How fast a tokenizer makes ids of lines of text, on one thread: bench_tokenize TOKENIZER.json TEXTS prints a line of JSON, with a sum of the ids.
// bench/compare/text_to_ids.py runs it in turns with Hugging Face's.
#include <tx/text/tokenizer.hpp>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_tokenize TOKENIZER.json TEXTS\n");
    return 2;
  }
  try {
    auto const coder = tx::text::tokenizer::load(argv[1]);
    std::string const all = tx::io::read_text(argv[2]);
    std::vector<std::string_view> lines;
    tx::text::for_each_line(all, [&](std::string_view line, std::size_t) { lines.push_back(line); });
    using clock = std::chrono::steady_clock;
    double best = 1e30;
    std::size_t count = 0;
    std::uint64_t sum = 0;
    for (int round = 0; round < 5; ++round) {
      count = sum = 0;
      auto const start = clock::now();
      for (std::string_view const line : lines)
        for (std::int32_t const id : coder.encode(line).ids) {
          ++count;
          sum = sum * 31 + static_cast<std::uint64_t>(id);
        }
      best = std::min(best, std::chrono::duration<double>(clock::now() - start).count());
    }
    std::printf("{\"peer\": \"tx\", \"lines\": %zu, \"bytes\": %zu, \"ids\": %zu, \"sum\": %llu, \"best_s\": %.6f}\n", lines.size(), all.size(), count,
                static_cast<unsigned long long>(sum), best);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "bench_tokenize: %s\n", e.what());
    return 1;
  }
}
