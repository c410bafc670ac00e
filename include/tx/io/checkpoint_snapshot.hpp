// A copy of all that a checkpoint holds, so that a run may go on while it is written.
#pragma once

#include <tx/io/checkpoint.hpp>

#include <cstring>
#include <memory>

namespace tx::io {

// Memory: one copy of the tensors of a checkpoint. It is allocated by the first take() and used again by those that follow.
class checkpoint_snapshot {
 public:
  // Whatever happens to the run and to the tensors of `options` afterwards, contents() stays what they are now.
  template <class Run>
  void take(Run& run, checkpoint_values const& position, save_options const& options) {
    contents_ = detail::contents_without_tensors(run, position, options);
    used_ = 0;
    for (int k = 0; k <= run.states(); ++k) {
      if constexpr (detail::remote_run<Run>) {
        auto block = run.read(k);  // one at a time, so that there is no second copy of all
        keep(k, run.tensors_of(std::span(block), k));
      } else {
        keep(k, run.tensors(k));
      }
    }
    for (tensor_info const& t : options.extra) contents_.extra.push_back({t.name, t.type, t.shape, copy_of(t.bytes)});
  }

  checkpoint_contents const& contents() const { return contents_; }

  // The same of what this rank keeps of a run that ranks divide, all of which have to call it. Allocated each time.
  template <class Run>
  void take_portion(Run& run, checkpoint_values const& position, save_options const& options) {
    portion_ = detail::portion_of_run(run, position, options, copies_);
    used_ = 0;
    for (tensor_info const& t : options.extra) portion_.what.extra.push_back({t.name, t.type, t.shape, copy_of(t.bytes)});
  }
  checkpoint_portion const& portion() const { return portion_; }

 private:
  struct room {
    std::unique_ptr<std::byte[]> bytes{};
    std::size_t size = 0;
  };

  template <class Tensors>
  void keep(int k, Tensors const& tensors) {
    std::vector<detail::tensor_place> places;
    detail::append_places(places, tensors, detail::prefix_of_block(k));
    auto& to = k == 0 ? contents_.parameters : contents_.optimizer;
    for (auto& p : places) to.push_back({std::move(p.name), p.type, std::move(p.shape), copy_of(p.bytes)});
  }

  // The tensors of a run are as many and as large each time: each finds the room that it had before.
  std::span<std::byte const> copy_of(std::span<std::byte const> bytes) {
    if (used_ == rooms_.size()) rooms_.emplace_back();
    room& to = rooms_[used_++];
    if (to.size < bytes.size()) {
      to = {};  // not both at once
      to = {std::make_unique_for_overwrite<std::byte[]>(bytes.size()), bytes.size()};
    }
    if (!bytes.empty()) std::memcpy(to.bytes.get(), bytes.data(), bytes.size());
    return {to.bytes.get(), bytes.size()};
  }

  checkpoint_contents contents_;
  checkpoint_portion portion_;
  std::vector<std::vector<std::byte>> copies_;  // of its tensors
  std::vector<room> rooms_;
  std::size_t used_ = 0;  // of the rooms
};

}  // namespace tx::io
