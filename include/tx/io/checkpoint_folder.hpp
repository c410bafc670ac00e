// Checkpoints in a folder: FOLDER/checkpoint-000240/, of step 240, holds parameters, optimizer and extra .safetensors and
// checkpoint.json. The highest number is the newest; so where a folder has one of that step or of a later one already, the next number
// is taken (a loop that goes on from an earlier one removes the later ones first, and so keeps to its steps). One is written beside the others, synced, and gets its name in one rename: whatever ends a save, what was there before is
// there still, and there is nothing half-written under a checkpoint's name.
#pragma once

#include <tx/io/checkpoint_manifest.hpp>
#include <tx/io/safetensors.hpp>

#include <sys/file.h>

#include <algorithm>
#include <functional>

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

// A complete one, as it is read back.
struct checkpoint {
  std::filesystem::path path;
  checkpoint_manifest about;
  safetensors parameters, optimizer, extra;
  std::vector<std::string> skipped;  // newer ones that are damaged, and why
};

namespace detail {

inline constexpr char const* checkpoint_files[] = {"extra.safetensors", "optimizer.safetensors",
                                                   "parameters.safetensors"};
inline constexpr std::string_view checkpoint_prefix = "checkpoint-";

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

inline std::filesystem::path checkpoint_path(std::filesystem::path const& folder, std::int64_t number) {
  std::string const digits = std::to_string(number);
  return folder /
         (std::string(checkpoint_prefix) + std::string(6 - std::min<std::size_t>(6, digits.size()), '0') + digits);
}

// The numbers of a folder's checkpoints, the newest first; nothing for a folder that is not there.
TX_COLD inline std::vector<std::int64_t> checkpoint_numbers(std::filesystem::path const& folder) {
  std::vector<std::int64_t> numbers;
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    std::string const name = at->path().filename().string();
    if (!name.starts_with(checkpoint_prefix)) continue;
    std::int64_t number = 0;
    std::from_chars(name.data() + checkpoint_prefix.size(), name.data() + name.size(), number);
    constexpr std::int64_t most = 1'000'000'000'000'000;  // no program counts steps that far
    if (number < most && checkpoint_path("", number) == name) numbers.push_back(number);
  }
  if (code && code != std::errc::no_such_file_or_directory) throw_io_error("read", folder, code.value());
  std::ranges::sort(numbers, std::greater<>());
  return numbers;
}

inline void remove_folder(std::filesystem::path const& path) {
  std::error_code code;
  std::filesystem::remove_all(path, code);
  if (code) throw_io_error("remove", path, code.value());
}

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

// At once for those who read: it loses its name first. What cannot be removed then is left under a name that no reader
// looks at. Returns whether the name is gone.
inline bool remove_checkpoint(std::filesystem::path const& folder, std::int64_t number) {
  std::error_code code, ignored;
  std::filesystem::rename(checkpoint_path(folder, number), folder / ".removing", code);
  if (!code) std::filesystem::remove_all(folder / ".removing", ignored);
  return !code;
}

// Is it a checkpoint of this version, with all its files, each as long as was promised? Their contents, which may be larger
// than the memory there is, are not read: what a save costs does not depend on what lies beside it.
TX_COLD inline bool looks_complete(std::filesystem::path const& path) {
  try {
    checkpoint_manifest const about = parse_manifest(read_text(path / "checkpoint.json"), "checkpoint.json");
    if (about.files.size() != std::size(checkpoint_files)) return false;
    for (char const* const name : checkpoint_files) {
      auto const promised = about.files.find(name);
      std::error_code code;
      if (promised == about.files.end() || promised->second.bytes != std::filesystem::file_size(path / name, code) || code) return false;
    }
    return true;
  } catch (error const&) {
    return false;
  }
}

// Returns what sum_file would, without reading the file again.
TX_COLD inline file_sum write_summed_safetensors(std::filesystem::path const& path, std::span<tensor_info const> tensors) {
  std::uint64_t count = 0;
  crc64 sum;
  write_safetensors(path, tensors, {{"format", "pt"}}, [&](std::span<std::byte const> bytes) {
    count += bytes.size();
    sum.add(bytes);
  });
  return {count, sum.value()};
}

}  // namespace detail

// Adds a checkpoint and removes those before the newest `keep` that are complete, as far as their manifests and the sizes of
// their files tell; until then there is one more. Throws io_error if anything cannot be written, value_error for tensors that the format
// cannot hold: then nothing has changed.
TX_COLD inline void write_checkpoint(std::filesystem::path const& folder, checkpoint_contents const& what, int keep) {
  if (keep < 1)
    throw value_error("write_checkpoint: it would keep " + std::to_string(keep) + " checkpoints. FIX: at least 1");
  std::int64_t const own = what.number.value_or(what.step);
  if (what.step < 0 || own < 0) throw value_error("write_checkpoint: the step is negative. FIX: count steps from 0");
  auto const made = detail::make_folder(folder);
  detail::folder_lock lock(folder);
  // Under these names lies what a save that was killed has left.
  auto const saving = folder / ".saving", removing = folder / ".removing";
  detail::remove_folder(saving);
  detail::remove_folder(removing);
  auto const numbers = detail::checkpoint_numbers(folder);
  if (numbers.empty())  // the folder may be new itself
    for (auto const& parent : made) file_handle(parent, O_RDONLY | O_DIRECTORY, "sync").sync();
  auto const target = detail::checkpoint_path(folder, numbers.empty() ? own : std::max(own, numbers.front() + 1));
  struct cleaner {
    std::filesystem::path const& path;
    bool renamed = false;
    ~cleaner() {
      std::error_code ignored;
      if (!renamed) std::filesystem::remove_all(path, ignored);
    }
  } unfinished{saving};
  ensure_directory(saving);
  checkpoint_manifest about{what.step, what.seed, what.identity, what.settings, what.position, {}};
  std::vector<tensor_info> const* const lists[] = {&what.extra, &what.optimizer, &what.parameters};
  for (std::size_t i = 0; i < 3; ++i) {
    char const* const name = detail::checkpoint_files[i];
    about.files[name] = detail::write_summed_safetensors(saving / name, *lists[i]);
  }
  write_file_atomic(saving / "checkpoint.json", json_of(about));  // syncs the folder too
  if (::rename(saving.c_str(), target.c_str()) != 0) throw_io_error("write", target, errno);
  unfinished.renamed = true;
  lock.sync();
  // What cannot be removed now is tried again by the next save.
  int complete = 1;
  if (numbers.size() < static_cast<std::size_t>(keep)) return;  // too few, so that none has to be looked at
  for (std::int64_t const number : numbers) {
    if (complete >= keep)
      detail::remove_checkpoint(folder, number);
    else if (detail::looks_complete(detail::checkpoint_path(folder, number)))
      ++complete;
  }
}

