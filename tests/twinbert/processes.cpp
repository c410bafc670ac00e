// Several processes train one model: the same bits each time, on all of them, also after they were stopped or killed; and what ends one ends all.
#include "../processes_test.hpp"
#include "run.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace {

struct processes_test : processes_of<twinbert_test> {
  std::string const options = "train --pairs @pairs.tsv --dev @labelled.tsv --vocabulary 300 --bag-steps 60 --validations 4 ";
  std::string const sixty = options + "--steps 60 ", many = options + "--steps 100000 ";
};

}  // namespace

TEST_CASE_METHOD(processes_test, "processes train one model, to the same bits each time") {
  REQUIRE(run(2, sixty + "--out @first") == std::vector<int>{0, 0});
  CHECK_THAT(error(0), Catch::Contains("on 2 processes of 1 threads each") && Catch::Contains("step 120/120") && Catch::Contains("the model is in"));
  CHECK(error(1) == "");  // the first speaks for all
  REQUIRE(run(2, sixty + "--out @second --check-ranks 7 --profile @trace") == std::vector<int>{0, 0});
  auto const trace = nlohmann::json::parse(read("trace")).at("traceEvents");
  std::set<int> lanes, of_collectives;
  for (auto const& e : trace) {
    lanes.insert(e.at("pid").get<int>());
    if (e.at("name").get<std::string>().find("all_reduce") != std::string::npos) of_collectives.insert(e.at("pid").get<int>());
  }
  CHECK(lanes == std::set<int>{1, 2});
  CHECK(of_collectives == lanes);
  CHECK(model("first") == model("second"));
  CHECK_THAT((*this)(sixty + "--out @refused --check-ranks 7").error, Catch::Contains("--check-ranks: of several processes"));
  REQUIRE((*this)(sixty + "--out @alone --threads 1").code == 0);
  CHECK(model("alone") != model("first"));  // its batches are half as large
  REQUIRE(run(3, sixty + "--out @three") == std::vector<int>{0, 0, 0});
  CHECK(model("three") != model("first"));
  CHECK((*this)("eval --model @first --pairs @labelled.tsv").code == 0);
}

TEST_CASE_METHOD(processes_test, "processes that are stopped or killed go on as if nothing had happened") {
  std::string const command = options + "--steps 400 ";
  REQUIRE(run(2, command + "--out @whole") == std::vector<int>{0, 0});
  interrupted(command, {.stops = 2, .kills = 3, .save_every = 7, .turns = 100, .milliseconds = 100});
  CHECK(model("cut") == model("whole"));
}

TEST_CASE_METHOD(processes_test, "what ends one process ends all, and each says why") {
  auto const all = start(2, many + "--out @model");
  auto const begun = [&] { return std::filesystem::exists(path / "model/metrics.jsonl") && read("model/metrics.jsonl") != ""; };
  while (!ended(all[0]) && !begun()) ::usleep(1000);
  ::kill(all[1], SIGKILL);
  CHECK(codes(all) == std::vector<int>{1, -SIGKILL});
  CHECK_THAT(error(0), Catch::Contains("twinbert: rank 1 has ended, or was killed"));

  write("short.tsv", "");
  CHECK(run(2, "train --pairs @short.tsv --out @none") == std::vector<int>{1, 1});
  auto const refused = [&](std::string const& more, std::string const& what) {
    CHECK(run(2, options + "--out @none " + more) == std::vector<int>{1, 1});
    CHECK_THAT(error(0) + error(1), Catch::Contains(what));
    CHECK_FALSE(std::filesystem::exists(path / "none"));
  };
  refused("--seconds 5", "--seconds: processes have clocks of their own, and all take the same steps. FIX: --steps");
  refused("--device cuda", "--device cuda: this program is not compiled for it. FIX: cpu; or cmake -DTX_CUDA=ON for cuda, -DTX_HIP=ON for hip");
}

TEST_CASE_METHOD(processes_test, "processes with other options do not train") {
  CHECK(codes(start(2, sixty + "--out @model", " --clip 9")) == std::vector<int>{1, 1});
  CHECK_THAT(error(1), Catch::Contains("--clip is another than the first process has. FIX: the same options and files for all"));
  CHECK_THAT(error(0), Catch::Contains("rank 1 failed: --clip is another"));
}

TEST_CASE_METHOD(processes_test, "a run is resumed by as many processes as began it") {
  auto const all = start(4, many + "--out @four --save-every 5");
  while (!ended(all[0]) && !some_saved("four")) ::usleep(1000);
  ::kill(all[0], SIGTERM);
  CHECK(codes(all) == std::vector<int>(4, 128 + SIGTERM));  // all go in order
  CHECK_THAT(error(0), Catch::Contains("SIGTERM after step") && Catch::Contains("the state is saved"));
  for (int r = 1; r < 4; ++r) CHECK(error(r) == "");

  auto const two = start(2, many + "--out @cut --save-every 5");
  while (!ended(two[0]) && !some_saved("cut")) ::usleep(1000);
  ::kill(two[0], SIGTERM);
  REQUIRE(codes(two) == std::vector<int>{128 + SIGTERM, 128 + SIGTERM});
  ran const alone = (*this)(many + "--out @cut --save-every 5 --resume --threads 1");
  CHECK(alone.code == 1);
  CHECK_THAT(alone.error, Catch::Contains("the number of processes is not what the saved run had (2, now 1)"));
  CHECK(run(3, many + "--out @cut --save-every 5 --resume") == std::vector<int>{1, 1, 1});
  CHECK_THAT(error(0) + error(1) + error(2), Catch::Contains("the number of processes is not what the saved run had (2, now 3)"));
}
