// Training that is stopped, killed and resumed ends in the files of a run that was left alone. When a signal is sent
// follows from what the run has written, so that no test depends on how fast the machine and its disk are.
#include "../io/event_reader.hpp"
#include "run.hpp"

#include <csignal>

namespace {

struct resume_test : twinbert_test {
  std::string const options =
      "--pairs @pairs.tsv --dev @labelled.tsv --vocabulary 300 --bag-steps 250 --steps 250 --validations 4 ";

  std::uintmax_t measurements(std::string const& name) const {
    std::error_code none;
    auto const size = std::filesystem::file_size(path / name / "metrics.jsonl", none);
    return none ? 0 : size;
  }
  // What a run has left of its states: nothing, or the folder and the names in it.
  std::string saved(std::string const& name) const {
    std::filesystem::path const folder = path / name / "checkpoints";
    if (!std::filesystem::exists(folder)) return "";
    std::string names = "checkpoints:";
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder)) names += ' ' + entry.path().string();
    return names;
  }

  // Also while a run saves and, at its end, removes them.
  std::size_t states(std::string const& name) const {
    std::size_t count = 0;
    std::error_code gone;
    for (std::filesystem::directory_iterator at(path / name / "checkpoints", gone), end; !gone && at != end;
         at.increment(gone))
      count += at->path().filename().string().starts_with("checkpoint-");
    return count;
  }

  // Begins a run and stops it at a step, with so many states saved: the first step is measured. It ends before only
  // where this process gets no time while all of its steps run.
  void stop(std::string const& name, std::size_t wanted, std::string const& more) {
    for (int code = 0; code <= 0;) {
      std::filesystem::remove(path / name / "metrics.jsonl");
      code = signalled("train --out @" + name + " --force " + options + more, SIGTERM,
                       [&] { return measurements(name) > 0 && states(name) + 1 >= wanted; });
      REQUIRE((code == 0 || code == -SIGTERM || code == 128 + SIGTERM));
    }
    REQUIRE(states(name) == wanted);
  }
  // Losses and validations, without what depends on time.
  std::vector<std::string> measured(std::string const& name) const {
    std::vector<std::string> lines = ran{0, read(name + "/metrics.jsonl"), ""}.lines();
    for (auto& line : lines) line.resize(std::min(line.find("\"pairs_per_second"), line.find("\"seconds")));
    return lines;
  }
};

}  // namespace

TEST_CASE_METHOD(resume_test, "a run that is stopped, killed and resumed is the run that was not") {
  ran const whole = (*this)("train --out @whole --threads 1 " + options);
  INFO(whole.error);
  REQUIRE(whole.code == 0);
  CHECK(saved("whole") == "");
  CHECK(measured("whole").size() > 50);
  std::uintmax_t const length = measurements("whole");

  // Run after run, until signals of each kind have hit steps.
  int stopped = 0, killed = 0;
  for (int round = 0; round < 30 && (round == 0 || stopped == 0 || killed == 0); ++round) {
    std::filesystem::remove_all(path / "cut");
    int code = -1;
    for (int attempt = 0; attempt < 200 && code != 0; ++attempt) {
      int const signal = (attempt + round) % 3 == 0 ? SIGTERM : (attempt + round) % 3 == 1 ? SIGKILL : SIGINT;
      // At the beginning, or once a part of the lines that are missing is there; a run that resumes takes back those
      // after its state.
      std::uintmax_t const now = states("cut") > 0 ? measurements("cut") : 0;
      std::uintmax_t const until = draw(4) == 0 ? 0 : now + 1 + draw(length - std::min(now, length - 1));
      std::filesystem::path const metrics = path / "cut/metrics.jsonl";
      if (now == 0) std::filesystem::remove(metrics);
      code = signalled("train --out @cut --save-every 50 " + options + (states("cut") > 0 ? " --resume" : " --force"),
                       signal, [&] { return measurements("cut") >= until; });
      INFO("attempt " << attempt << ", signal " << signal << ": " << code << ' ' << read(".err"));
      REQUIRE((code == 0 || code == 128 + signal || code == -signal));
      if (code > 0)
        CHECK_THAT(read(".err"), Catch::Contains(signal == SIGINT ? "SIGINT after step" : "SIGTERM after step"));
      if (code > 0) CHECK(states("cut") > 0);
      stopped += code > 0;
      killed += code == -SIGKILL && states("cut") > 0;
    }
    REQUIRE(code == 0);
    CHECK(saved("cut") == "");
    REQUIRE(read("cut/model.safetensors") == read("whole/model.safetensors"));
    REQUIRE(read("cut/vocab.txt") == read("whole/vocab.txt"));
    REQUIRE(measured("cut") == measured("whole"));
  }
  CHECK(stopped > 0);
  CHECK(killed > 0);
}

