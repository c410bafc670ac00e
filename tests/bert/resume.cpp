// Training that is stopped or killed, and goes on: the same bits as a run that was left alone.
#include "run.hpp"

#include <chrono>

TEST_CASE_METHOD(bert_test, "a run that is stopped, killed and resumed is the run that was not", "[bert]") {
  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --rate 0.003 --steps 400 --validations 4 --out ";
  ran const whole = (*this)(command + "@whole --threads 1");
  INFO(whole.error);
  REQUIRE(whole.code == 0);
  auto const states = [&] {
    std::error_code none;
    std::size_t count = 0;
    for (std::filesystem::directory_iterator at(path / "cut/checkpoints", none), end; !none && at != end; at.increment(none)) count += at->path().filename().string().starts_with("checkpoint-");
    return count;
  };
  auto const measured = [&] {
    std::error_code none;
    auto const size = std::filesystem::file_size(path / "cut/metrics.jsonl", none);
    return none ? 0 : size;
  };
  int cuts = 0, code = -1;
  for (int attempt = 0; attempt < 40 && code != 0; ++attempt) {
    if (states() == 0) std::filesystem::remove_all(path / "cut");
    std::uintmax_t const until = measured() + 1 + draw(1500);
    int const signal = attempt % 2 == 0 ? SIGTERM : SIGKILL;
    code = signalled(command + "@cut --save-every 40" + (states() > 0 ? " --resume" : ""), signal, [&] { return states() > 0 && measured() >= until; });
    INFO("attempt " << attempt << ": " << code << ' ' << read(".err"));
    REQUIRE((code == 0 || code == 128 + signal || code == -signal));
    cuts += code != 0;
  }
  REQUIRE(code == 0);
  CHECK(cuts > 0);
  for (char const* const name : {"model.safetensors", "config.json"}) CHECK(read("cut/" + std::string(name)) == read("whole/" + std::string(name)));
}

TEST_CASE_METHOD(bert_test, "fifty kills at random moments, with states written in the background", "[.slow]") {
  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --rate 0.003 --steps 30000 --validations 4 --out ";
  ran const whole = (*this)(command + "@whole --threads 1");
  INFO(whole.error);
  REQUIRE(whole.code == 0);
  int kills = 0, code = -1;
  while (code != 0) {
    if (!saved()) std::filesystem::remove_all(path / "cut");
    auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(draw(400));
    // The first fifty times; then it is left alone.
    code = signalled(command + "@cut --save-every 5" + (saved() ? " --resume" : ""), SIGKILL, [&] { return kills < 50 && std::chrono::steady_clock::now() >= until; });
    INFO("after " << kills << " kills: " << code << ' ' << read(".err"));
    REQUIRE((code == 0 || code == -SIGKILL));
    kills += code != 0;
    if (is_done(code, SIGKILL)) break;
  }
  CHECK(kills == 50);
  for (char const* const name : {"model.safetensors", "config.json"}) CHECK(read("cut/" + std::string(name)) == read("whole/" + std::string(name)));
}

TEST_CASE_METHOD(bert_test, "what a resumed run must have in common with the saved one", "[bert]") {
  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --steps 100000 --save-every 2 --out @cut ";
  int const code = signalled(command, SIGTERM, [&] { return saved(); });
  REQUIRE(code == 128 + SIGTERM);
  ran const r = (*this)(command + "--resume --rate 0.5 --threads 1");
  CHECK(r.code == 1);
  CHECK_THAT(r.error, Catch::Contains("--rate is not what the saved run had"));
}
