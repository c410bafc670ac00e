// Several processes run one command: they train one model, to the same bits each time, also after they were stopped or killed, and share a file of texts among them.
#include "../../examples/bert/engine.hpp"
#include "../processes_test.hpp"
#include "run.hpp"

#include <cmath>

namespace {

struct bert_processes : processes_of<bert_test> {
  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --rate 0.003 --dropout 0.1 --validations 2 ";

  std::string text(int count) const {
    std::string all;
    for (int i = 0; i < count; ++i) all += sentence(i) + '\n';
    return all;
  }
};

}  // namespace

TEST_CASE_METHOD(bert_processes, "processes fine-tune one model, to the same bits each time, and use it together", "[bert]") {
  REQUIRE(run(2, command + "--steps 20 --out @first") == std::vector<int>{0, 0});
  CHECK_THAT(error(0), Catch::Contains("the model is in") && Catch::Contains("step 20/20"));
  CHECK_THAT(out(0), Catch::Contains("% of it in communication"));
  CHECK(error(1) + out(1) == "");  // the first speaks for all
  REQUIRE(run(2, command + "--steps 20 --out @second") == std::vector<int>{0, 0});
  CHECK(model("first") == model("second"));
  REQUIRE((*this)(command + "--steps 20 --out @alone --threads 1").code == 0);
  CHECK(model("alone") != model("first"));  // its batches are half as large

  write("texts", text(13));
  for (std::string const use : {"predict --text @texts", "eval --data @dev.tsv", "embed --text @texts"}) {
    CAPTURE(use);
    ran const alone = (*this)(use + " --model @first --threads 1");
    REQUIRE(alone.code == 0);
    for (int const count : {2, 3}) {
      REQUIRE(run(count, use + " --model @first") == std::vector<int>(static_cast<std::size_t>(count), 0));
      CHECK(out(0) == alone.out);
      for (int r = 1; r < count; ++r) CHECK(out(r) == "");
    }
  }
  write("one", text(1));  // fewer texts than processes
  REQUIRE(run(3, "predict --model @first --text @one") == std::vector<int>{0, 0, 0});
  CHECK(out(0) == (*this)("predict --model @first --text @one --threads 1").out);
}

TEST_CASE_METHOD(bert_processes, "a step of two processes learns from the texts of both", "[bert]") {
  int const count = 2 * bert::compiled().batch;  // both together see all of them, and tell the mean of their losses
  write("few.tsv", labelled(0, count));
  REQUIRE(run(2, "finetune --model @folder --data @few.tsv --dev @dev.tsv --dropout 0 --validations 1 --steps 1 --rate 0 --out @model") == std::vector<int>{0, 0});
  double told = 0, wanted = 0;
  REQUIRE(std::sscanf(read("model/metrics.jsonl").c_str(), "{\"step\":1,\"loss\":%lf", &told) == 1);
  write("texts", text(count));
  auto const lines = (*this)("predict --model @model --text @texts --threads 1").lines();
  REQUIRE(lines.size() == static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    std::string const& line = lines[static_cast<std::size_t>(i)];
    double const probability = std::stod(line.substr(line.find('\t') + 1));
    bool const right = line.starts_with("counts") == (i % 2 == 0);
    wanted -= std::log(right ? probability : 1 - probability) / count;
  }
  CHECK(told == Approx(wanted).epsilon(1e-5));
}

TEST_CASE_METHOD(bert_processes, "processes that fine-tune and are stopped or killed go on as if nothing had happened", "[bert]") {
  std::string const all_steps = command + "--steps 200 ";
  REQUIRE(run(2, all_steps + "--out @whole") == std::vector<int>{0, 0});
  interrupted(all_steps, {.stops = 1, .kills = 2, .save_every = 9, .turns = 60, .milliseconds = 60});
  CHECK(model("cut") == model("whole"));
}

TEST_CASE_METHOD(bert_processes, "what the processes of a command must have in common", "[bert]") {
  CHECK(codes(start(2, command + "--steps 20 --out @model", " --decay 0.5")) == std::vector<int>{1, 1});
  CHECK_THAT(error(1), Catch::Contains("--decay is another than the first process has. FIX: the same options and files for all"));
  CHECK_THAT(error(0), Catch::Contains("rank 1 failed: --decay is another"));
  write("few.tsv", labelled(0, 16));
  CHECK(run(3, "finetune --model @folder --data @few.tsv --dev @dev.tsv --steps 20 --out @none") == std::vector<int>(3, 1));
  CHECK_THAT(error(0), Catch::Contains("has 16 texts, a step takes 24") && Catch::Contains("or fewer processes"));
}
