// Saves beside a run that goes on: the same files, the same exceptions, and the same checkpoints left where a save does not come to its end.
#include <tx/io/checkpoint_writer.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <csignal>
#include <memory>
#include <thread>

#include "checkpoint_cases.hpp"
#include "same_files.hpp"
#include "size_limit.hpp"
#include "small_run.hpp"
#include "system_calls.hpp"
#include "temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::io::checkpoint_writer;

namespace {

using run = small_run<float>;

// Its memory is out of the host's reach, but for copies.
struct far_run : run {
  static constexpr bool remote = true;
  std::vector<float> read(int k) const { return blocks[static_cast<std::size_t>(k)]; }
  static std::vector<named_tensor<float>> tensors_of(std::span<float> all, int) {
    return {{"hidden.weight", {3, 4}, all.first(12)}, {"hidden.scale", {}, all.last(1)}};
  }
};

// What is thrown, by type and text.
template <class F>
std::string reason_of(F f) {
  try {
    f();
  } catch (tx::io_error const& e) {
    return std::string("io_error: ") + e.what();
  } catch (tx::value_error const& e) {
    return std::string("value_error: ") + e.what();
  }
  return "";
}

template <class Run>
void check_same_files() {
  temp_folder folder;
  std::vector<std::int64_t> order{2, 0, 1};
  checkpoint_writer saves;
  for (std::int64_t step = 1; step <= 4; ++step) {
    Run r;
    r.go_to(step);
    tx::io::save_options const options{.extra = {{"order", tx::dtype::i64, {3}, std::as_bytes(std::span(order))}}, .number = step + 7};
    tx::io::checkpoint_values const position{{"epoch", step}, {"text", "\xC3\xA9"}};
    tx::io::save_checkpoint(folder / "front", r, position, options);
    saves.save(folder / "back", r, position, options);
    r.go_to(100);  // the run goes on
    r.key = 5;
    std::ranges::fill(order, step);
  }
  saves.wait();
  CHECK(tree_of(folder / "back").size() == 2 * 5);
  CHECK(tree_of(folder / "back") == tree_of(folder / "front"));
}

}  // namespace

TEST_CASE("a save in the background leaves the files of one that the run waits for", "[checkpoint]") {
  check_same_files<run>();
  check_same_files<far_run>();
}

TEST_CASE("a snapshot is allocated once", "[checkpoint]") {
  tx::io::checkpoint_snapshot snapshot;
  std::vector<std::byte> more(100);
  auto const places = [&](run r, std::size_t extra) {
    snapshot.take(r, {}, {.extra = {{"more", tx::dtype::u8, {static_cast<std::int64_t>(extra)}, std::span(more).first(extra)}}});
    auto const& what = snapshot.contents();
    REQUIRE(what.extra.size() == 1);
    std::vector<std::byte const*> all;
    for (auto const* list : {&what.parameters, &what.optimizer})
      for (auto const& t : *list) all.push_back(t.bytes.data());
    REQUIRE(all.size() == 6);
    return all;
  };
  auto const first = places(at_step(1), 10);
  CHECK(places(at_step(2), 100) == first);
  CHECK(places(at_step(3), 0) == first);
  auto r = at_step(3);
  CHECK(std::ranges::equal(snapshot.contents().parameters[0].bytes, std::as_bytes(r.tensors(0)[0].data)));
}

TEST_CASE("a save waits for the one before", "[checkpoint]") {
  temp_folder folder;
  auto r = at_step(1);
  checkpoint_writer saves;
  {
    watched_calls const watch([&](std::string const&, bool done) {
      if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a slow disk
      return 0;
    });
    for (std::int64_t step = 1; step <= 4; ++step) {
      r.go_to(step);
      saves.save(folder / "c", r, {}, {.keep = 1});
      // The one before is there by now, and those that have made way for it are not; this one is not yet.
      if (step > 1) CHECK(tx::io::detail::checkpoint_numbers(folder / "c") == std::vector<std::int64_t>{step - 1});
    }
    saves.wait();
  }
  run b;
  CHECK(tx::io::load_checkpoint(folder / "c", b).step == 4);
  CHECK(b == r);
}

TEST_CASE("a disk that fails at any call of a save in the background is told of, and leaves the checkpoints before it", "[checkpoint]") {
  temp_folder folder;
  auto one = at_step(1), two = at_step(2), three = at_step(3);
  bool failed = true;
  for (int k = 0; failed; ++k) {
    std::filesystem::remove_all(folder / "c");
    tx::io::save_checkpoint(folder / "c", one);
    checkpoint_writer saves;
    int calls = 0;
    bool named = false;
    std::string told;
    {
      watched_calls const watch([&](std::string const& call, bool done) {
        named = named || (done && call.ends_with("checkpoint-000002"));
        return !done && calls++ == k ? EIO : 0;
      });
      saves.save(folder / "c", two);
      told = reason_of([&] { saves.wait(); });
    }
    INFO("call " << k);
    failed = told != "";
    CHECK(failed == (calls == k + 1));
    if (failed) CHECK_THAT(told, Contains("io_error: ") && Contains((folder / "c").string()) && Contains("Input/output error"));
    run b;
    auto const from = tx::io::load_checkpoint(folder / "c", b);
    REQUIRE(b == (named ? two : one));
    CHECK(from.skipped.empty());
    CHECK_FALSE(std::filesystem::exists(folder / "c/.saving"));
    // It has been told: the next save is one like any other.
    saves.save(folder / "c", three);
    saves.wait();
    tx::io::load_checkpoint(folder / "c", b);
    REQUIRE(b == three);
    if (!failed) CHECK(k == 14);  // as many calls as a save in the foreground makes
  }
}

