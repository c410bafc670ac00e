// What files of a run of training hold, whichever program wrote them.
#pragma once

#include "io/event_reader.hpp"

#include <tx/io/files.hpp>

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

// A trace of one step: one kernel after the other, more than so many, with more than so much arithmetic.
inline void check_trace(std::string const& text, std::size_t kernels, std::int64_t least_flops) {
  auto const trace = nlohmann::json::parse(text);
  double end = 0;
  std::int64_t flops = 0;
  for (auto const& e : trace.at("traceEvents")) {
    CHECK(e.at("ts").get<double>() >= end - 1e-2);
    end = e.at("ts").get<double>() + e.at("dur").get<double>();
    flops += e.at("args").at("flops").get<std::int64_t>();
  }
  CHECK(trace.at("traceEvents").size() > kernels);
  CHECK(flops > least_flops);
}

// An event file that has what the lines of metrics have, behind its first record.
inline void check_events(std::filesystem::path const& file, std::vector<std::string> const& lines) {
  auto const events = event_reader::read(tx::io::read_text(file));
  REQUIRE(events.size() == lines.size() + 1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto line = nlohmann::json::parse(lines[i]);
    CHECK(events[i + 1].step == line.at("step").get<std::int64_t>());
    line.erase("step");
    CHECK(events[i + 1].scalars.size() == line.size());
    for (auto const& [tag, value] : events[i + 1].scalars) CHECK(value == line.at(tag).get<float>());
  }
}
