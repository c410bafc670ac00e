// In which order a checkpoint reaches the disk, and what a disk leaves that fails or a process that is killed on the
// way.
#include <tx/io/checkpoint.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <sstream>

#include "checkpoint_cases.hpp"
#include "small_run.hpp"
#include "system_calls.hpp"
#include "temp_folder.hpp"

namespace {

using run = small_run<float>;

// Paths below a folder, and names of temporary files without their numbers.
std::string plain(std::string text, std::filesystem::path const& folder) {
  auto const replace = [&](std::string const& from, std::string const& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  auto const path = std::filesystem::canonical(folder).string();
  replace(path + '/', "");
  replace(path, ".");
  for (auto at = text.find(".tmp-"); at != std::string::npos; at = text.find(".tmp-"))
    text.erase(at + 4, text.find_first_not_of("-0123456789", at + 4) - at - 4);
  return text;
}

}  // namespace

TEST_CASE("a checkpoint's data, manifest, folder and name reach the disk in this order", "[checkpoint]") {
  temp_folder folder;
  auto const path = std::filesystem::canonical(folder.path);
  std::vector<std::string> calls;
  std::map<std::string, std::uintmax_t> synced;  // sizes by path
  auto a = at_step(1);
  std::int64_t late = 0;  // files that grew after they were synced
  auto const save = [&] {
    calls.clear();
    watched_calls const watch([&](std::string const& call, bool done) {
      if (!done) return 0;
      std::istringstream words(call);
      std::string what, from, to;
      words >> what >> from >> to;
      std::error_code ignored;
      if (what == "sync")
        synced[from] = std::filesystem::file_size(from, ignored);
      else if (std::filesystem::is_regular_file(to))
        late += synced[from] != std::filesystem::file_size(to);
      calls.push_back(plain(call, path));
      return 0;
    });
    tx::io::save_checkpoint(path / "a/b", a);
  };
  auto const expected = [](std::string const& number, std::vector<std::string> all) {
    for (std::string const file :
         {"extra.safetensors", "optimizer.safetensors", "parameters.safetensors", "checkpoint.json"})
      for (std::string const& call : {std::string("sync a/b/.saving/.tmp"),
                                      "rename a/b/.saving/.tmp a/b/.saving/" + file, std::string("sync a/b/.saving")})
        all.push_back(call);
    all.push_back("rename a/b/.saving a/b/checkpoint-00000" + number);
    all.push_back("sync a/b");
    return all;
  };
  save();
  CHECK(calls == expected("1", {"sync a", "sync ."}));  // two folders are new
  save();
  CHECK(calls == expected("2", {}));
  save();  // what goes loses its name first
  auto third = expected("3", {});
  third.push_back("rename a/b/checkpoint-000001 a/b/.removing");
  CHECK(calls == third);
  CHECK(late == 0);
}

TEST_CASE("a disk that fails at any call of a save leaves the checkpoints before it", "[checkpoint]") {
  temp_folder folder;
  auto one = at_step(1), two = at_step(2);
  bool failed = true;
  for (int k = 0; failed; ++k) {
    std::filesystem::remove_all(folder / "c");
    tx::io::save_checkpoint(folder / "c", one);
    int calls = 0;
    bool named = false;
    std::string which;
    failed = false;
    try {
      watched_calls const watch([&](std::string const& call, bool done) {
        if (done) {
          named = named || call.ends_with("checkpoint-000002");
          return 0;
        }
        which = call;
        return calls++ == k ? EIO : 0;
      });
      tx::io::save_checkpoint(folder / "c", two);
    } catch (tx::io_error const& e) {
      failed = true;
      INFO(which);
      CHECK_THAT(e.what(), Catch::Contains("Input/output error"));
    }
    INFO("call " << k << ": " << which);
    CHECK(failed == (calls == k + 1));
    run b;
    auto const from = tx::io::load_checkpoint(folder / "c", b);
    REQUIRE(b == (named ? two : one));
    CHECK(from.skipped.empty());
    CHECK_FALSE(std::filesystem::exists(folder / "c/.saving"));
    if (!failed) CHECK(k == 14);  // as many calls as the test before this has seen
  }
}

TEST_CASE("what cannot be removed is said or removed by the next attempt, never left in silence", "[checkpoint]") {
  for (int const error : {EBUSY, EINTR}) {
    int said = 0, failed = 0;
    for (int failing = 0; failed == failing; ++failing) {
      temp_folder folder;
      auto const path = folder.path / "run/checkpoints";
      for (std::int64_t const step : {1, 2}) {
        run r = at_step(step);
        tx::io::save_checkpoint(path, r);
      }
      bool threw = false;
      {
        int removals = 0;
        watched_calls const watch(
            [&](std::string const&, bool done) {
              if (done || removals++ != failing) return 0;
              ++failed;
              return error;
            },
            watched_calls::kind::removing);
        try {
          tx::io::remove_checkpoints(path);
        } catch (tx::io_error const&) {
          threw = true;
        }
      }
      INFO("removal " << failing << " fails: " << std::strerror(error));
      CHECK_FALSE(tx::io::has_checkpoint(path));
      CHECK(std::filesystem::exists(path) == threw);
      said += threw;
      tx::io::remove_checkpoints(path);
      CHECK_FALSE(std::filesystem::exists(path));
    }
    CHECK(failed > 8);  // two folders of four files, and the one around them
    CHECK((error == EINTR || said == 1));
  }
}