TEST_CASE("what a save has failed with comes out of the next one, which is complete by then", "[checkpoint]") {
  temp_folder folder;
  auto one = at_step(1), two = at_step(2), three = at_step(3);
  checkpoint_writer saves;
  saves.save(folder / "c", one);
  saves.wait();
  {
    size_limit const full(100);
    saves.save(folder / "c", two);
    while (!saves.failed()) std::this_thread::yield();
  }
  CHECK_THAT(reason_of([&] { saves.save(folder / "c", three); }), Contains("io_error: cannot write " + (folder / "c/.saving").string()) && Contains("too large"));
  run b;
  CHECK(tx::io::load_checkpoint(folder / "c", b).step == 3);
  CHECK_FALSE(saves.failed());
  CHECK_NOTHROW(saves.wait());
  // Where it fails too, the first reason is told.
  saves.save(folder / "c", one, {}, {.keep = 0});
  {
    size_limit const full(100);
    CHECK_THAT(reason_of([&] { saves.save(folder / "c", two); }), Contains("value_error: ") && Contains("it would keep 0"));
  }
  CHECK_NOTHROW(saves.wait());
}

TEST_CASE("a save in the background throws what one in the foreground throws", "[checkpoint]") {
  temp_folder folder;
  auto r = at_step(2);
  auto const check_same = [&](std::filesystem::path const& where, tx::io::checkpoint_values const& position, std::string const& reason) {
    checkpoint_writer saves;
    auto const front = reason_of([&] { tx::io::save_checkpoint(where, r, position); });
    auto const back = reason_of([&] { saves.save(where, r, position), saves.wait(); });
    CHECK(back == front);
    CHECK_THAT(back, Contains(reason));
  };
  for (rlim_t const limit : {rlim_t{300}, rlim_t{100}, rlim_t{0}}) {
    size_limit const full(limit);
    check_same(folder / "c", {}, "io_error: cannot write " + (folder / "c/.saving").string());
  }
  check_same(folder / "c", {{"x", "\xFF"}}, "value_error: ");
  tx::io::write_file_atomic(folder / "file", "x");
  check_same(folder / "file", {}, (folder / "file").string());
  check_same(folder / "file/below", {}, "Not a directory");
  check_same("/proc/none", {}, "io_error: cannot create the folder /proc/none");
  if (::geteuid() != 0) {  // root writes everything
    std::filesystem::permissions(folder / "c", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    check_same(folder / "c", {}, "Permission denied");
    std::filesystem::permissions(folder / "c", std::filesystem::perms::owner_all);
  }
  tx::io::save_checkpoint(folder / "c", r);
  tx::io::detail::folder_lock const other(folder / "c");
  check_same(folder / "c", {}, "another run is saving");
}

TEST_CASE("a folder that is removed while it is written to is told of", "[checkpoint]") {
  temp_folder folder;
  auto r = at_step(2);
  checkpoint_writer saves;
  watched_calls const watch([&](std::string const& call, bool done) {
    if (done && call.ends_with("optimizer.safetensors")) std::filesystem::remove_all(folder / "c");
    return 0;
  });
  saves.save(folder / "c", r);
  CHECK_THAT(reason_of([&] { saves.wait(); }), Contains("io_error: cannot ") && Contains((folder / "c/.saving").string()) && Contains("No such file"));
  saves.save(folder / "d", r);  // and there is nothing left to tell
  saves.wait();
}

TEST_CASE("a process that is forked during a save does not keep the next one from being written", "[checkpoint]") {
  temp_folder folder;
  auto r = at_step(1);
  auto saves = std::make_unique<checkpoint_writer>();
  pid_t child = -1;
  {
    std::atomic<int> stage{0};
    watched_calls const watch([&](std::string const&, bool) {
      int none = 0;
      if (stage.compare_exchange_strong(none, 1))
        while (stage != 2) std::this_thread::yield();
      return 0;
    });
    saves->save(folder.path, r);
    while (stage != 1) std::this_thread::yield();
    child = ::fork();
    if (child == 0) {  // has the descriptors of the save, and lives on
      saves.reset();
      for (;;) ::pause();
    }
    stage = 2;
    saves->wait();
  }
  CHECK(reason_of([&] { saves->save(folder.path, r), saves->wait(); }) == "");
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(folder.entries() == 2);
}

TEST_CASE("a process killed before or after any call of a save in the background leaves a complete checkpoint", "[checkpoint]") {
  temp_folder folder;
  auto one = at_step(1), two = at_step(2), three = at_step(3);
  tx::io::save_checkpoint(folder.path, one);
  tx::io::save_checkpoint(folder.path, two);
  int signal = SIGKILL, kills = 0;
  std::int64_t newest = 2;
  for (int k = 0; signal != 0; ++k) {
    INFO("killed at event " << k);
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int event = 0;
      watched_calls const watch([&](std::string const&, bool) {
        if (event++ == k) ::kill(::getpid(), SIGKILL);
        return 0;
      });
      checkpoint_writer saves;
      saves.save(folder.path, three);
      saves.wait();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
    signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    kills += signal == SIGKILL;
    run b;
    auto const from = tx::io::load_checkpoint(folder.path, b);
    REQUIRE(from.skipped.empty());
    REQUIRE(from.step >= newest);
    REQUIRE(b == (from.step == 2 ? two : three));
    newest = from.step;
  }
  CHECK(newest == 3);
  CHECK(kills >= 30);  // two for each of fifteen calls
}
