// Checkpoints of a small run: what is saved comes back, and nothing else does.
#include <tx/io/checkpoint.hpp>

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <limits>

#include "checkpoint_cases.hpp"
#include "size_limit.hpp"
#include "system_calls.hpp"
#include "temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::io::load_checkpoint;
using tx::io::save_checkpoint;

namespace {

using run = small_run<float>;

std::vector<std::string> names(std::filesystem::path const& folder) {
  std::vector<std::string> all;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) all.push_back(entry.path().filename().string());
  std::ranges::sort(all);
  return all;
}

}  // namespace

TEST_CASE("a run comes back as it was saved, with the caller's values and tensors", "[checkpoint]") {
  temp_folder folder;
  double const inf = std::numeric_limits<double>::infinity();
  tx::io::checkpoint_values const position{{"epoch", 3},
                                           {"least", std::numeric_limits<std::int64_t>::min()},
                                           {"share", 1.0 / 3},
                                           {"whole", 2.0},
                                           {"minus zero", -0.0},
                                           {"tiny", 4.9e-324},
                                           {"huge", -1.7e308},
                                           {"inf", inf},
                                           {"-inf", -inf},
                                           {"nan", std::nan("")},
                                           {"text", "a \"name\"\n\\ \xC3\xA9 inf"},
                                           {"", ""}};
  std::vector<std::int64_t> const order{2, 0, 1};
  auto a = at_step(25);
  save_checkpoint(folder / "a/b", a, position,
                  {.extra = {{"order", tx::dtype::i64, {3}, std::as_bytes(std::span(order))}}});
  run b;
  auto const from = load_checkpoint(folder / "a/b", b);
  CHECK(b == a);
  CHECK(from.step == 25);
  CHECK(from.path == folder / "a/b/checkpoint-000025");
  CHECK(from.skipped.empty());
  CHECK(from.position.size() == position.size());
  for (auto const& [name, value] : position) {
    INFO(name);
    REQUIRE(from.position.contains(name));
    if (name == "nan")
      CHECK(std::isnan(tx::io::value_of<double>(from.position, name)));
    else
      CHECK(from.position.at(name) == value);
  }
  CHECK(std::signbit(tx::io::value_of<double>(from.position, "minus zero")));
  CHECK_THROWS_WITH(tx::io::value_of<double>(from.position, "batch"), Contains("lacks 'batch'"));
  CHECK_THROWS_WITH(tx::io::value_of<double>(from.position, "epoch"), Contains("'epoch' is no number"));
  CHECK_THROWS_WITH(tx::io::value_of<std::string>(from.position, "epoch"), Contains("'epoch' is no text"));
  tx::io::checkpoint_values const wide{{"small", std::int64_t{-3}}, {"large", std::int64_t{1} << 40}};
  CHECK(tx::io::value_of<int>(wide, "small") == -3);
  CHECK_THROWS_WITH(tx::io::value_of<int>(wide, "large"), Contains("out of range"));
  CHECK_THROWS_WITH(tx::io::value_of<std::uint64_t>(wide, "small"), Contains("out of range"));
  REQUIRE(from.extra.tensors().size() == 1);
  CHECK(std::ranges::equal(from.extra.find("order")->bytes, std::as_bytes(std::span(order))));
  // Parameters by their own names, for whoever wants no more.
  small_run<float> c;
  tx::io::load_parameters(from.path / "parameters.safetensors", c.tensors(0));
  CHECK(c.blocks[0] == a.blocks[0]);
}

