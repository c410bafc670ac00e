// bench_batches [--texts N] [--steps N] [--step-ms T] [--folder PATH]: how long a step waits for its batch of 32 packed texts out of shards of token ids, with
// batches made when they are asked for and by one thread and two beside the steps. A step is a processor kept busy for T milliseconds. Each is measured on files
// that the system holds in memory and on files that it has to fetch from the disk. A JSON line for each; the folder is made and removed.
#include <tx/io/token_shard_writer.hpp>
#include <tx/text/packed_batch.hpp>
#include <tx/train/loop/packed_texts.hpp>
#include <tx/train/loop/prepared.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

struct options {
  std::int64_t texts = 1'000'000, steps = 300;
  double step_ms = 5;
  std::filesystem::path folder = "bench_batches.shards";
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void write(options const& o) {
  tx::io::token_shard_writer out(o.folder, {.vocabulary = 30'522, .shard_bytes = 16 << 20});
  tx::train::random_numbers random(1);
  std::vector<std::int32_t> ids;
  for (std::int64_t k = 0; k < o.texts; ++k) {
    ids.resize(4 + random.below(125));
    for (auto& id : ids) id = static_cast<std::int32_t>(random.below(30'522));
    out.add(ids);
    out.end_document();
  }
  out.finish();
}

// What the system holds of the files in memory goes; they are on the disk already.
void forget(std::filesystem::path const& folder) {
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    tx::io::file_handle const file(entry.path(), O_RDONLY, "read");
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

void measure(options const& o, std::size_t threads, bool held) {
  using batch = tx::text::packed_batch<32, 128, 2048>;
  if (!held) forget(o.folder);
  double const begun = now();
  auto const shards = tx::io::token_shards::open(o.folder, held ? tx::io::shard_check::all : tx::io::shard_check::index);
  double const opened = now() - begun;
  tx::train::prepared batches(tx::train::packed_texts<batch>(shards, {.seed = 1}), {.threads = threads});
  batches.next();
  std::vector<double> waits;
  double tokens = 0;
  for (std::int64_t k = 0; k < o.steps; ++k) {
    for (double const end = now() + o.step_ms / 1000; now() < end;) {}
    double const asked = now();
    tokens += batches.next().tokens();
    waits.push_back(1e6 * (now() - asked));
  }
  std::ranges::sort(waits);
  std::printf("{\"threads\": %zu, \"files\": \"%s\", \"ids\": %llu, \"open_ms\": %.1f, \"tokens_a_batch\": %.0f, \"wait_us\": {\"median\": %.1f, \"p99\": %.1f, \"most\": %.1f}}\n", threads,
              held ? "in memory" : "on disk", static_cast<unsigned long long>(shards.ids()), 1e3 * opened, tokens / static_cast<double>(o.steps), waits[waits.size() / 2],
              waits[waits.size() * 99 / 100], waits.back());
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const key = argv[i];
    if (key == "--texts") o.texts = std::max(1, std::atoi(argv[i + 1]));
    else if (key == "--steps") o.steps = std::max(1, std::atoi(argv[i + 1]));
    else if (key == "--step-ms") o.step_ms = std::atof(argv[i + 1]);
    else if (key == "--folder") o.folder = argv[i + 1];
    else {
      std::fprintf(stderr, "bench_batches: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  if (std::filesystem::exists(o.folder)) {
    std::fprintf(stderr, "bench_batches: %s is there already. FIX: another --folder\n", o.folder.c_str());
    return 2;
  }
  try {
    write(o);
    for (bool const held : {true, false})
      for (std::size_t const threads : {0u, 1u, 2u}) measure(o, threads, held);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "bench_batches: %s\n", e.what());
  }
  std::filesystem::remove_all(o.folder);
}
