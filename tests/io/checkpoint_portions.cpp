// Portions of tensors in files of several ranks: what they make together, what they cannot be, and a checkpoint of them.
#include "forked.hpp"
#include "system_calls.hpp"
#include "temp_folder.hpp"

#include <tx/io/checkpoint_portions.hpp>

#include <catch2/catch.hpp>

#include <csignal>
#include <functional>
#include <numeric>
#include <thread>

using namespace tx::io;
using Catch::Matchers::Contains;

namespace {

using numbers = std::vector<float>;

numbers counted(int first, int count) {
  numbers x(static_cast<std::size_t>(count));
  std::iota(x.begin(), x.end(), static_cast<float>(first));
  return x;
}
tensor_info tensor(std::string const& name, std::vector<std::int64_t> const& shape, numbers const& x) { return {name, tx::dtype::f32, shape, std::as_bytes(std::span(x))}; }

safetensors file_of(std::vector<tensor_info> const& tensors, std::map<std::string, std::string> const& rows) {
  temp_folder folder;
  write_safetensors(folder / "f", tensors, rows);
  return safetensors::read(folder / "f");
}
numbers read(safetensors const& in, std::string const& name, std::vector<std::int64_t> const& shape) {
  tensor_info const* const t = in.find(name);
  REQUIRE(t != nullptr);
  CHECK(t->shape == shape);
  numbers x(t->bytes.size() / sizeof(float));
  if (!x.empty()) std::memcpy(x.data(), t->bytes.data(), t->bytes.size());
  return x;
}

// A tensor [3, 2] in two files, as their metadata tell it.
std::string refused(std::vector<std::int64_t> const& first_shape, std::string const& first, std::vector<std::int64_t> const& second_shape, std::string const& second) {
  auto const count = [](std::vector<std::int64_t> const& shape) { return static_cast<int>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())); };
  numbers const a = counted(0, count(first_shape)), b = counted(10, count(second_shape));
  auto const rows = [](std::string const& text) { return text.empty() ? std::map<std::string, std::string>{} : std::map<std::string, std::string>{{"portion w", text}}; };
  std::vector<safetensors> files;
  files.push_back(file_of({tensor("w", first_shape, a)}, rows(first)));
  files.push_back(file_of({tensor("w", second_shape, b)}, rows(second)));
  try {
    static_cast<void>(joined_portions(files, "parameters"));
    return "";
  } catch (tx::format_error const& e) {
    return e.what();
  }
}

// Rank `number` of two has two rows of each [4, 3] and what is its own; it writes them as step `step`.
// In a folder of this try alone, as ranks agree on one for each.
void write_portion(std::filesystem::path const& folder, int number, std::int64_t step, int attempt, std::chrono::milliseconds patience = std::chrono::seconds(20)) {
  numbers const w = counted(6 * number, 6), moments = counted(100 + 6 * number, 6), bias{0.5f};
  checkpoint_portion own{number, 2, ".saving-" + std::to_string(attempt), {}, {}, {}};
  own.what.step = step;
  own.what.parameters = {tensor("w", {2, 3}, w)};
  own.what.optimizer = {tensor("state1.w", {2, 3}, moments)};
  if (number == 0) own.what.parameters.push_back(tensor("bias", {}, bias));
  own.parameter_rows["portion w"] = own.optimizer_rows["portion state1.w"] = std::to_string(0) + ' ' + std::to_string(2 * number) + " 4";
  write_checkpoint_portion(folder, own, 2, patience, [] { return false; });
}
void write_both(std::filesystem::path const& folder, std::int64_t step) {
  static int attempts = 1000;
  int const attempt = ++attempts;
  std::thread second([&] { write_portion(folder, 1, step, attempt); });
  write_portion(folder, 0, step, attempt);
  second.join();
}

}  // namespace

