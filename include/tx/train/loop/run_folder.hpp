// The folder that a run of training leaves its files in.
#pragma once

#include <tx/io/run_lock.hpp>
#include <tx/io/writable.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tx::train {

// What a run of training makes of a folder that holds something.
enum class existing { refuse, write_over, set_aside, resume };

struct run_folder_options {
  existing what = existing::refuse;
  std::vector<std::string> files{};  // that the run will write there
  // What is said of a folder that is refused.
  std::string refusal = "exists and is not empty. FIX: another folder, or one of existing::resume, set_aside and write_over";
};

// The folder that a run of training writes to, and no other run as long as this lives. What keeps the run from writing
// is found out at once; what is there changes in begin(), once the run has its data.
class run_folder {
 public:
  // Makes the folder where there is none. Throws io_error where another run is at work in it (or, before it is renamed,
  // below it), where it holds something and `what` is refuse, and with path and reason where it cannot be written.
  run_folder(std::string const& path, run_folder_options const& options) : path_(path) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
    make();
    if (!holds_something(path_)) return;
    if (options.what == existing::refuse) throw io_error(path_ + ' ' + options.refusal);
    aside_ = options.what == existing::set_aside;
    if (aside_) {
      io::check_writable_folder(std::filesystem::path(path_).parent_path());
      below_ = io::locks_below(path_);
      return;
    }
    for (std::string const& name : options.files) io::check_writable(path_ + '/' + name);
  }
  run_folder(run_folder const&) = delete;
  run_folder& operator=(run_folder const&) = delete;
  // Removes a folder that it has made and in which nothing has been written.
  ~run_folder() {
    below_.clear();
    lock_.reset();
    if (made_) ::rmdir(path_.c_str());
  }

  // Sets aside what is there, if that was asked for: it is renamed to `path`.1, or .2 and so on where that exists.
  // Returns the new name; empty if there was nothing.
  std::string begin() {
    if (!aside_) return "";
    std::error_code code;
    for (int n = 1;; ++n) {
      std::string const to = path_ + '.' + std::to_string(n);
      if (std::filesystem::exists(to, code)) continue;
      std::filesystem::rename(path_, to, code);
      if (code) io::throw_io_error("rename", path_, code.value());
      // What was renamed stays held until the new folder is.
      auto const old = std::move(lock_);
      make();
      below_.clear();
      aside_ = false;
      return to;
    }
  }
  std::string const& path() const { return path_; }

 private:
  static bool holds_something(std::string const& folder) {
    for (auto const& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().filename() != io::run_lock::file_name) return true;
    return false;
  }

  void make() {
    std::error_code none;
    made_ = !std::filesystem::exists(path_, none);
    io::ensure_directory(path_);
    try {
      lock_.emplace(path_);
    } catch (...) {
      if (made_) ::rmdir(path_.c_str());  // not if another run has come first, and holds it
      throw;
    }
  }

  std::string path_;
  bool aside_ = false, made_ = false;
  std::optional<io::run_lock> lock_;
  std::vector<io::run_lock> below_;
};

}  // namespace tx::train
