// bench_step --model NAME [--batch N --seq N] [--dtype f32|bf16] [--pool first|mean] [--steps N] [--threads N] [--dropout RATE] [--profile FILE] [--page FILE]: times
// a compiled training step and prints one JSON line; the files get a Chrome trace of the kernels of one step, and a page of the program. With --check FOLDER it times nothing: it writes weights and ten batches there and prints the ten losses.
#include "model.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  std::string name = "twin";
  std::string pool = "first";
  std::string dtype = "f32";
  int batch = 0;
  int seq = 0;
  bench::options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string_view const key = argv[i];
    if (key == "--model") name = argv[i + 1];
    else if (key == "--batch") batch = std::atoi(argv[i + 1]);
    else if (key == "--seq") seq = std::atoi(argv[i + 1]);
    else if (key == "--steps") o.steps = std::max(1, std::atoi(argv[i + 1]));
    else if (key == "--threads") o.threads = std::atoi(argv[i + 1]);
    else if (key == "--dropout") o.dropout = static_cast<float>(std::atof(argv[i + 1]));
    else if (key == "--check") o.check = argv[i + 1];
    else if (key == "--profile") o.profile = argv[i + 1];
    else if (key == "--page") o.page = argv[i + 1];
    else if (key == "--dtype") dtype = argv[i + 1];
    else if (key == "--pool") pool = argv[i + 1];
    else {
      std::fprintf(stderr, "bench_step: unknown option or value: %s %s\n", argv[i], argv[i + 1]);
      return 2;
    }
  }
  for (int i = 0; i < bench::model_count; ++i) {
    bench::entry const& m = bench::models[i];
    if (m.name != name || m.pool != pool || m.dtype != dtype || (batch != 0 && batch != m.batch) || (seq != 0 && seq != m.seq)) continue;
    bench::timing t = m.run(o);
    if (!o.check.empty()) {
      for (std::size_t k = 0; k < t.losses.size(); ++k) std::printf("%s%.7f", k == 0 ? "[" : ", ", static_cast<double>(t.losses[k]));
      std::puts("]");
      return 0;
    }
    std::sort(t.seconds.begin(), t.seconds.end());
    double const median = t.seconds[t.seconds.size() / 2];
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    std::printf("{\"peer\": \"tx\", \"model\": \"%s\", \"batch\": %d, \"seq\": %d, \"dtype\": \"%s\", \"device\": \"cpu\", \"pool\": \"%s\", \"threads\": %d, "
                "\"median_s\": %.4f, \"best_s\": %.4f, \"step_s\": %.4f, \"tokens_per_s\": %.1f, \"first_step_s\": %.2f, \"peak_bytes\": %lld, \"planned_bytes\": %lld, "
                "\"activation_bytes\": %lld, \"recomputed_flops\": %lld, \"loss\": [%.4f, %.4f]}\n",
                name.c_str(), t.batch, t.seq, dtype.c_str(), pool.c_str(), o.threads, median, t.seconds.front(), t.difference, t.batch * t.seq / t.difference, t.first_step,
                static_cast<long long>(use.ru_maxrss) * 1024, static_cast<long long>(t.planned_peak), static_cast<long long>(t.activations),
                static_cast<long long>(t.recomputed_flops), static_cast<double>(t.losses.front()),
                static_cast<double>(t.losses.back()));
    return 0;
  }
  std::fprintf(stderr, "bench_step: no model %s of that batch, length, type and pooling is compiled in; there are:\n", name.c_str());
  for (int i = 0; i < bench::model_count; ++i)
    std::fprintf(stderr, "  --model %s --batch %d --seq %d --dtype %s --pool %s\n", std::string(bench::models[i].name).c_str(), bench::models[i].batch,
                 bench::models[i].seq, std::string(bench::models[i].dtype).c_str(), std::string(bench::models[i].pool).c_str());
  return 2;
}
