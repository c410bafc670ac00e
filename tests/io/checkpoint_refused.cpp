// Checkpoints of another model, program or version, folders without one, and numbers that are not finite: refused, and the run stays as it was.
#include <tx/io/checkpoint.hpp>

#include <catch2/catch.hpp>

#include <limits>

#include "checkpoint_cases.hpp"
#include "temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::io::load_checkpoint;
using tx::io::save_checkpoint;

namespace {
using run = small_run<float>;
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
