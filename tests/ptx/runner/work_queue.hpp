// What a program has asked of a device: work in streams, in the order that CUDA promises and no other. Forwards, work
// is done as it comes; backwards, as late as it may be: only once something waits for it, so that a program which reads
// too early, or writes what is still to be read, is found out.
#pragma once

#include "device.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace ptx {

using work = std::function<void()>;

// Work that was captured, each with what it comes after.
struct captured {
  struct node {
    work run;
    std::vector<std::size_t> after;
  };
  std::vector<node> all;
  bool open = true;

  // In an order that keeps what comes after what: as they came, or of those that may be next always the last.
  std::vector<work> ordered(order in) const;
};

struct stream {
  struct item {
    std::uint64_t number = 0;
    work run;
  };
  std::deque<item> queue;
  bool waits_for_default = true;   // and the default stream for it
  std::shared_ptr<captured> into;  // while it is captured
  std::vector<std::size_t> after;  // then: what its next work comes after
};

struct event {
  std::shared_ptr<stream> in;        // where it was last recorded
  std::uint64_t number = 0;          // its place
  std::weak_ptr<captured> within;    // recorded while captured,
  std::vector<std::size_t> after;    // after these
  bool was_captured() const { return in != nullptr && number == 0; }
};

// Errors are std::logic_error: what CUDA would refuse, or what nobody can mean.
class work_queue {
 public:
  using handle = std::shared_ptr<stream>;
  explicit work_queue(order in) : in_(in), default_(std::make_shared<stream>()) {}

  stream* make(bool waits_for_default);
  void destroy(stream* s);  // its work is still done
  stream& of(stream* s) { return *handle_of(s); }

  void add(stream* s, work w);
  void record(event& e, stream* s);
  void wait(stream* s, event const& e);  // what s does next comes after it
  void finish(stream* s);                // until all of it is done
  void finish(event const& e);
  void finish_all();
  bool is_done(stream* s) { return of(s).queue.empty(); }

  bool captures() const { return capturing_ > 0; }
  void begin_capture(stream* s);
  std::shared_ptr<captured> end_capture(stream* s);  // nullptr, if it was not captured
  void launch(captured const& graph, stream* s);

 private:
  handle handle_of(stream* s) const;
  void run_until(stream& s, std::uint64_t number);
  void run_before(stream const& s, std::uint64_t number);

  order in_;
  std::uint64_t next_ = 1;
  handle default_;
  std::vector<handle> others_, gone_;  // gone: without their owner, with work that is not done
  int capturing_ = 0;
};

}  // namespace ptx