TEST_CASE("rows in several files are one tensor, along any axis and in any order") {
  numbers const w{0, 1, 2, 3, 4, 5}, last{6, 7}, left{0, 1, 10, 11}, right{2, 12}, bias{9};
  std::vector<safetensors> files;
  files.push_back(file_of({tensor("w", {1, 2}, last), tensor("columns", {2, 2}, left)}, {{"portion w", "0 3 4"}, {"portion columns", "1 0 3"}}));
  files.push_back(file_of({tensor("w", {3, 2}, w), tensor("columns", {2, 1}, right), tensor("bias", {1}, bias)}, {{"portion w", "0 0 4"}, {"portion columns", "1 2 3"}}));
  safetensors const whole = joined_portions(files, "parameters");
  CHECK(whole.tensors().size() == 3);
  CHECK(read(whole, "w", {4, 2}) == numbers{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(read(whole, "columns", {2, 3}) == numbers{0, 1, 2, 10, 11, 12});
  CHECK(read(whole, "bias", {1}) == bias);
  CHECK(joined_portions({}, "nothing").tensors().empty());
}

TEST_CASE("rows that are no tensor together are refused by its name") {
  CHECK(refused({2, 2}, "0 0 3", {1, 2}, "0 2 3") == "");
  CHECK(refused({2, 0}, "1 0 0", {2, 0}, "1 0 0") == "");
  CHECK(refused({2, 2}, "0 0 2", {0, 2}, "0 0 2") == "");
  CHECK(refused({1, 2}, "0 0 3", {1, 2}, "0 2 3") == "parameters: tensor 'w': of its rows those from 1 on are missing");
  CHECK(refused({2, 2}, "0 0 3", {2, 2}, "0 1 3") == "parameters: tensor 'w': of its rows those from 1 on are there twice");
  CHECK(refused({1, 2}, "0 0 3", {1, 2}, "0 1 3") == "parameters: tensor 'w': of its rows those from 2 on are missing");
  CHECK(refused({1, 2}, "0 1 3", {1, 2}, "0 2 3") == "parameters: tensor 'w': of its rows those from 0 on are missing");
  CHECK_THAT(refused({2, 2}, "0 0 3", {2, 1}, "1 0 2"), Contains("portions are of unlike tensors"));
  CHECK_THAT(refused({2, 2}, "0 0 3", {1, 3}, "0 2 3"), Contains("portions are of unlike tensors"));
  CHECK_THAT(refused({2, 2}, "0 0 3", {1, 2}, "0 2 4"), Contains("portions are of unlike tensors"));
  CHECK_THAT(refused({3, 2}, "", {1, 2}, "0 2 3"), Contains("portions are of unlike tensors"));
  CHECK_THAT(refused({2, 2}, "0 0 3", {3, 2}, ""), Contains("one has it whole"));
  for (char const* const text : {"", " ", "0 0", "0 0 3 ", " 0 0 3", "0  0 3", "00 0 3", "2 0 3", "-1 0 3", "0 -1 3", "0 2 3", "0 0 1", "0 0 99999999999999999999", "0 9223372036854775807 9223372036854775807", "a 0 3"}) {
    CAPTURE(text);
    CHECK_THAT(refused({2, 2}, text == std::string() ? std::string("?") : text, {1, 2}, "0 2 3"), Contains("says no portion of it"));
  }
}

TEST_CASE("two ranks write a checkpoint, which is read as any other") {
  temp_folder folder;
  auto const path = folder / "checkpoints";
  std::filesystem::create_directories(path / ".saving-5");  // left by ranks that were killed
  for (std::int64_t const step : {3, 4, 5}) write_both(path, step);
  CHECK_FALSE(std::filesystem::exists(path / ".saving-5"));
  CHECK(std::distance(std::filesystem::directory_iterator(path), {}) == 2);
  checkpoint const found = newest_checkpoint(path);
  CHECK(found.about.step == 5);
  CHECK(found.about.files.size() == 5);
  CHECK(found.about.files.contains("optimizer-00002-of-00002.safetensors"));
  CHECK(std::distance(std::filesystem::directory_iterator(found.path), {}) == 6);
  CHECK(read(found.parameters, "w", {4, 3}) == counted(0, 12));
  CHECK(read(found.parameters, "bias", {}) == numbers{0.5f});
  CHECK(read(found.optimizer, "state1.w", {4, 3}) == counted(100, 12));
}

TEST_CASE("a portion that is damaged, or missing, makes the checkpoint before the newest") {
  temp_folder folder;
  auto const path = folder / "checkpoints";
  for (std::int64_t const step : {3, 4}) write_both(path, step);
  auto const file = path / "checkpoint-000004" / "optimizer-00002-of-00002.safetensors";
  SECTION("damaged") {
    auto bytes = read_file(file);
    bytes.back() ^= std::byte{1};
    write_file_atomic(file, bytes);
  }
  SECTION("missing") { std::filesystem::remove(file); }
  SECTION("alone, and so no tensor") {
    numbers const w = counted(0, 6);
    checkpoint_portion own{0, 1, ".saving-9", {}, {}, {}};
    own.what.step = 5;
    own.what.parameters = {tensor("w", {2, 3}, w)};
    own.parameter_rows["portion w"] = "0 0 4";
    write_checkpoint_portion(path, own, 3, std::chrono::seconds(9), [] { return false; });
    checkpoint const found = newest_checkpoint(path);
    CHECK(found.about.step == 4);
    CHECK_THAT(found.skipped.at(0), Contains("of its rows those from 2 on are missing"));
    return;
  }
  checkpoint const found = newest_checkpoint(path);
  CHECK(found.about.step == 3);
  REQUIRE(found.skipped.size() == 1);
  CHECK_THAT(found.skipped[0], Contains("optimizer-00002-of-00002.safetensors is "));
}

TEST_CASE("a rank that does not write makes no checkpoint, and what was there stays") {
  temp_folder folder;
  auto const path = folder / "checkpoints";
  write_both(path, 3);
  CHECK_THROWS_WITH(write_portion(path, 0, 4, 1, std::chrono::milliseconds(30)), Contains("the rank that writes portion 2 has not done so. FIX: a folder that all ranks reach"));
  CHECK(std::distance(std::filesystem::directory_iterator(path), {}) == 1);
  CHECK(newest_checkpoint(path).about.step == 3);

  checkpoint_portion first{0, 2, ".saving-1", {}, {}, {}};
  CHECK_THROWS_WITH(write_checkpoint_portion(path, first, 2, std::chrono::hours(1), [] { return true; }), Contains("the checkpoint is given up"));
  checkpoint_portion none{-1, 2, ".saving-1", {}, {}, {}};
  write_checkpoint_portion(path, none, 2, std::chrono::hours(1), [] { return false; });
  CHECK(std::distance(std::filesystem::directory_iterator(path), {}) == 1);
}

TEST_CASE("of two ranks either is killed before or after any call of its save: the newest checkpoint is whole, and saves go on") {
  int const killed = GENERATE(0, 1);
  CAPTURE(killed);
  temp_folder folder;
  auto const path = folder / "checkpoints";
  std::int64_t step = 1;
  write_both(path, step);
  int kills = 0, lost = 0;
  for (int k = 0, signal = SIGKILL; signal != 0; ++k) {
    INFO("killed at event " << k);
    bool complete = true;
    signal = signal_of(
        [&] {
          int event = 0;
          watched_calls const watch([&](std::string const&, bool) {
            if (event++ == k) ::raise(SIGKILL);
            return 0;
          });
          write_portion(path, killed, step + 1, k);
        },
        [&](pid_t) {
          try {
            write_portion(path, 1 - killed, step + 1, k, std::chrono::milliseconds(150));
          } catch (tx::io_error const&) {
            complete = false;  // the first waited for the one that was killed
          }
        });
    checkpoint const found = newest_checkpoint(path);
    REQUIRE(found.skipped.empty());
    REQUIRE(found.about.step >= step);
    REQUIRE(found.about.step <= step + 1);
    REQUIRE(read(found.parameters, "w", {4, 3}) == counted(0, 12));
    REQUIRE(read(found.optimizer, "state1.w", {4, 3}) == counted(100, 12));
    kills += signal == SIGKILL;
    lost += found.about.step == step;
    REQUIRE((killed == 0 || complete == (found.about.step == step + 1)));
    step = found.about.step + 1;
    write_both(path, step);
    REQUIRE(newest_checkpoint(path).about.step == step);
  }
  CHECK(kills >= (killed == 0 ? 30 : 12));
  CHECK(lost >= kills / 2);
  CHECK(std::distance(std::filesystem::directory_iterator(path), {}) == 2);  // what killed saves left is gone
}

TEST_CASE("a checkpoint of files that are not all there, by their names, is none") {
  checkpoint_manifest about;
  auto const lists = [&](std::vector<std::string> const& names) {
    about.files.clear();
    for (auto const& name : names) about.files[name] = {};
    try {
      return static_cast<int>(detail::files_by_list(about, "checkpoint.json")[2].size());
    } catch (tx::format_error const&) {
      return 0;
    }
  };
  std::string const extra = "extra.safetensors", optimizer = "optimizer.safetensors", first = "parameters-00001-of-00002.safetensors", second = "parameters-00002-of-00002.safetensors";
  CHECK(lists({extra, optimizer, first, second}) == 2);
  CHECK(lists({extra, optimizer, "parameters.safetensors"}) == 1);
  CHECK(lists({extra, optimizer, first}) == 0);
  CHECK(lists({extra, optimizer, second}) == 0);
  CHECK(lists({extra, first, second}) == 0);
  CHECK(lists({extra, optimizer, first, second, "parameters.safetensors"}) == 0);
  CHECK(lists({extra, optimizer, first, "parameters-2-of-2.safetensors"}) == 0);
  CHECK(lists({extra, optimizer, first, second, "more"}) == 0);
}