TEST_CASE("the newest checkpoints are kept", "[checkpoint]") {
  temp_folder folder;
  for (int step = 1; step <= 5; ++step) {
    auto a = at_step(step);
    save_checkpoint(folder.path, a, {}, {.keep = step < 5 ? 3 : 1});
    CHECK(folder.entries() == static_cast<std::size_t>(step < 5 ? std::min(step, 3) : 1));
  }
  run b;
  CHECK(load_checkpoint(folder.path, b).step == 5);
  CHECK(names(folder.path) == std::vector<std::string>{"checkpoint-000005"});
  // The newest is what was saved last, also where a run went back to an earlier step.
  auto a = at_step(2);
  save_checkpoint(folder.path, a);
  CHECK(load_checkpoint(folder.path, b).step == 2);
  CHECK_THROWS_AS(save_checkpoint(folder.path, a, {}, {.keep = 0}), tx::value_error);
  CHECK(folder.entries() == 2);
  CHECK(tx::io::has_checkpoint(folder.path));
  tx::io::remove_checkpoints(folder.path);
  CHECK_FALSE(std::filesystem::exists(folder.path));
  CHECK_FALSE(tx::io::has_checkpoint(folder.path));
}

TEST_CASE("a checkpoint may have a number of its caller's, and later ones are removed", "[checkpoint]") {
  temp_folder folder;
  run r;
  for (std::int64_t const number : {100, 250, 1'000'000}) {
    r.go_to(number - 99);  // its own steps began anew
    tx::io::save_checkpoint(folder.path, r, {}, {.keep = 5, .number = number});
  }
  auto const path = [&](char const* name) { return std::filesystem::exists(folder / name); };
  CHECK((path("checkpoint-000100") && path("checkpoint-000250") && path("checkpoint-1000000")));
  CHECK(tx::io::checkpoint_number(folder / "checkpoint-000250") == 250);
  CHECK(tx::io::checkpoint_number(folder / "checkpoint-1000000") == 1'000'000);
  CHECK(tx::io::checkpoint_number(folder / "other") == -1);
  tx::io::remove_checkpoints_after(folder.path, 250);
  CHECK(folder.entries() == 2);
  run back;
  CHECK(tx::io::load_checkpoint(folder.path, back).step == 151);
  tx::io::remove_checkpoints_after(folder / "nothing", 0);
  CHECK_THROWS_AS(tx::io::save_checkpoint(folder.path, r, {}, {.number = -1}), tx::value_error);
}

TEST_CASE("a folder of checkpoints may be a link, which stays when they are removed", "[checkpoint]") {
  temp_folder folder;
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_directory_symlink(folder / "real", folder / "link");
  run r = at_step(3);
  for (std::filesystem::path const& path : {folder / "link", folder / "link/"}) {
    save_checkpoint(path, r);
    CHECK(std::filesystem::exists(folder / "real/checkpoint-000003"));
    CHECK_NOTHROW(tx::io::remove_checkpoints(path));
    CHECK(std::filesystem::is_symlink(folder / "link"));
    CHECK(std::filesystem::is_empty(folder / "real"));
  }
  tx::io::remove_checkpoints(folder / "real");
  CHECK_FALSE(std::filesystem::exists(folder / "real"));
  CHECK_NOTHROW(tx::io::remove_checkpoints(folder / "link"));
  tx::io::write_file_atomic(folder / "file", "");
  CHECK_THROWS_AS(tx::io::remove_checkpoints(folder / "file"), tx::io_error);
}

TEST_CASE("what is damaged is not among the checkpoints that are kept", "[checkpoint]") {
  using path = std::filesystem::path;
  void (*const damages[])(path const&) = {
      [](path const& c) { std::filesystem::remove(c / "checkpoint.json"); },
      [](path const& c) { std::filesystem::resize_file(c / "optimizer.safetensors", 100); },
      [](path const& c) { std::filesystem::remove(c / "extra.safetensors"); },
      [](path const& c) { change_promise(c / "checkpoint.json", "\"version\": 2", "\"version\": 1"); },
      [](path const& c) { change_promise(c / "checkpoint.json", "extra.safetensors", "ex.safetensors"); },
  };
  for (auto const damage : damages) {
    temp_folder folder;
    auto const save = [&](int step) {
      auto a = at_step(step);
      save_checkpoint(folder.path, a);
      return names(folder.path);
    };
    save(1);
    save(2);
    damage(folder / "checkpoint-000002");
    CHECK(save(3) == std::vector<std::string>{"checkpoint-000001", "checkpoint-000002", "checkpoint-000003"});
    CHECK(save(4) == std::vector<std::string>{"checkpoint-000003", "checkpoint-000004"});
    damage(folder / "checkpoint-000004");
    CHECK(save(5).size() == 3);
    run b;
    CHECK(load_checkpoint(folder.path, b).step == 5);
    std::filesystem::remove(folder / "checkpoint-000005/checkpoint.json");
    std::filesystem::remove_all(folder / "checkpoint-000004");
    CHECK(load_checkpoint(folder.path, b).step == 3);  // the second that was kept
  }
}

