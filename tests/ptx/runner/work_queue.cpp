#include "work_queue.hpp"

#include <algorithm>
#include <stdexcept>

namespace ptx {

std::vector<work> captured::ordered(order in) const {
  std::vector<work> out;
  std::vector<bool> done(all.size(), false);
  while (out.size() < all.size()) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::size_t const at = in == order::forwards ? k : all.size() - 1 - k;
      if (done[at] || !std::ranges::all_of(all[at].after, [&](std::size_t before) { return done[before]; })) continue;
      done[at] = true;
      out.push_back(all[at].run);
      break;
    }
  }
  return out;
}

work_queue::handle work_queue::handle_of(stream* s) const {
  if (s == nullptr) return default_;
  for (auto const& o : others_)
    if (o.get() == s) return o;
  throw std::logic_error("a stream that is not there, or no longer");
}

stream* work_queue::make(bool waits_for_default) {
  others_.push_back(std::make_shared<stream>());
  others_.back()->waits_for_default = waits_for_default;
  return others_.back().get();
}

void work_queue::destroy(stream* s) {
  handle const gone = handle_of(s);
  if (gone->into != nullptr) throw std::logic_error("a stream that is destroyed while it is captured");
  if (!gone->queue.empty()) gone_.push_back(gone);
  std::erase(others_, gone);
}

void work_queue::add(stream* s, work w) {
  stream& to = of(s);
  if (to.into != nullptr) {
    to.into->all.push_back({std::move(w), to.after});
    to.after = {to.into->all.size() - 1};
    return;
  }
  if (captures() && s == nullptr) throw std::logic_error("work on the default stream while another one is captured");
  to.queue.push_back({next_++, std::move(w)});
  if (in_ == order::forwards) finish(s);
}

void work_queue::record(event& e, stream* s) {
  handle const in = handle_of(s);
  e = {in, in->into != nullptr ? 0 : next_++, in->into, in->after};
}

void work_queue::wait(stream* s, event const& e) {
  stream& to = of(s);
  if (e.was_captured()) {  // it joins what is captured
    auto const within = e.within.lock();
    if (within == nullptr || !within->open) throw std::logic_error("a stream waits for an event of a capture that has ended");
    if (to.into != nullptr && to.into != within) throw std::logic_error("two captures that meet");
    if (to.into == nullptr) ++capturing_;
    to.into = within;
    to.after.insert(to.after.end(), e.after.begin(), e.after.end());
    return;
  }
  if (e.in == nullptr) return;  // never recorded: nothing to wait for
  if (to.into != nullptr) throw std::logic_error("what is captured waits for an event that is not");
  add(s, [this, e] {
    run_before(*e.in, e.number);
    run_until(*e.in, e.number);
  });
}

// The default stream and those that wait for it are in order of each other.
void work_queue::run_before(stream const& s, std::uint64_t number) {
  if (&s == default_.get()) {
    for (auto const* const list : {&others_, &gone_})
      for (auto const& o : *list)
        if (o->waits_for_default) run_until(*o, number);
  } else if (s.waits_for_default) {
    run_until(*default_, number);
  }
}

void work_queue::run_until(stream& s, std::uint64_t number) {
  while (!s.queue.empty() && s.queue.front().number < number) {
    stream::item const now = std::move(s.queue.front());
    s.queue.pop_front();
    run_before(s, now.number);
    now.run();
  }
}

// What each piece of work comes after is done with it.
void work_queue::finish(stream* s) {
  handle const of_it = handle_of(s);
  if (s == nullptr) run_before(*of_it, next_);
  run_until(*of_it, next_);
}

void work_queue::finish(event const& e) {
  if (e.was_captured()) throw std::logic_error("the host waits for an event that was captured");
  if (e.in == nullptr) return;
  run_before(*e.in, e.number);
  run_until(*e.in, e.number);
}

void work_queue::finish_all() {
  finish(nullptr);
  for (auto const* const list : {&others_, &gone_})
    for (auto const& o : *list) run_until(*o, next_);
  gone_.clear();
}

void work_queue::begin_capture(stream* s) {
  stream& in = of(s);
  if (s == nullptr) throw std::logic_error("the default stream is not captured");
  if (in.into != nullptr) throw std::logic_error("a stream that is captured already");
  in.into = std::make_shared<captured>();
  in.after.clear();
  ++capturing_;
}

std::shared_ptr<captured> work_queue::end_capture(stream* s) {
  stream& in = of(s);
  auto const all = in.into;
  if (all == nullptr) return all;
  // Everything comes before what the stream would do next.
  std::vector<bool> seen(all->all.size(), false);
  std::vector<std::size_t> left = in.after;
  while (!left.empty()) {
    std::size_t const at = left.back();
    left.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    left.insert(left.end(), all->all[at].after.begin(), all->all[at].after.end());
  }
  if (std::ranges::find(seen, false) != seen.end())
    throw std::logic_error("a stream whose work was captured is not joined again");
  for (auto const& o : others_)
    if (o->into == all) {
      o->into = nullptr;
      o->after.clear();
      --capturing_;
    }
  all->open = false;
  return all;
}

void work_queue::launch(captured const& graph, stream* s) {
  for (work const& w : graph.ordered(in_)) add(s, w);
}

}  // namespace ptx
