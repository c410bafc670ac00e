// The program begun with standard descriptors closed, as `2>&-` in a shell does.
#include "run.hpp"

using Catch::Contains;

namespace {

// Lines without what depends on time.
std::string losses(std::string const& metrics) {
  std::istringstream in(metrics);
  std::string all;
  for (std::string line; std::getline(in, line);) all += line.substr(0, std::min(line.find("\"pairs_per_second"), line.find("\"seconds"))) + '\n';
  return all;
}

}  // namespace

TEST_CASE_METHOD(twinbert_test, "training with standard descriptors closed writes the same files") {
  std::string const options = " --pairs @pairs.tsv --vocabulary 300 --steps 30 --bag-steps 30 --dev @labelled.tsv --out ";
  REQUIRE((*this)("train --threads 1" + options + "@usual").code == 0);
  for (std::vector<int> const& closed : {std::vector<int>{2}, {1, 2}, {0, 1, 2}, {0}}) {
    std::string const name = "closed" + std::to_string(closed.size()) + std::to_string(closed[0]);
    int const code = alone("train" + options + '@' + name, [&] {
      for (int const fd : closed) ::close(fd);
    });
    INFO(name);
    CHECK(code == 0);
    CHECK(losses(read(name + "/metrics.jsonl")) == losses(read("usual/metrics.jsonl")));
    for (std::string const file : {"/config.json", "/model.safetensors", "/vocab.txt"}) CHECK(read(name + file) == read("usual" + file));
  }
}

TEST_CASE_METHOD(twinbert_test, "a command whose product cannot be written fails") {
  REQUIRE(trained("--steps 3 --bag-steps 3").code == 0);
  write("texts", "alpha1 word2\n");
  for (char const* const command : {"score --model @model --pairs @labelled.tsv", "eval --model @model --pairs @labelled.tsv",
                                    "encode --model @model --side doc --text @texts",
                                    "bench --model @model --side doc --text @texts --runs 3", "train --help", "score --help"}) {
    INFO(command);
    CHECK(alone(command, [] { ::close(1); }) == 1);
    CHECK_THAT(read(".err"), Contains("cannot write to standard output: Bad file descriptor"));
    CHECK(alone(command, [] { ::dup2(::open("/dev/full", O_WRONLY), 1); }) == 1);
    CHECK_THAT(read(".err"), Contains("cannot write to standard output: No space left"));
    CHECK(alone(command, [] { ::dup2(::open("/dev/null", O_WRONLY), 1); }) == 0);
  }
}
