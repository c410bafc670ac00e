// The transport over MPI, started by mpirun or srun. Link MPI::MPI_CXX.
//
//   tx::dist::mpi connections;             // initializes MPI unless somebody has
//   tx::dist::ranks all(connections);      // ranks.hpp
//
// MPI may be asked by one thread at a time: that of the communicator, or that of in_background, which wants MPI_THREAD_SERIALIZED where others do with MPI_THREAD_FUNNELED. Bytes travel while the rank waits, and as far as MPI moves them by
// itself. Where nothing arrives for longer than the patience, the ranks that are waited for are named. A rank that fails tells the others, and ends the job
// (MPI_Abort) if they have not ended by themselves a second later.
#pragma once

#include <tx/dist/net/transport.hpp>

// Its C++ bindings were taken out of the standard, and warn.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace tx::dist {

struct mpi_options {
  std::chrono::milliseconds patience = std::chrono::minutes(5);
};

class mpi {
 public:
  explicit mpi(mpi_options options = {}) : options_(options) {
    int there = 0;
    MPI_Initialized(&there);
    int provided = MPI_THREAD_SINGLE;
    if (there != 0) {
      MPI_Query_thread(&provided);
    } else {
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "begin");
      ends_ = true;
    }
    if (provided < MPI_THREAD_FUNNELED) throw rank_error("MPI: this one runs in processes of one thread alone. FIX: MPI_Init_thread with MPI_THREAD_FUNNELED, or an MPI with threads");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &messages_), "begin");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &reasons_), "begin");
    for (MPI_Comm const c : {messages_, reasons_}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_rank(messages_, &rank_);
    MPI_Comm_size(messages_, &size_);
  }
  mpi(mpi const&) = delete;
  mpi& operator=(mpi const&) = delete;
  ~mpi() {
    if (std::uncaught_exceptions() > exceptions_ && broken_.empty()) tell("failed");
    if (!broken_.empty()) {
      // Messages that nobody will take keep MPI from ending in order.
      if (size_ > 1) std::this_thread::sleep_for(std::chrono::seconds(1));
      if (size_ > 1) MPI_Abort(MPI_COMM_WORLD, 1);
      return;
    }
    MPI_Comm_free(&messages_);
    MPI_Comm_free(&reasons_);
    if (ends_) MPI_Finalize();
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  ticket send(int to, std::span<std::byte const> bytes, subject s) {
    check_whole();
    for_each_part(bytes.size(), [&](std::size_t at, int count) {
      open_.push_back({.number = last_ + 1, .other = to, .wanted = s, .bytes = count, .receives = false});
      check(MPI_Isend(bytes.data() + at, count, MPI_BYTE, to, tag_of(s), messages_, &open_.back().request), "send");
    });
    return ++last_;
  }
  ticket receive(int from, std::span<std::byte> bytes, subject s) {
    check_whole();
    for_each_part(bytes.size(), [&](std::size_t at, int count) {
      open_.push_back({.number = last_ + 1, .other = from, .wanted = s, .bytes = count, .receives = true});
      check(MPI_Irecv(bytes.data() + at, count, MPI_BYTE, from, MPI_ANY_TAG, messages_, &open_.back().request), "receive");
    });
    return ++last_;
  }
  void wait(ticket until) {
    check_whole();
    auto heard = std::chrono::steady_clock::now();
    for (unsigned turn = 0;; ++turn) {
      bool moved = false;
      for (message& m : open_) {
        if (m.number > until) break;
        moved = done(m) || moved;
      }
      while (!open_.empty() && open_.front().is_done) open_.pop_front();
      if (open_.empty() || open_.front().number > until) return;
      if (moved) {
        heard = std::chrono::steady_clock::now();
        continue;
      }
      if (turn % 64 != 63) continue;
      look_for_reasons();
      if (gives_up_.load(std::memory_order_acquire)) break_off(detail::rank_named(rank_) + ": " + why_);
      std::this_thread::yield();  // ranks may be more than processors
      if (std::chrono::steady_clock::now() - heard > options_.patience) lose_patience();
    }
  }

  // Throws where another rank has failed by now.
  void check() {
    check_whole();
    look_for_reasons();
  }

  void fail(std::string const& why) {
    if (broken_.empty()) tell(why);
  }
  // From any thread: what is waited for ends with a rank_error, here and on all ranks.
  void give_up(std::string const& why) {
    if (gives_up_.load()) return;
    why_ = why;
    gives_up_.store(true, std::memory_order_release);
  }

 private:
  struct message {
    ticket number;
    int other;
    subject wanted;
    int bytes;
    bool receives;
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_done = false;
  };

  static void check(int code, char const* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw rank_error("MPI cannot " + std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
  }
  void check_whole() const {
    if (!broken_.empty()) throw rank_error(broken_);
  }
  // Tags are below 32,768 in every MPI.
  static int tag_of(subject s) { return static_cast<int>(s.what) << 12 | (s.number & 0xfff); }
  static subject subject_of(int tag) { return {static_cast<asked>(tag >> 12), static_cast<std::uint16_t>(tag & 0xfff)}; }

  // MPI counts in ints.
  template <class F>
  static void for_each_part(std::size_t bytes, F const& f) {
    constexpr std::size_t most = std::size_t{1} << 30;
    std::size_t at = 0;
    do {
      std::size_t const count = bytes - at < most ? bytes - at : most;
      f(at, static_cast<int>(count));
      at += count;
    } while (at < bytes);
  }

  // Whether it is done now and was not before.
  bool done(message& m) {
    if (m.is_done) return false;
    int flag = 0;
    MPI_Status status{};
    int const code = MPI_Test(&m.request, &flag, &status);
    int kind = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
    if (kind == MPI_ERR_TRUNCATE) break_off(detail::unlike(m.other, subject_of(status.MPI_TAG), static_cast<std::uint64_t>(m.bytes) + 1, m.wanted, static_cast<std::uint64_t>(m.bytes)) + " (or more bytes)");
    if (code != MPI_SUCCESS) break_off(detail::rank_named(m.other) + " cannot be reached in " + name_of(m.wanted.what));
    if (flag == 0) return false;
    m.is_done = true;
    if (m.receives) {
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (status.MPI_TAG != tag_of(m.wanted) || count != m.bytes)
        break_off(detail::unlike(m.other, subject_of(status.MPI_TAG), static_cast<std::uint64_t>(count), m.wanted, static_cast<std::uint64_t>(m.bytes)));
    }
    return true;
  }

  void look_for_reasons() {
    int flag = 0;
    MPI_Status status{};
    MPI_Iprobe(MPI_ANY_SOURCE, 0, reasons_, &flag, &status);
    if (flag == 0) return;
    int count = 0;
    MPI_Get_count(&status, MPI_CHAR, &count);
    std::string why(static_cast<std::size_t>(count), ' ');
    MPI_Recv(why.data(), count, MPI_CHAR, status.MPI_SOURCE, 0, reasons_, MPI_STATUS_IGNORE);
    broken_ = why;
    let_go();
    throw rank_error(broken_);
  }
  // Of the memory that others could still write to, which the caller is about to give back. A message that is on its way already cannot be stopped: it is
  // waited for, but not for ever, as its sender may be who failed.
  void let_go() {
    auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    for (message& m : open_) {
      if (!m.receives || m.is_done || m.request == MPI_REQUEST_NULL || MPI_Cancel(&m.request) != MPI_SUCCESS) continue;
      for (int gone = 0; gone == 0 && m.request != MPI_REQUEST_NULL && std::chrono::steady_clock::now() < until;)
        if (MPI_Test(&m.request, &gone, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    }
  }
  [[noreturn]] void lose_patience() {
    std::string names;
    for (message const& m : open_) {
      std::string const name = std::to_string(m.other);
      if (!m.is_done && (", " + names + ", ").find(", " + name + ", ") == std::string::npos) names += (names.empty() ? "" : ", ") + name;
    }
    break_off("rank " + names + " has said nothing for " + std::to_string(options_.patience.count() / 1000) + " s in " + name_of(open_.front().wanted.what));
  }
  [[noreturn]] void break_off(std::string const& what) {
    send_reason(what);
    let_go();
    throw rank_error(broken_);
  }
  void tell(std::string const& why) { send_reason(detail::rank_named(rank_) + ' ' + why); }
  void send_reason(std::string const& what) {
    broken_ = what;
    for (int r = 0; r < size_; ++r) {
      MPI_Request request = MPI_REQUEST_NULL;  // it is small, and on its way at once
      if (r != rank_ && MPI_Isend(broken_.data(), static_cast<int>(broken_.size()), MPI_CHAR, r, 0, reasons_, &request) == MPI_SUCCESS) MPI_Request_free(&request);
    }
  }

  mpi_options options_;
  MPI_Comm messages_ = MPI_COMM_NULL, reasons_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool ends_ = false;
  int exceptions_ = std::uncaught_exceptions();
  std::deque<message> open_;
  ticket last_ = 0;
  std::atomic<bool> gives_up_{false};
  std::string why_;
  std::string broken_;
};
static_assert(transport<mpi>);

}  // namespace tx::dist
