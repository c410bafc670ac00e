// shards: texts as ids in files that pre-training maps.
#include "../command_line/program.hpp"
#include "commands.hpp"

#include <tx/text/write_token_shards.hpp>

#include <cstdio>

namespace bert {

void shards_command(std::span<std::string const> arguments) {
  command_line::option const known[] = {{"text", "FILE", "sentences, a line each, documents parted by empty lines; may be given several times", true},
                                        {"model", "DIR", "a folder with the tokenizer"},
                                        {"out", "DIR", "the folder for the shards, without any"},
                                        {"megabytes", "N", "of ids, after which another shard begins; held in memory (default: 256)"},
                                        {"threads", "N", "that make ids, the same for any number (default: as many as the machine runs at once)"},
                                        {"help", "", "print this"}};
  command_line::options const given(arguments, known);
  if (command_line::helped(given, called("usage: bert shards --text FILE... --model DIR --out DIR\nWrites the ids of texts, which may be larger than memory, for bert pretrain --shards.\n\n"), known)) return;
  auto const told = tx::text::write_token_shards(given.text("out"), given.all("text"),
                                                 {.tokenizer = given.text("model"),
                                                  .threads = static_cast<std::size_t>(given.integer("threads", 0, 0, 1024)),
                                                  .shard_bytes = static_cast<std::uint64_t>(given.integer("megabytes", 256, 1, 8192)) << 20});
  std::fprintf(stderr, "%llu documents, %llu texts, %llu ids in %s\n", static_cast<unsigned long long>(told.documents), static_cast<unsigned long long>(told.texts),
               static_cast<unsigned long long>(told.ids), given.text("out").c_str());
}

}  // namespace bert
