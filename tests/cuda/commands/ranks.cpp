// bert --device in several processes, which have a device each: they train one model, to the bits of two processes without devices but for rounding.
#include "../../bert/run.hpp"
#include "../../processes_test.hpp"
#include "apart.hpp"

TEST_CASE_METHOD(processes_of<bert_test>, "processes with a device each train one model") {
  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --rate 0.003 --steps 3 --validations 1 --out ", by_device = std::string(" --device ") + TX_DEVICE_NAME;
  auto const ends = run(2, command + "@devices" + by_device);
  INFO(error(0) << error(1));
  REQUIRE(ends == std::vector<int>{0, 0});
  CHECK_THAT(error(0), Catch::Contains("step 3/3"));
  CHECK(error(1) + out(1) == "");
  REQUIRE(run(2, command + "@hosts") == std::vector<int>{0, 0});
  CHECK(apart(path / "devices", path / "hosts") < 1e-5);

  write("texts", "count the few tokens\ntoo the few tokens\nfew tokens\n");
  REQUIRE(run(2, "predict --model @devices --text @texts" + by_device) == std::vector<int>{0, 0});
  CHECK(std::ranges::count(out(0), '\n') == 3);
  CHECK(out(1) == "");
}