TEST_CASE("a save reads nothing of older checkpoints but their manifests", "[checkpoint]") {
  temp_folder folder;
  auto const save = [&](int step) {
    auto a = at_step(step);
    save_checkpoint(folder.path, a, {}, {.keep = 4});
  };
  for (int step = 1; step <= 5; ++step) save(step);
  std::vector<std::string> reads;
  {
    watched_calls const watch(
        [&](std::string const& call, bool done) {
          if (!done && (reads.empty() || reads.back() != call)) reads.push_back(call);
          return 0;
        },
        watched_calls::kind::reading);
    save(6);
  }
  auto const manifest = [&](char const* name) { return "read " + (std::filesystem::canonical(folder.path) / name / "checkpoint.json").string(); };
  CHECK(reads == std::vector<std::string>{manifest("checkpoint-000005"), manifest("checkpoint-000004"), manifest("checkpoint-000003")});
  CHECK(names(folder.path) == std::vector<std::string>{"checkpoint-000003", "checkpoint-000004", "checkpoint-000005", "checkpoint-000006"});
  // So it counts one whose bytes have changed; who loads finds that out, and takes the one before.
  change(folder / "checkpoint-000006/parameters.safetensors", "hidden.scale", "hidden.scalf");
  run b;
  auto const from = load_checkpoint(folder.path, b);
  CHECK(from.step == 5);
  CHECK(from.skipped.size() == 1);
}

TEST_CASE("what is no checkpoint is left alone", "[checkpoint]") {
  temp_folder folder;
  for (char const* name : {"checkpoint-7", "checkpoint-", "checkpoint-00000x", "checkpoint-000001.old", "mine"})
    std::filesystem::create_directory(folder / name);
  CHECK_FALSE(tx::io::has_checkpoint(folder.path));
  auto a = at_step(1);
  save_checkpoint(folder.path, a, {}, {.keep = 1});
  save_checkpoint(folder.path, a, {}, {.keep = 1});
  CHECK(folder.entries() == 6);
  run b;
  CHECK(load_checkpoint(folder.path, b).path == folder / "checkpoint-000002");
}

TEST_CASE("what is damaged or cut short gives way to the one before", "[checkpoint]") {
  temp_folder folder;
  auto one = at_step(1), two = at_step(2);
  for (char const* file : {"checkpoint.json", "parameters.safetensors", "optimizer.safetensors", "extra.safetensors"}) {
    for (bool const missing : {false, true}) {
      std::filesystem::remove_all(folder / "c");
      save_checkpoint(folder / "c", one);
      save_checkpoint(folder / "c", two);
      auto const path = folder / "c/checkpoint-000002" / file;
      if (missing)
        std::filesystem::remove(path);
      else
        std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
      run b;
      auto const from = load_checkpoint(folder / "c", b);
      CHECK(from.step == 1);
      CHECK(b == one);
      REQUIRE(from.skipped.size() == 1);
      CHECK_THAT(from.skipped[0], Contains(file) && Contains(missing ? "is missing" : "damaged"));
    }
  }
}

