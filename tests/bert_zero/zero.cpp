// Four processes that train one model, two of which divide the products of a batch, and which divide states, gradients and parameters: what they learn, and what is saved, which is whole.
#include "../bert/run.hpp"
#include "../processes_test.hpp"

namespace {

struct zero_processes : processes_of<bert_test> {
  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --rate 0.003 --steps 60 --validations 2 ";
};

}  // namespace

TEST_CASE_METHOD(zero_processes, "processes that divide parameters learn, and the folder is whole", "[zero]") {
  REQUIRE(run(4, command + "--out @model") == std::vector<int>(4, 0));
  CHECK_THAT(out(0), Catch::Contains("accuracy 1.0000"));
  CHECK(error(1) + out(1) + error(3) + out(3) == "");
  ran const eval = (*this)("eval --model @model --data @dev.tsv --threads 1");  // by one process, which trains nothing
  INFO(eval.error);
  REQUIRE(eval.code == 0);
  CHECK_THAT(eval.out, Catch::Contains("accuracy 1.0000"));
}

TEST_CASE_METHOD(zero_processes, "a run whose parameters are divided is saved whole, and goes on bit by bit", "[zero]") {
  REQUIRE(run(4, command + "--out @whole") == std::vector<int>(4, 0));
  interrupted(command, {.stops = 2, .kills = 2, .save_every = 5, .turns = 40, .milliseconds = 150, .processes = 4});
  CHECK(model("cut") == model("whole"));
}

TEST_CASE_METHOD(zero_processes, "another number of processes than the program was compiled for is refused", "[zero]") {
  ran const alone = (*this)(command + "--out @alone --threads 1");
  CHECK(alone.code == 1);
  CHECK_THAT(alone.error, Catch::Contains("compiled for 4 ranks; there are 1. FIX: start so many"));
  REQUIRE(run(3, command + "--out @three") == std::vector<int>{1, 1, 1});
  CHECK_THAT(error(0), Catch::Contains("compiled for 4 ranks; there are 3"));
}
