// Adds a checkpoint to a folder: it is written beside the others, and gets its name once it is whole.
#pragma once

#include <tx/io/checkpoint_folder.hpp>

#include <sys/file.h>

namespace tx::io {

// All that a checkpoint holds, as it is handed in; the tensors' bytes are someone else's.
struct checkpoint_contents {
  std::int64_t step = 0;
  std::uint64_t seed = 0;
  std::string identity;  // of the optimizer
  checkpoint_values settings, position;
  std::vector<tensor_info> parameters, optimizer, extra;
  std::optional<std::int64_t> number{};  // in its name, where that is not the step
};

namespace detail {

// One writer at a time: the system lets go of the lock when its holder ends, however that happens.
class folder_lock {
 public:
  explicit folder_lock(std::filesystem::path const& folder) : folder_(folder, O_RDONLY | O_DIRECTORY, "write into") {
    if (::flock(folder_.get(), LOCK_EX | LOCK_NB) == 0) return;
    if (errno == EWOULDBLOCK)
      throw io_error(folder.string() + ": another run is saving its checkpoints here. FIX: a folder for each run");
    throw_io_error("lock", folder, errno);
  }
  folder_lock(folder_lock const&) = delete;
  folder_lock& operator=(folder_lock const&) = delete;
  // A process that was forked in the meantime has the descriptor too, and would hold the lock as long as it lives.
  ~folder_lock() { ::flock(folder_.get(), LOCK_UN); }
  void sync() { folder_.sync(); }

 private:
  file_handle folder_;
};

// Makes a folder and those above it. Returns the folders whose names for others may not be on the disk: the one above
// it, and what is above each that is new.
TX_COLD inline std::vector<std::filesystem::path> make_folder(std::filesystem::path const& folder) {
  auto const above = [](std::filesystem::path const& path) {
    return path.has_parent_path() ? path.parent_path() : ".";
  };
  auto const name = folder.has_filename() ? folder : folder.parent_path();
  std::vector<std::filesystem::path> parents{above(name)};
  std::error_code ignored;
  while (!std::filesystem::exists(parents.back(), ignored)) parents.push_back(above(parents.back()));
  ensure_directory(folder);
  return parents;
}

// Returns what sum_file would, without reading the file again.
TX_COLD inline file_sum write_summed_safetensors(std::filesystem::path const& path, std::span<tensor_info const> tensors, std::map<std::string, std::string> about = {}) {
  about["format"] = "pt";
  std::uint64_t count = 0;
  crc64 sum;
  write_safetensors(path, tensors, about, [&](std::span<std::byte const> bytes) {
    count += bytes.size();
    sum.add(bytes);
  });
  return {count, sum.value()};
}

// A checkpoint that is being made. What is there at first is removed at the end, unless it got its name.
class new_checkpoint {
 public:
  // own: its number, if no higher one is there. name: of the folder that it is written in, which nobody else uses.
  new_checkpoint(std::filesystem::path const& folder, std::int64_t own, std::string const& name)
      : folder_(folder), made_(make_folder(folder)), lock_(folder), saving_(folder / name) {
    remove_unfinished(name);
    numbers_ = checkpoint_numbers(folder);
    if (numbers_.empty())  // the folder may be new itself
      for (auto const& parent : made_) file_handle(parent, O_RDONLY | O_DIRECTORY, "sync").sync();
    target_ = checkpoint_path(folder, numbers_.empty() ? own : std::max(own, numbers_.front() + 1));
    ensure_directory(saving_);
  }
  new_checkpoint(new_checkpoint const&) = delete;
  new_checkpoint& operator=(new_checkpoint const&) = delete;
  ~new_checkpoint() {
    std::error_code ignored;
    if (!named_) std::filesystem::remove_all(saving_, ignored);
  }

  // Where its files go.
  std::filesystem::path const& path() const { return saving_; }

  // It is whole. Removes those before the newest `keep` that are complete; what cannot be removed now is tried again by the next.
  void finish(checkpoint_manifest const& about, int keep) {
    write_file_atomic(saving_ / "checkpoint.json", json_of(about));  // syncs the folder too
    if (::rename(saving_.c_str(), target_.c_str()) != 0) throw_io_error("write", target_, errno);
    named_ = true;
    lock_.sync();
    int complete = 1;
    if (numbers_.size() < static_cast<std::size_t>(keep)) return;  // too few, so that none has to be looked at
    for (std::int64_t const number : numbers_) {
      if (complete >= keep)
        remove_checkpoint(folder_, number);
      else if (looks_complete(checkpoint_path(folder_, number)))
        ++complete;
    }
  }

 private:
  // What a save that was killed has left; another rank may have begun to write where this one will.
  void remove_unfinished(std::string const& own) const {
    remove_folder(folder_ / ".removing");
    for (auto const& name : unfinished_in(folder_))
      if (name != own || name == saving_name) remove_folder(folder_ / name);
  }

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> made_;
  folder_lock lock_;
  std::filesystem::path saving_, target_;
  std::vector<std::int64_t> numbers_{};
  bool named_ = false;
};

inline void check_saving(checkpoint_contents const& what, int keep) {
  if (keep < 1)
    throw value_error("write_checkpoint: it would keep " + std::to_string(keep) + " checkpoints. FIX: at least 1");
  if (what.step < 0 || what.number.value_or(what.step) < 0) throw value_error("write_checkpoint: the step is negative. FIX: count steps from 0");
}
inline checkpoint_manifest manifest_of(checkpoint_contents const& what) { return {what.step, what.seed, what.identity, what.settings, what.position, {}}; }

}  // namespace detail

// Adds a checkpoint and removes those before the newest `keep` that are complete, as far as their manifests and the sizes of
// their files tell; until then there is one more. Throws io_error if anything cannot be written, value_error for tensors that the format
// cannot hold: then nothing has changed.
TX_COLD inline void write_checkpoint(std::filesystem::path const& folder, checkpoint_contents const& what, int keep) {
  detail::check_saving(what, keep);
  detail::new_checkpoint made(folder, what.number.value_or(what.step), detail::saving_name);
  checkpoint_manifest about = detail::manifest_of(what);
  std::vector<tensor_info> const* const lists[] = {&what.extra, &what.optimizer, &what.parameters};
  for (std::size_t i = 0; i < 3; ++i) {
    std::string const name = detail::checkpoint_file(detail::checkpoint_lists[i]);
    about.files[name] = detail::write_summed_safetensors(made.path() / name, *lists[i]);
  }
  made.finish(about, keep);
}

}  // namespace tx::io
