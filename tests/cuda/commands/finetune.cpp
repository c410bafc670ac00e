// bert --device: what a device learns, tells and goes on from is what processors do, to rounding. TX_DEVICE_NAME: which device.
#include "../../bert/run.hpp"
#include "apart.hpp"

#include <catch2/catch.hpp>

namespace {

std::string const by_device = std::string(" --device ") + TX_DEVICE_NAME;

struct commands_test : bert_test {
  ran learn(std::string const& out, std::string const& more) const {
    return (*this)("finetune --model @folder --data @train.tsv --dev @dev.tsv --threads 1 --out " + out + ' ' + more + (more.find("--rate") == more.npos ? " --rate 0.003" : ""));
  }
};

}  // namespace

TEST_CASE_METHOD(commands_test, "a device learns, and tells of texts, what processors do") {
  std::string const five = "--steps 5 --validations 1";  // with dropout, whose bits are the same everywhere
  ran const host = learn("@host", five), device = learn("@device", five + by_device);
  INFO(host.error << device.error);
  REQUIRE(host.code == 0);
  REQUIRE(device.code == 0);
  REQUIRE(learn("@still", five + " --rate 0").code == 0);
  CHECK(apart(path / "host", path / "still") > 1e-3);
  CHECK(apart(path / "host", path / "device") < 1e-5);

  std::string const asked = "predict --model @device --text @texts --threads 1";
  write("texts", "count the few tokens\ntoo the few tokens\n");
  ran const by_host = (*this)(asked), told = (*this)(asked + by_device);
  REQUIRE(by_host.code == 0);
  REQUIRE(told.code == 0);
  auto const probability = [](std::string const& line) { return std::stod(line.substr(line.find('\t') + 1)); };
  for (std::size_t t = 0; t < 2; ++t) {
    INFO(told.lines().at(t));
    CHECK(told.lines()[t].substr(0, told.lines()[t].find('\t')) == by_host.lines().at(t).substr(0, by_host.lines()[t].find('\t')));
    CHECK(probability(told.lines()[t]) == Approx(probability(by_host.lines()[t])).margin(2e-5));
  }
}

TEST_CASE_METHOD(commands_test, "a run that a device began goes on from its checkpoint, there and on processors") {
  // First of all: a process that has used a device has none after a fork.
  int const code = signalled("finetune --model @folder --data @train.tsv --dev @dev.tsv --rate 0.003 --steps 4 --validations 1 --save-every 1 --out @cut" + by_device, SIGTERM,
                             [&] { return saved(); });
  REQUIRE((is_done(code, SIGTERM) || code == 128 + SIGTERM));
  REQUIRE(learn("@whole", "--steps 4 --validations 1" + by_device).code == 0);
  if (is_done(code, SIGTERM)) return;
  std::filesystem::copy(path / "cut", path / "moved", std::filesystem::copy_options::recursive);
  REQUIRE(learn("@cut", "--steps 4 --validations 1 --resume" + by_device).code == 0);
  CHECK(read("cut/model.safetensors") == read("whole/model.safetensors"));
  ran const moved = learn("@moved", "--steps 4 --validations 1 --resume");
  INFO(moved.error);
  REQUIRE(moved.code == 0);
  CHECK(apart(path / "moved", path / "whole") < 1e-5);
}
