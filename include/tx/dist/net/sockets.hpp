// The transport over connections of TCP, between machines or on one. A thread of its own moves the bytes, so they travel while the rank computes, and tells
// the others four times in each patience that the rank lives: one that is killed is known at once by its broken connection, one that is stopped by its silence.
//
//   tx::dist::sockets connections(tx::dist::launched());
//   tx::dist::ranks all(connections);                     // ranks.hpp
//
// Destroyed while an exception is on its way it tells the others that this rank failed, unless leave() has said that it goes in order. Belongs to one thread, as communicators do.
#pragma once

#include <tx/dist/net/connections.hpp>
#include <tx/dist/net/transport.hpp>

#include <linux/sockios.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <set>

namespace tx::dist {

struct socket_options {
  std::chrono::milliseconds joining = std::chrono::seconds(60);  // until all ranks are there
  std::chrono::milliseconds patience = std::chrono::seconds(8);  // with a rank of which nothing is heard
};

class sockets {
 public:
  // Waits until all ranks are there. Throws rank_error.
  explicit sockets(place const& p, socket_options options = {})
      : rank_(p.rank), size_(p.size), options_(options), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_.number() < 0) detail::cannot("make an eventfd", errno);
    peers_.reserve(static_cast<std::size_t>(size_));
    for (auto& s : detail::connect_all(p, options.joining)) peers_.emplace_back().socket = std::move(s);
    if (size_ > 1) mover_ = std::thread([this] { move(); });
  }
  sockets(sockets const&) = delete;
  sockets& operator=(sockets const&) = delete;
  ~sockets() {
    if (!mover_.joinable()) return;
    if (std::uncaught_exceptions() > exceptions_ && !leaves_) fail("failed");
    {
      std::scoped_lock const lock(mutex_);
      if (broken_.empty()) each_peer([&](peer& p) { p.out.push_back({frame(kind::leaving), {}, 0}); });
      ends_ = true;
    }
    wake();
    mover_.join();
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  ticket send(int to, std::span<std::byte const> bytes, subject s) {
    std::scoped_lock const lock(mutex_);
    ticket const t = begin();
    peers_[static_cast<std::size_t>(to)].out.push_back({{kind::data, s.coded(), bytes.size()}, bytes, t});
    wake();
    return t;
  }
  ticket receive(int from, std::span<std::byte> bytes, subject s) {
    std::scoped_lock const lock(mutex_);
    ticket const t = begin();
    peers_[static_cast<std::size_t>(from)].in.push_back({bytes, s, t});
    wake();
    return t;
  }
  void wait(ticket until) {
    std::unique_lock lock(mutex_);
    auto const done = [&] { return open_.empty() || *open_.begin() > until; };
    changed_.wait(lock, [&] { return done() || still_; });
    if (!done()) throw rank_error(broken_);  // what was there before others failed is there
  }
  // Throws where another rank has failed by now.
  void check() {
    std::scoped_lock const lock(mutex_);
    if (still_) throw rank_error(broken_);
  }
  // This rank goes in order, whatever exception takes it: all have agreed to stop.
  void leave() { leaves_ = true; }

  // All ranks get a rank_error with the reason; this one's memory is not touched any more when it returns.
  void fail(std::string const& why) {
    if (!mover_.joinable()) return;
    std::unique_lock lock(mutex_);
    if (broken_.empty()) broken_ = detail::rank_named(rank_) + ' ' + why;
    wake();
    changed_.wait(lock, [&] { return still_; });
  }
  // The same from any thread.
  void give_up(std::string const& why) { fail(why); }

 private:
  enum class kind : std::uint32_t { data, alive, leaving, failed };
  struct header {
    sockets::kind kind;
    std::uint32_t subject;
    std::uint64_t bytes;
  };
  static header frame(kind k, std::uint64_t bytes = 0) { return {k, 0, bytes}; }
  struct outgoing {
    header head;
    std::span<std::byte const> body;
    ticket number;       // 0: nobody waits for it
    std::size_t done = 0;  // of head and body
  };
  struct incoming {
    std::span<std::byte> body;
    subject wanted;
    ticket number;
  };
  struct peer {
    detail::file_descriptor socket;
    std::deque<outgoing> out{};
    std::deque<incoming> in{};
    // The mover's alone:
    header head{};
    std::size_t head_done = 0, body_done = 0;
    std::string reason{};  // of one that failed
    bool left = false;
    detail::clock::duration silent{};
    bool deaf = false;  // takes no more; there may be something to be read
  };

  ticket begin() {
    open_.insert(++last_);
    return last_;
  }
  void wake() const {
    std::uint64_t const one = 1;
    [[maybe_unused]] auto const n = ::write(wake_.number(), &one, sizeof one);
  }
  template <class F>
  void each_peer(F const& f) {
    for (int r = 0; r < size_; ++r)
      if (r != rank_) f(peers_[static_cast<std::size_t>(r)]);
  }

  // ---- the mover's thread ----

  void move() {
    auto beat = detail::clock::now(), before = beat;
    std::vector<pollfd> waits;
    std::unique_lock lock(mutex_);
    while (broken_.empty() && !(ends_ && all_there())) {
      waits.assign({{wake_.number(), POLLIN, 0}});
      each_peer([&](peer& p) {
        bool const reads = !p.left && (p.head_done < sizeof(header) || p.head.kind != kind::data || !p.in.empty());
        auto const events = static_cast<short>((reads ? POLLIN : 0) | (p.out.empty() || p.deaf ? 0 : POLLOUT));
        waits.push_back({events != 0 ? p.socket.number() : -1, events, 0});  // a broken one would be told again and again
      });
      bool const ends = ends_;
      lock.unlock();
      auto const tick = std::min<std::chrono::milliseconds>(options_.patience / 8, std::chrono::seconds(1));
      ::poll(waits.data(), waits.size(), static_cast<int>(ends ? 5 : tick.count()));
      std::uint64_t woken = 0;
      [[maybe_unused]] auto const n = ::read(wake_.number(), &woken, sizeof woken);
      lock.lock();
      auto const now = detail::clock::now();
      // Where the whole machine was asleep, nobody was silent: a turn counts as one tick at most.
      auto const passed = std::min<detail::clock::duration>(now - before, tick);
      before = now;
      std::size_t k = 0;
      for (int r = 0; r < size_ && broken_.empty(); ++r) {
        if (r == rank_) continue;
        auto const events = waits[++k].revents;
        peer& p = peers_[static_cast<std::size_t>(r)];
        bool const waits_for_us = p.head_done == sizeof(header) && p.in.empty();
        p.silent = (events & POLLIN) != 0 || waits_for_us || p.left ? detail::clock::duration(0) : p.silent + passed;
        if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) take(r, p, lock);
        if (broken_.empty() && (events & POLLOUT) != 0) give(p, lock);
        if (p.left || p.deaf) std::erase_if(p.out, [](outgoing const& o) { return o.number == 0; });
        if (p.deaf && !p.left && !p.out.empty() && p.in.empty() && waits_for_us) lost(r, p);  // it will not take what it is sent
        if (broken_.empty() && p.left && !(p.in.empty() && p.out.empty())) broken_ = detail::rank_named(r) + " has ended and meets the others no more";
        if (broken_.empty() && p.silent > options_.patience)
          broken_ = detail::rank_named(r) + " has said nothing for " + std::to_string(options_.patience.count() / 1000) + " s: it hangs, or its machine does";
      }
      if (now - beat > options_.patience / 4) {
        beat = now;
        each_peer([&](peer& p) {
          if (p.out.empty() && !p.left && !p.deaf) p.out.push_back({frame(kind::alive), {}, 0});
        });
      }
    }
    if (!broken_.empty()) break_off();
    still_ = !broken_.empty();
    changed_.notify_all();
  }

  // Have the others got all that was sent? What lies here unsent would be lost with the connection.
  bool all_there() {
    bool done = true;
    each_peer([&](peer& p) {
      int waiting = 0;
      done = done && (p.left || p.deaf || (p.out.empty() && (::ioctl(p.socket.number(), SIOCOUTQ, &waiting) != 0 || waiting == 0)));
    });
    return done;
  }

  // Tells the others why, as far as their connections take it at once, and lets go of all memory. Also where another rank has told it: who hears of it from
  // there first would take this one for the rank that failed.
  void break_off() {
    each_peer([&](peer& p) {
      bool const between = p.out.empty() || p.out.front().done == 0;  // within a message it would be taken for a part of that
      if (between && !p.left && !p.deaf) {
        header const h = frame(kind::failed, broken_.size());
        std::string text(reinterpret_cast<char const*>(&h), sizeof h);
        text += broken_;
        [[maybe_unused]] auto const n = ::send(p.socket.number(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      }
      p.out.clear();
      p.in.clear();
      ::shutdown(p.socket.number(), SHUT_WR);
    });
  }

  void finish(ticket t) {
    if (t == 0) return;
    open_.erase(t);
    changed_.notify_all();
  }

  void lost(int r, peer& p) {
    if (p.left) return;
    if (ends_) p.left = true;  // both are leaving
    else if (broken_.empty()) broken_ = reason_of_another(r).value_or(detail::rank_named(r) + " has ended, or was killed: its connection is broken");
  }
  // A connection that breaks may be that of a rank that had no time to pass on why it breaks off: the rank that failed, or one that knows, says so about now.
  std::optional<std::string> reason_of_another(int lost) {
    auto const until = detail::clock::now() + std::min<std::chrono::milliseconds>(options_.patience / 4, std::chrono::milliseconds(200));
    while (detail::clock::now() < until) {
      std::optional<std::string> found;
      each_peer([&](peer& p) {
        if (&p == &peers_[static_cast<std::size_t>(lost)] || found) return;
        struct {
          header head;
          char text[4096];
        } next;
        bool const within = p.head_done > 0;  // a message: what comes behind it is not looked at
        auto const n = within ? 0 : ::recv(p.socket.number(), &next, sizeof next, MSG_DONTWAIT | MSG_PEEK);
        if (n >= static_cast<ssize_t>(sizeof(header)) && next.head.kind == kind::failed && static_cast<std::size_t>(n) >= sizeof(header) + next.head.bytes)
          found = std::string(next.text, next.head.bytes);
      });
      if (found) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return std::nullopt;
  }

  using held = std::unique_lock<std::mutex>;

  // Reads what there is of one rank.
  void take(int r, peer& p, held& lock) {
    for (;;) {
      if (p.head_done < sizeof(header)) {
        if (!read(r, p, reinterpret_cast<std::byte*>(&p.head), sizeof(header), p.head_done, lock)) return;
        p.body_done = 0;
        if (p.head.kind == kind::failed) p.reason.resize(std::min<std::uint64_t>(p.head.bytes, 4096));
      }
      if (p.head.kind == kind::leaving) {
        p.left = true;
        return;
      }
      if (p.head.kind == kind::failed) {
        if (!read(r, p, reinterpret_cast<std::byte*>(p.reason.data()), p.reason.size(), p.body_done, lock)) return;
        broken_ = p.reason;
        return;
      }
      if (p.head.kind == kind::data) {
        if (p.in.empty()) return;
        incoming const to = p.in.front();
        if (subject::of(p.head.subject) != to.wanted || p.head.bytes != to.body.size()) {
          broken_ = detail::unlike(r, subject::of(p.head.subject), p.head.bytes, to.wanted, to.body.size());
          return;
        }
        if (!read(r, p, to.body.data(), to.body.size(), p.body_done, lock)) return;
        p.in.pop_front();
        finish(to.number);
      }
      p.head_done = 0;
    }
  }
  // Whether all are there. The rank may begin other messages while bytes are copied, of which this one stays the first.
  bool read(int r, peer& p, std::byte* to, std::size_t count, std::size_t& done, held& lock) {
    while (done < count) {
      lock.unlock();
      auto const n = ::recv(p.socket.number(), to + done, count - done, MSG_DONTWAIT);
      int const code = errno;
      lock.lock();
      if (!broken_.empty()) return false;
      if (n < 0 && code == EINTR) continue;
      if (n < 0 && (code == EAGAIN || code == EWOULDBLOCK)) return false;
      if (n <= 0) {
        lost(r, p);
        return false;
      }
      done += static_cast<std::size_t>(n);
    }
    return true;
  }

  void give(peer& p, held& lock) {
    while (!p.out.empty()) {
      outgoing& o = p.out.front();
      std::size_t const head = o.done < sizeof(header) ? sizeof(header) - o.done : 0, body = o.done < sizeof(header) ? 0 : o.done - sizeof(header);
      iovec parts[2] = {{reinterpret_cast<std::byte*>(&o.head) + (sizeof(header) - head), head}, {const_cast<std::byte*>(o.body.data()) + body, o.body.size() - body}};
      msghdr message{};
      message.msg_iov = parts;
      message.msg_iovlen = 2;
      lock.unlock();
      auto const n = ::sendmsg(p.socket.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
      int const code = errno;
      lock.lock();
      if (n < 0 && code == EINTR) continue;
      if (n < 0 && (code == EAGAIN || code == EWOULDBLOCK)) return;
      if (n < 0) {
        p.deaf = true;  // whether it has ended, or left in order, is behind what it has sent
        return;
      }
      o.done += static_cast<std::size_t>(n);
      if (o.done < sizeof(header) + o.body.size()) {
        if (!broken_.empty()) return;
        continue;
      }
      ticket const t = o.number;
      p.out.pop_front();
      finish(t);
      if (!broken_.empty()) return;
    }
  }

  int rank_, size_;
  socket_options options_;
  detail::file_descriptor wake_;
  std::vector<peer> peers_;
  int exceptions_ = std::uncaught_exceptions();
  std::thread mover_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<ticket> open_;  // begun and not done
  ticket last_ = 0;
  std::string broken_;  // why no message can be had any more
  bool still_ = false;  // the mover has let go of all memory
  bool ends_ = false;
  bool leaves_ = false;  // the rank's own thread alone looks at it
};
static_assert(transport<sockets>);

}  // namespace tx::dist
