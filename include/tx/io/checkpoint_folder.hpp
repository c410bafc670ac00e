// Checkpoints in a folder: FOLDER/checkpoint-000240/, of step 240, holds parameters, optimizer and extra .safetensors and
// checkpoint.json. Of parameters and states that ranks divide each may have written a file of its own (checkpoint_portions.hpp). The highest number is the newest; so where a folder has one of that step or of a later one already, the next number
// is taken (a loop that goes on from an earlier one removes the later ones first, and so keeps to its steps). One is written beside the others, synced, and gets its name in one rename: whatever ends a save, what was there before is
// there still, and there is nothing half-written under a checkpoint's name.
#pragma once

#include <tx/io/checkpoint_manifest.hpp>
#include <tx/io/safetensors.hpp>
#include <tx/io/tensor_portions.hpp>

#include <algorithm>
#include <functional>

namespace tx::io {

// A complete one, as it is read back.
struct checkpoint {
  std::filesystem::path path;
  checkpoint_manifest about;
  safetensors parameters, optimizer, extra;
  std::vector<std::string> skipped;  // newer ones that are damaged, and why
};

namespace detail {

// What a checkpoint has a file of each of: NAME.safetensors, or, of parameters and states that ranks divide, NAME-00001-of-00004.safetensors and so on.
inline constexpr char const* checkpoint_lists[] = {"extra", "optimizer", "parameters"};

inline std::string checkpoint_file(std::string const& list) { return list + ".safetensors"; }
// number: from 0 on.
inline std::string checkpoint_file(std::string const& list, int number, int count) {
  auto const five = [](int n) {
    std::string const digits = std::to_string(n);
    return std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits;
  };
  return list + '-' + five(number + 1) + "-of-" + five(count) + ".safetensors";
}

// The files that a checkpoint has of one of these, in order; nothing where they are not all there.
TX_COLD inline std::vector<std::string> files_of_list(checkpoint_manifest const& about, std::string const& list) {
  if (about.files.contains(checkpoint_file(list))) return {checkpoint_file(list)};
  std::vector<std::string> names;
  for (auto const& [name, sum] : about.files)
    if (name.starts_with(list + '-')) names.push_back(name);
  std::ranges::sort(names, {}, [](std::string const& name) { return std::pair(name.size(), name); });  // beyond 99,999 numbers are longer
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k] != checkpoint_file(list, static_cast<int>(k), static_cast<int>(names.size()))) return {};
  return names;
}
// All that it lists, of each list in order; a format_error for others.
TX_COLD inline std::vector<std::vector<std::string>> files_by_list(checkpoint_manifest const& about, std::string const& source) {
  std::vector<std::vector<std::string>> lists;
  std::size_t known = 0;
  for (char const* const list : checkpoint_lists) {
    lists.push_back(files_of_list(about, list));
    known += lists.back().size();
    if (lists.back().empty()) known = about.files.size() + 1;
  }
  if (known != about.files.size()) throw format_error(source + ": the files it lists are not those of a checkpoint");
  return lists;
}
inline constexpr std::string_view checkpoint_prefix = "checkpoint-";

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

// What a save is written in until it is whole: .saving, or, of several ranks, .saving- and what they agreed on.
inline constexpr char const* saving_name = ".saving";
TX_COLD inline std::vector<std::string> unfinished_in(std::filesystem::path const& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    if (std::string name = at->path().filename().string(); name.starts_with(saving_name)) names.push_back(std::move(name));
  if (code && code != std::errc::no_such_file_or_directory) throw_io_error("read", folder, code.value());
  return names;
}

inline void remove_folder(std::filesystem::path const& path) {
  std::error_code code;
  std::filesystem::remove_all(path, code);
  if (code) throw_io_error("remove", path, code.value());
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
    static_cast<void>(files_by_list(about, "checkpoint.json"));
    for (auto const& [name, promised] : about.files) {
      std::error_code code;
      if (promised.bytes != std::filesystem::file_size(path / name, code) || code) return false;
    }
    return true;
  } catch (error const&) {
    return false;
  }
}

}  // namespace detail

// One checkpoint by its own path. Throws damaged_checkpoint unless every file is there, as long and with the checksum
// that checkpoint.json says; format_error for another version; io_error if a file cannot be read.
TX_COLD inline checkpoint read_checkpoint(std::filesystem::path const& path) {
  auto const needed = [&](std::string const& name) {
    std::error_code code;
    if (!std::filesystem::exists(path / name, code) && !code)
      throw damaged_checkpoint((path / name).string() + " is missing");
    return path / name;
  };
  auto const json = needed("checkpoint.json");
  checkpoint_manifest about = parse_manifest(read_text(json), json.string());
  auto const load = [&](std::string const& name) {
    auto const file = needed(name);
    auto bytes = read_file(file);
    if (about.files.at(name) != file_sum{bytes.size(), crc64_of(std::span(std::as_const(bytes)))})
      throw damaged_checkpoint(file.string() +
                               " is damaged or cut short: its size or checksum is not that of checkpoint.json");
    return safetensors::parse(std::move(bytes), file.string());
  };
  auto const lists = detail::files_by_list(about, json.string());
  auto const whole = [&](std::size_t list) {
    std::vector<safetensors> files;
    for (std::string const& name : lists[list]) files.push_back(load(name));
    char const* const name = detail::checkpoint_lists[list];
    if (lists[list].front() == detail::checkpoint_file(name)) return std::move(files.front());
    try {
      return joined_portions(files, (path / name).string());
    } catch (format_error const& e) {
      throw damaged_checkpoint(e.what());  // an older one may be whole
    }
  };
  auto parameters = whole(2);
  auto optimizer = whole(1);
  auto extra = whole(0);
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
    detail::remove_folder(folder / ".removing");
    for (auto const& name : detail::unfinished_in(folder)) detail::remove_folder(folder / name);
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
