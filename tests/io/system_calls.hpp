// The calls by which a file reaches the disk and gets its name, seen by a test: it may let them pass, fail them, or end
// the process.
#pragma once

#include <functional>
#include <string>

// While one lives, its function is told of each fsync and rename of this process, as "sync PATH" or "rename FROM TO", or
// of each removal, as "remove NAME", or of each read(2), as "read PATH", before it is made and, if it succeeded, after. An error number that
// is returned before fails the call. One at a time, for the calls of one thread at a time, whichever.
class watched_calls {
 public:
  using watcher = std::function<int(std::string const& call, bool done)>;
  enum class kind { writing, removing, reading };
  explicit watched_calls(watcher w, kind k = kind::writing);
  watched_calls(watched_calls const&) = delete;
  watched_calls& operator=(watched_calls const&) = delete;
  ~watched_calls();
};