TEST_CASE_METHOD(resume_test, "what a resumed run must have in common with the saved one") {
  stop("model", 2, "--save-every 2");
  auto const refused = [&](std::string const& command, std::string const& message) {
    ran const r = (*this)("train --out @model --resume --threads 1 " + command);
    CHECK(r.code == 1);
    CHECK_THAT(r.error, Catch::Contains(message) && Catch::Contains("--"));
  };
  refused(options + "--rate 0.5", "--rate is not what the saved run had");
  refused(options + "--seed 2", "--seed is not");
  std::string other_dev = options;
  refused(other_dev.replace(options.find("@labelled"), 13, "@pairs.tsv"), "--dev is not");
  refused(options + "--layers 0", "--layers is not");
  refused(options + "--force", "excludes");
  std::string const vocabulary = read("model/vocab.txt");
  write("model/vocab.txt", vocabulary + "another\n");
  ran const other = (*this)("train --out @model --resume --threads 1 " + options);
  CHECK(other.code == 1);
  CHECK_THAT(other.error, Catch::Contains("model/vocab.txt is not the vocabulary that the model was trained with"));
  write("model/vocab.txt", vocabulary);
  // With the newest state damaged it goes on from the one before.
  auto const newest = std::ranges::max(
      std::vector<std::filesystem::path>{std::filesystem::directory_iterator(path / "model/checkpoints"), {}});
  std::filesystem::resize_file(newest / "parameters.safetensors", 100);
  ran const r = (*this)("train --out @model --resume --tensorboard " + options);
  INFO(r.error);
  REQUIRE(r.code == 0);
  // Of steps that come again nothing else is to be shown.
  std::filesystem::path const file = *std::filesystem::directory_iterator(path / "model/events");
  auto const events = event_reader::read(tx::io::read_text(file));
  CHECK(events.at(1).session == 1);
  CHECK((events.at(1).step > 1 && events.at(1).step <= events.at(2).step));
  CHECK_THAT(r.error, Catch::Contains("left out: ") && Catch::Contains("damaged"));
  // It has ended: there is nothing to resume.
  refused(options, "holds no saved state");
  // A new run in the folder forgets the states of one before.
  stop("model", 1, "");
  REQUIRE((*this)("train --out @model --force " + options).code == 0);
  CHECK(saved("model") == "");
}

TEST_CASE_METHOD(resume_test, "one run at a time writes to a folder") {
  std::vector<ran> others;
  std::string vocabulary, config;
  int const code = signalled("train --out @model/deep --pairs @pairs.tsv --vocabulary 300 --bag-steps 1 --steps 100000000 --save-every 9",
                             SIGKILL, [&] {
                               if (states("model/deep") == 0) return false;
                               vocabulary = read("model/deep/vocab.txt");
                               config = read("model/deep/config.json");
                               for (char const* const how : {"", "--force", "--resume", "--set-aside"})
                                 others.push_back((*this)("train --out @model/deep --threads 1 " + options + how));
                               // That would move the run's folder away.
                               others.push_back((*this)("train --out @model/ --set-aside --threads 1 " + options));
                               return true;
                             });
  REQUIRE(code == -SIGKILL);
  for (ran const& other : others) {
    CHECK(other.code == 1);
    CHECK_THAT(other.error, Catch::Contains("model/deep: another run is writing here") && Catch::Contains("FIX"));
  }
  CHECK(others.size() == 5);
  CHECK(read("model/deep/vocab.txt") == vocabulary);
  CHECK(read("model/deep/config.json") == config);
  CHECK(saved("model/deep") != "");
  CHECK_FALSE(std::filesystem::exists(path / "model.1"));
  CHECK_FALSE(std::filesystem::exists(path / "model/deep.1"));
  CHECK_FALSE(std::filesystem::exists(path / "model/.lock"));
  // A dead process holds nothing, though it has left its file.
  CHECK(std::filesystem::exists(path / "model/deep/.lock"));
  std::string const few = "--pairs @pairs.tsv --vocabulary 300 --bag-steps 2 --steps 2 --threads 1 ";
  REQUIRE((*this)("train --out @model --set-aside " + few).code == 0);
  CHECK(read("model.1/deep/vocab.txt") == vocabulary);
  CHECK_FALSE(std::filesystem::exists(path / "model.1/deep/.lock"));
  CHECK_FALSE(std::filesystem::exists(path / "model/.lock"));
}
