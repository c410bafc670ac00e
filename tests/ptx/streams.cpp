// Work in streams: in the order that is promised, and backwards as late as it may be.
#include "runner/work_queue.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>

namespace {

struct written {
  std::string text;
  ptx::work of(char c) {
    return [this, c] { text += c; };
  }
};

}  // namespace

TEST_CASE("forwards, work is done as it comes", "[ptx]") {
  ptx::work_queue q(ptx::order::forwards);
  written w;
  auto* const s = q.make(false);
  q.add(s, w.of('a'));
  q.add(nullptr, w.of('b'));
  CHECK(w.text == "ab");
}

TEST_CASE("backwards, work is done once something waits for it", "[ptx]") {
  ptx::work_queue q(ptx::order::backwards);
  written w;
  auto* const s = q.make(false);
  auto* const t = q.make(false);
  q.add(s, w.of('a'));
  q.add(t, w.of('b'));
  q.add(s, w.of('c'));
  CHECK(w.text.empty());
  CHECK(!q.is_done(s));
  q.finish(t);
  CHECK(w.text == "b");
  q.finish(s);
  CHECK(w.text == "bac");
}

TEST_CASE("an event brings what was before it, and no more", "[ptx]") {
  ptx::work_queue q(ptx::order::backwards);
  written w;
  auto* const s = q.make(false);
  auto* const t = q.make(false);
  ptx::event e;
  q.add(s, w.of('a'));
  q.record(e, s);
  q.add(s, w.of('b'));
  q.wait(t, e);
  q.add(t, w.of('c'));
  q.finish(t);
  CHECK(w.text == "ac");
  q.finish_all();
  CHECK(w.text == "acb");
}

TEST_CASE("the default stream and others wait for each other, unless they say not to", "[ptx]") {
  ptx::work_queue q(ptx::order::backwards);
  written w;
  auto* const s = q.make(true);
  auto* const apart = q.make(false);
  q.add(s, w.of('a'));
  q.add(apart, w.of('x'));
  q.add(nullptr, w.of('b'));
  q.add(s, w.of('c'));
  q.finish(s);
  CHECK(w.text == "abc");
  q.finish_all();
  CHECK(w.text == "abcx");
}

TEST_CASE("what is captured runs when it is launched, as often as it is", "[ptx]") {
  ptx::work_queue q(ptx::order::forwards);
  written w;
  auto* const s = q.make(false);
  auto* const t = q.make(false);
  ptx::event forked, joined;
  q.begin_capture(s);
  CHECK(q.captures());
  q.add(s, w.of('a'));
  q.record(forked, s);
  q.wait(t, forked);
  q.add(t, w.of('b'));
  q.record(joined, t);
  q.wait(s, joined);
  q.add(s, w.of('c'));
  auto const graph = q.end_capture(s);
  CHECK(!q.captures());
  CHECK(w.text.empty());
  REQUIRE(graph != nullptr);
  for (int k = 0; k < 2; ++k) q.launch(*graph, s);
  CHECK(w.text == "abcabc");
  q.add(t, w.of('d'));
  CHECK(w.text == "abcabcd");
  CHECK(q.end_capture(s) == nullptr);
}

TEST_CASE("an event of the default stream brings what that waits for", "[ptx]") {
  ptx::work_queue q(ptx::order::backwards);
  written w;
  auto* const s = q.make(true);
  auto* const t = q.make(false);
  ptx::event e;
  q.add(s, w.of('a'));
  q.record(e, nullptr);
  q.wait(t, e);
  q.add(t, w.of('b'));
  q.finish(t);
  CHECK(w.text == "ab");
}

TEST_CASE("waiting for a stream does no work of the default stream that came later, and a destroyed stream still works",
          "[ptx]") {
  ptx::work_queue q(ptx::order::backwards);
  written w;
  auto* const s = q.make(true);
  q.add(s, w.of('a'));
  q.add(nullptr, w.of('b'));
  q.finish(s);
  CHECK(w.text == "a");
  ptx::event e;
  q.add(s, w.of('c'));
  q.record(e, s);
  q.destroy(s);
  CHECK(w.text == "a");
  q.finish(e);
  CHECK(w.text == "abc");
  CHECK_THROWS_AS(q.add(s, w.of('d')), std::logic_error);
}

TEST_CASE("branches of a graph run in any order that their events allow", "[ptx]") {
  auto const run = [](ptx::order in, bool joined) {
    ptx::work_queue q(in);
    written w;
    auto* const s = q.make(false);
    auto* const t = q.make(false);
    ptx::event fork, join;
    q.begin_capture(s);
    q.add(s, w.of('a'));
    q.record(fork, s);
    q.wait(t, fork);
    q.add(t, w.of('b'));
    q.add(s, w.of('c'));
    q.record(join, t);
    if (joined) q.wait(s, join);
    q.add(s, w.of('d'));
    auto const graph = q.end_capture(s);
    q.launch(*graph, s);
    q.finish(s);
    return w.text;
  };
  CHECK(run(ptx::order::forwards, true) == "abcd");
  CHECK(run(ptx::order::backwards, true) == "acbd");
  CHECK_THROWS_AS(run(ptx::order::forwards, false), std::logic_error);
}
