// The language model of examples/gpt: what it writes with a cache is what it writes without, training goes on from a checkpoint bit by bit, and
// what cannot be done is refused before anything is written.
#include "../../examples/command_line/options.cpp"
#include "../../examples/command_line/processes.cpp"
#include "../../examples/gpt/engine.cpp"
#include "../../examples/gpt/generate.cpp"
#include "../../examples/gpt/train.cpp"

#include "../../examples/command_line/program.cpp"
#include "../processes_test.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

namespace {

using words = std::vector<std::string>;

class folder {
 public:
  folder() : path_(std::filesystem::temp_directory_path() / ("tx_gpt_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    std::ofstream text(path_ / "text");
    for (int i = 0; i < 400; ++i) text << "line " << i * i % 97 << " of a text that repeats itself, more or less\n";
  }
  folder(folder const&) = delete;
  folder& operator=(folder const&) = delete;
  ~folder() { std::filesystem::remove_all(path_); }
  std::string operator/(std::string const& name) const { return (path_ / name).string(); }

  void train(std::string const& out, words const& more) const {
    words all{"--text", *this / "text", "--dev", *this / "text", "--out", *this / out, "--threads", "2"};
    all.insert(all.end(), more.begin(), more.end());
    gpt::train_command(all);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("a cache changes nothing of what is foretold, and training resumes bit by bit", "[gpt]") {
  folder const here;
  here.train("whole", {"--steps", "4", "--save-every", "2"});

  auto const byte_by_byte = gpt::make_writer({.threads = 2}, gpt::weights_in(here / "whole"), false), whole = gpt::make_writer({.threads = 1}, gpt::weights_in(here / "whole"), true);
  std::string text = "li";  // two bytes are read at once
  for (int k = 0; k < 40; ++k) {
    auto const a = byte_by_byte->behind(text), b = whole->behind(text);
    REQUIRE(a.size() == 256);
    for (std::size_t j = 0; j < 256; ++j) REQUIRE(a[j] == Approx(b[j]).margin(1e-5));
    text += static_cast<char>('a' + k % 26);
  }

  // As if it had been killed behind step 2.
  std::filesystem::copy(here / "whole", here / "killed", std::filesystem::copy_options::recursive);
  std::filesystem::remove(gpt::weights_in(here / "killed"));
  std::filesystem::remove_all(gpt::checkpoints_in(here / "killed") / "checkpoint-000004");
  REQUIRE(std::filesystem::exists(gpt::checkpoints_in(here / "killed") / "checkpoint-000002"));
  here.train("killed", {"--steps", "4", "--resume"});
  CHECK_THROWS_WITH(gpt::train_command(words{"--text", here / "whole/model.safetensors", "--dev", here / "text", "--out", here / "killed", "--resume"}),
                    Catch::Contains("--text is not what the saved run had"));
  CHECK_THROWS_WITH(here.train("killed", {"--steps", "4", "--resume", "--rate", "0.5"}), Catch::Contains("--rate is not what the saved run had"));
  CHECK(tx::io::read_file(gpt::weights_in(here / "killed")) == tx::io::read_file(gpt::weights_in(here / "whole")));
}

namespace {

int run_gpt(std::span<std::string const> arguments) {
  constexpr command_line::command commands[] = {{"train", gpt::train_command}};
  return command_line::run_program("gpt", "", commands, arguments);
}
struct gpt_test : program_test {
  gpt_test() : program_test(run_gpt) {}
};

}  // namespace

TEST_CASE_METHOD(processes_of<gpt_test>, "two processes train a language model together, and go on after a stop", "[gpt]") {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "line " + std::to_string(i * i % 97) + " of a text that repeats itself, more or less\n";
  write("text", text);
  std::string const train = "train --text @text --dev @text --save-every 2 --steps ";
  REQUIRE(run(2, train + "4 --out @whole") == std::vector<int>{0, 0});
  CHECK_THAT(out(0), Catch::Contains("bits for each byte of a text it has not seen") && Catch::Contains("% of it in communication"));
  CHECK(error(1) + out(1) == "");
  // As if they had been killed behind step 2.
  std::filesystem::copy(path / "whole", path / "killed", std::filesystem::copy_options::recursive);
  std::filesystem::remove(path / "killed/model.safetensors");
  std::filesystem::remove_all(path / "killed/checkpoints/checkpoint-000004");
  REQUIRE(run(2, train + "4 --out @killed --resume") == std::vector<int>{0, 0});
  CHECK(model("killed") == model("whole"));
  CHECK(run(2, train + "4 --out @none --seconds 3") == std::vector<int>{1, 1});
  CHECK_THAT(error(0) + error(1), Catch::Contains("--seconds: processes have clocks of their own"));
}

TEST_CASE("what a language model cannot do is refused", "[gpt]") {
  folder const here;
  auto const refused = [](words const& arguments, char const* text) { CHECK_THROWS_WITH(gpt::generate_command(arguments), Catch::Contains(text)); };
  refused({"--model", "nowhere", "--prompt", ""}, "--prompt is empty");
  refused({"--model", "nowhere", "--prompt", std::string(257, 'a')}, "has 257 bytes; the model was compiled for 256");
  refused({"--model", "nowhere", "--prompt", "a", "--tokens", "256"}, "257 bytes together; the model was compiled for 256");
  refused({"--model", "nowhere", "--prompt", "a"}, "nowhere");
  refused({"--model", "nowhere", "--prompt", "a", "--top-p", "2"}, "--top-p");
  CHECK_THROWS_WITH(here.train(".", {}), Catch::Contains("is there already"));
  std::ofstream(here / "short") << "too short";
  CHECK_THROWS_WITH(gpt::train_command(words{"--text", here / "short", "--dev", here / "text", "--out", here / "new"}), Catch::Contains("9 bytes"));
  CHECK_THROWS_WITH(here.train("new", {"--device", "cuda"}), Catch::Contains("--device cuda: this program is not compiled for it"));
  refused({"--model", "nowhere", "--prompt", "a", "--device", "abacus"}, "--device abacus");
  CHECK(!std::filesystem::exists(here / "new"));
}

TEST_CASE("bytes are drawn by their chances", "[gpt]") {
  std::array<float, 256> logits{};
  logits.fill(-100);
  logits[7] = std::log(0.5f), logits[9] = std::log(0.3f), logits[200] = std::log(0.2f);
  auto const drawn = [&](double temperature, double top_p) {
    gpt::sampler draw(temperature, top_p, 3);
    std::array<int, 256> count{};
    for (int k = 0; k < 10'000; ++k) ++count[static_cast<std::size_t>(draw.next(logits))];
    return count;
  };
  auto const all = drawn(1, 1);
  CHECK(all[7] + all[9] + all[200] == 10'000);
  CHECK(all[7] == Approx(5000).margin(200));
  CHECK(all[9] == Approx(3000).margin(200));
  auto const likely = drawn(1, 0.7);  // two of them have 0.8
  CHECK(likely[200] == 0);
  CHECK(likely[7] == Approx(6250).margin(200));
  CHECK(drawn(0, 1)[7] == 10'000);
  CHECK(drawn(1, 0)[7] == 10'000);
  CHECK(drawn(0.5, 1)[7] == Approx(10'000 * 0.25 / 0.38).margin(200));  // squares of the chances
}
