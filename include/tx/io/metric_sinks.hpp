// Several sinks as one:
//
//   tx::io::metric_sinks sinks;
//   sinks.emplace<tx::io::metrics_log>("metrics.jsonl");
//   if (wanted) sinks.emplace<tx::io::event_file>("events");
//   sinks.write(step, {{"loss", loss}});
#pragma once

#include <tx/io/metric.hpp>

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace tx::io {

// What is written goes to all of them, in the order they were added. Where one throws, those behind it miss that step.
class metric_sinks {
 public:
  // The new sink, which lives as long as these do.
  template <metric_sink S, class... A>
  S& emplace(A&&... arguments) {
    auto added = std::make_unique<holder<S>>(std::forward<A>(arguments)...);
    S& sink = added->sink;
    all_.push_back(std::move(added));
    return sink;
  }

  void write(std::int64_t step, std::span<metric const> values) {
    for (auto const& each : all_) each->write(step, values);
  }
  void write(std::int64_t step, std::initializer_list<metric> values) {
    write(step, std::span(values.begin(), values.size()));
  }

 private:
  struct any_sink {
    any_sink() = default;
    any_sink(any_sink const&) = delete;
    any_sink& operator=(any_sink const&) = delete;
    virtual ~any_sink() = default;
    virtual void write(std::int64_t step, std::span<metric const> values) = 0;
  };
  template <class S>
  struct holder final : any_sink {
    S sink;
    template <class... A>
    explicit holder(A&&... arguments) : sink(std::forward<A>(arguments)...) {}
    void write(std::int64_t step, std::span<metric const> values) override { sink.write(step, values); }
  };

  std::vector<std::unique_ptr<any_sink>> all_;
};

}  // namespace tx::io