TEST_CASE("a byte that changed is found wherever it is", "[checkpoint]") {
  temp_folder folder;
  auto const one = at_step(1), two = at_step(2);
  auto saved = one;
  save_checkpoint(folder.path, saved, {{"epoch", 1}});
  saved = two;
  save_checkpoint(folder.path, saved, {{"epoch", 2}});
  std::uint64_t random = 1;
  for (char const* file : {"checkpoint.json", "parameters.safetensors", "optimizer.safetensors", "extra.safetensors"}) {
    auto const path = folder / "checkpoint-000002" / file;
    std::string const text = tx::io::read_text(path);
    for (int trial = 0; trial < 100; ++trial) {
      std::string changed = text;
      for (int n = 0; n <= trial % 3; ++n) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        changed[(random >> 33) % changed.size()] = static_cast<char>(random >> 25);
      }
      tx::io::file_handle(path, O_WRONLY | O_TRUNC, "write").write_all(std::as_bytes(std::span(changed)));
      run b;
      auto const from = load_checkpoint(folder.path, b);
      bool const same = changed == text;
      REQUIRE(b == (same ? two : one));
      REQUIRE(tx::io::value_of<std::int64_t>(from.position, "epoch") == (same ? 2 : 1));
    }
    tx::io::write_file_atomic(path, text);
  }
}

TEST_CASE("a save that fails leaves the checkpoints before it", "[checkpoint]") {
  temp_folder folder;
  auto one = at_step(1), two = at_step(2);
  save_checkpoint(folder / "c", one);
  auto const unharmed = [&] {
    run b;
    CHECK(load_checkpoint(folder / "c", b).step == 1);
    CHECK(b == one);
    CHECK(names(folder / "c") == std::vector<std::string>{"checkpoint-000001"});
  };
  // The disk is full at a tensor file, at checkpoint.json, at a single byte.
  std::vector<std::byte> const large(5000);
  tx::io::save_options const more{.extra = {{"large", tx::dtype::u8, {5000}, large}}};
  for (rlim_t const limit : {rlim_t{4096}, rlim_t{300}, rlim_t{0}}) {
    size_limit full(limit);
    CHECK_THROWS_AS(save_checkpoint(folder / "c", two, {}, more), tx::io_error);
    CHECK_THROWS_WITH(save_checkpoint(folder / "c", two, {}, more), Contains("cannot write") && Contains("too large"));
  }
  unharmed();
  {
    size_limit full(3000);  // only checkpoint.json is larger
    CHECK_THROWS_WITH(save_checkpoint(folder / "c", two, {{"long", std::string(4000, 'x')}}), Contains(".saving"));
  }
  unharmed();
  CHECK_THROWS_AS(save_checkpoint(folder / "c", two, {{"x", "\xFF"}}), tx::value_error);
  CHECK_THROWS_AS(save_checkpoint(folder / "c", two, {}, {.extra = {{"x", tx::dtype::u8, {2}, {}}}}), tx::value_error);
  unharmed();
  {
    tx::io::detail::folder_lock const other(folder / "c");
    CHECK_THROWS_WITH(save_checkpoint(folder / "c", two), Contains("another run is saving"));
  }
  tx::io::write_file_atomic(folder / "file", "x");
  CHECK_THROWS_AS(save_checkpoint(folder / "file", two), tx::io_error);
  CHECK_THROWS_WITH(save_checkpoint(folder / "file/below", two), Contains("file/below") && Contains("Not a directory"));
  CHECK_THROWS_AS(save_checkpoint("/proc/none", two), tx::io_error);
  if (::geteuid() != 0) {  // root writes and reads everything
    ::chmod((folder / "c").c_str(), 0500);
    CHECK_THROWS_WITH(save_checkpoint(folder / "c", two), Contains("Permission denied"));
    ::chmod((folder / "c").c_str(), 0700);
    ::chmod((folder / "c/checkpoint-000001/parameters.safetensors").c_str(), 0);
    refused<tx::io_error>(folder / "c", "Permission denied");
    ::chmod((folder / "c/checkpoint-000001/parameters.safetensors").c_str(), 0600);
  }
  unharmed();
  // What is unreadable is an error, not a reason to go back.
  std::filesystem::create_directories(folder / "c/checkpoint-000002/checkpoint.json");
  refused<tx::io_error>(folder / "c", "checkpoint-000002");
}