// One checkpoint by its own path. Throws damaged_checkpoint unless every file is there, as long and with the checksum
// that checkpoint.json says; format_error for another version; io_error if a file cannot be read.
TX_COLD inline checkpoint read_checkpoint(std::filesystem::path const& path) {
  auto const needed = [&](char const* name) {
    std::error_code code;
    if (!std::filesystem::exists(path / name, code) && !code)
      throw damaged_checkpoint((path / name).string() + " is missing");
    return path / name;
  };
  auto const json = needed("checkpoint.json");
  checkpoint_manifest about = parse_manifest(read_text(json), json.string());
  auto const load = [&](char const* name) {
    auto const promised = about.files.find(name);
    if (promised == about.files.end() || about.files.size() != std::size(detail::checkpoint_files))
      throw format_error(json.string() + ": the files it lists are not those of a checkpoint");
    auto const file = needed(name);
    auto bytes = read_file(file);
    if (promised->second != file_sum{bytes.size(), crc64_of(std::span(std::as_const(bytes)))})
      throw damaged_checkpoint(file.string() +
                               " is damaged or cut short: its size or checksum is not that of checkpoint.json");
    return safetensors::parse(std::move(bytes), file.string());
  };
  auto parameters = load("parameters.safetensors");
  auto optimizer = load("optimizer.safetensors");
  auto extra = load("extra.safetensors");
  return {path, std::move(about), std::move(parameters), std::move(optimizer), std::move(extra), {}};
}

inline bool has_checkpoint(std::filesystem::path const& folder) { return !detail::checkpoint_numbers(folder).empty(); }

// The newest complete one. Throws format_error if there is none, with the reason if there is one that is damaged.
TX_COLD inline checkpoint newest_checkpoint(std::filesystem::path const& folder) {
  std::vector<std::string> skipped;
  for (std::int64_t const number : detail::checkpoint_numbers(folder)) {
    try {
      auto found = read_checkpoint(detail::checkpoint_path(folder, number));
      found.skipped = std::move(skipped);
      return found;
    } catch (damaged_checkpoint const& e) {
      skipped.emplace_back(e.what());
    }
  }
  throw format_error(folder.string() + " holds no complete checkpoint" +
                     (skipped.empty() ? "" : ": " + skipped.front()) +
                     ". FIX: begin anew, or name the folder that save_checkpoint was given");
}

// The number in a checkpoint's name.
inline std::int64_t checkpoint_number(std::filesystem::path const& checkpoint) {
  std::string const name = checkpoint.filename().string();
  std::int64_t number = -1;
  if (name.starts_with(detail::checkpoint_prefix))
    std::from_chars(name.data() + detail::checkpoint_prefix.size(), name.data() + name.size(), number);
  return number;
}

// The checkpoints of higher numbers, which a run that has gone back to `number` is about to write again. Throws io_error for what cannot
// be removed.
TX_COLD inline void remove_checkpoints_after(std::filesystem::path const& folder, std::int64_t number) {
  for (std::int64_t const later : detail::checkpoint_numbers(folder))
    if (later > number && !detail::remove_checkpoint(folder, later)) detail::remove_folder(detail::checkpoint_path(folder, later));
}

// All checkpoints of a folder, with the folder if it holds nothing else and is no link to one. Throws io_error for what cannot be removed.
TX_COLD inline void remove_checkpoints(std::filesystem::path const& folder) {
  auto const remove_unnamed = [&] {
    for (char const* const name : {".saving", ".removing"}) detail::remove_folder(folder / name);
  };
  remove_unnamed();
  for (std::int64_t const number : detail::checkpoint_numbers(folder))
    if (!detail::remove_checkpoint(folder, number)) detail::remove_folder(detail::checkpoint_path(folder, number));
  remove_unnamed();
  int code = 0;
  do code = ::rmdir(folder.c_str()) == 0 ? 0 : errno;
  while (code == EINTR);  // some file systems of networks and containers
  std::error_code none;
  auto const name = folder.has_filename() ? folder : folder.parent_path();  // with a slash behind it a link would be what it leads to
  if (code == ENOTDIR && std::filesystem::is_symlink(name, none)) return;
  if (code != 0 && code != ENOENT && code != ENOTEMPTY && code != EEXIST) throw_io_error("remove", folder, code);
}

}  // namespace tx::io
