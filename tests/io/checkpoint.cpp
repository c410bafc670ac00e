// Checkpoints of a small run: what is saved comes back, and nothing else does.
#include <tx/io/checkpoint.hpp>

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <limits>

#include "size_limit.hpp"
#include "small_run.hpp"
#include "temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::io::load_checkpoint;
using tx::io::save_checkpoint;

namespace {

using run = small_run<float>;

run at_step(std::int64_t step) {
  run r;
  r.go_to(step);
  r.key = std::numeric_limits<std::uint64_t>::max() - 3;
  r.shape = small_shape::bent;
  return r;
}

// The run must be as it was, whatever is thrown.
template <class Error, class Run = run>
void refused(std::filesystem::path const& folder, std::string const& reason, Run r = {}, tx::io::resume_options o = {}) {
  Run const before = r;
  CHECK_THROWS_AS(load_checkpoint(folder, r, o), Error);
  CHECK_THROWS_WITH(load_checkpoint(folder, r, o), Contains(reason));
  CHECK(r == before);
}

void change(std::filesystem::path const& file, std::string const& from, std::string const& to) {
  std::string text = tx::io::read_text(file);
  auto const at = text.find(from);
  REQUIRE(at != std::string::npos);
  tx::io::write_file_atomic(file, text.replace(at, from.size(), to));
}

// A checkpoint.json that is wrong in itself, not damaged.
void change_promise(std::filesystem::path const& file, std::string const& from, std::string const& to) {
  change(file, from, to);
  std::string const text = tx::io::read_text(file);
  tx::io::write_file_atomic(file,
                            tx::io::detail::with_checksum(text.substr(0, text.rfind(tx::io::detail::manifest_sum))));
}

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

TEST_CASE("what is damaged is not among the checkpoints that are kept", "[checkpoint]") {
  using path = std::filesystem::path;
  void (*const damages[])(path const&) = {
      [](path const& c) { std::filesystem::remove(c / "checkpoint.json"); },
      [](path const& c) { std::filesystem::resize_file(c / "optimizer.safetensors", 100); },
      [](path const& c) { change(c / "parameters.safetensors", "hidden.scale", "hidden.scalf"); },
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

TEST_CASE("a folder without a complete checkpoint is refused", "[checkpoint]") {
  temp_folder folder;
  refused<tx::format_error>(folder.path, "no complete checkpoint");
  refused<tx::format_error>(folder / "none", "FIX: begin anew");
  std::filesystem::create_directory(folder / "checkpoint-000001");
  refused<tx::format_error>(folder.path, "checkpoint.json is missing");
  tx::io::write_file_atomic(folder / "file", "x");
  refused<tx::io_error>(folder / "file", "Not a directory");
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

TEST_CASE("a checkpoint of another model, version or program is refused", "[checkpoint]") {
  temp_folder folder;
  auto a = at_step(1);
  auto const json = folder / "checkpoint-000001/checkpoint.json";
  auto const again = [&] {
    std::filesystem::remove_all(folder / "checkpoint-000001");
    save_checkpoint(folder.path, a);
  };
  again();
  refused<tx::shape_error>(folder.path, "hidden.weight is f32[3, 4]; the model was compiled for f64[3, 4]",
                           small_run<double>{});
  struct other : run {
    auto tensors(int k) {
      auto all = run::tensors(k);
      if (renamed) all[1].name = "hidden.bias";
      if (reshaped) all[0].shape = {4, 3};
      if (fewer) all.pop_back();
      return all;
    }
    bool renamed = false, reshaped = false, fewer = false;
    bool operator==(other const&) const = default;
  };
  other b;
  b.renamed = true;
  refused<tx::format_error>(folder.path, "lacks the tensor hidden.bias; of other names it has 'hidden.scale'", b);
  b = {};
  b.reshaped = true;
  refused<tx::shape_error>(folder.path, "f32[3, 4]; the model was compiled for f32[4, 3]", b);
  b = {};
  b.fewer = true;
  refused<tx::format_error>(folder.path, "has the tensor hidden.scale, which the model lacks", b);
  run one_state;
  one_state.blocks.pop_back();
  refused<tx::format_error>(folder.path, "has the tensor state2.hidden.", one_state);
  run three_states;
  three_states.blocks.emplace_back(13);
  refused<tx::format_error>(folder.path, "lacks the tensor state3.hidden.weight", three_states);

  run another;
  another.learns_by = "plain(beta 0.9)";
  refused<tx::format_error>(
      folder.path, "states of the optimizer 'plain(beta 0.5)'; the run's is 'plain(beta 0.9)'. FIX: ", another);

  change_promise(json, "\"version\": 2", "\"version\": 1");
  refused<tx::format_error>(folder.path, "version 1 of the format; this program reads version 2");
  again();
  change_promise(json, "\"shape\": 1", "\"shape\": 257");
  refused<tx::format_error>(folder.path, "'shape' is out of range");
  change_promise(json, "\"shape\": 257", "\"stance\": 1");
  refused<tx::format_error>(folder.path, "lacks 'shape'");
  change_promise(json, "\"stance\": 1", "\"shape\": 1,\n    \"stance\": 1");
  refused<tx::format_error>(folder.path, "has 3 settings; the run has 2");
  again();
  change_promise(json, "\"step\": 1", "\"step\": -1");
  refused<tx::format_error>(folder.path, "step is negative");
  again();
  change_promise(json, "extra.safetensors", "ex.safetensors");
  refused<tx::format_error>(folder.path, "not those of a checkpoint");
  again();
  change_promise(json, "\"rate\": 0.2", "\"rate\": 1e300, \"x\": 0.2");
  refused<tx::format_error>(folder.path, "as this version writes it");
  again();
  run c;
  CHECK(load_checkpoint(folder.path, c).step == 1);
}

TEST_CASE("a NaN or an infinity is refused when asked for", "[checkpoint]") {
  temp_folder folder;
  tx::io::resume_options const finite{.finite = true};
  for (float const bad :
       {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    for (std::size_t block : {0u, 2u}) {
      auto a = at_step(1);
      a.blocks[block][7] = bad;
      save_checkpoint(folder.path, a);
      refused<tx::value_error>(folder.path, "hidden.weight holds a NaN or an infinity at element 7", run{}, finite);
      run b;
      CHECK(load_checkpoint(folder.path, b).step == 1);
      tx::io::save_parameters(folder / "p", a.tensors(0));
      if (block == 0)
        CHECK_THROWS_AS(tx::io::load_parameters(folder / "p", b.tensors(0), {.finite = true}), tx::value_error);
      else
        CHECK_NOTHROW(tx::io::load_parameters(folder / "p", b.tensors(0), {.finite = true}));
      CHECK_NOTHROW(tx::io::load_parameters(folder / "p", b.tensors(0)));
    }
  }
  auto a = at_step(1);
  a.blocks[0][0] = std::numeric_limits<float>::max();
  a.blocks[0][1] = std::numeric_limits<float>::denorm_min();
  save_checkpoint(folder.path, a);
  run b;
  load_checkpoint(folder.path, b, finite);
  CHECK(b == a);
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
