#include "world.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "disks/remote_file.hpp"

namespace storm {

namespace {

world* the_world = nullptr;

// A rank's helper looks at least this often. Views are agreed on in ticks of 50 ms.
constexpr nanoseconds look_again = 20'000'000;

std::uint64_t hash_of(std::span<std::byte const> bytes) {
  std::uint64_t h = 14695981039346656037U;
  for (auto const b : bytes) h = (h ^ std::to_integer<std::uint64_t>(b)) * 1099511628211U;
  return h;
}

}  // namespace

world* current_world() { return the_world; }

world::world(int ranks, std::uint64_t seed, wires_plan wires)
    : dice_(seed),
      numbers_(~seed),
      plan_(wires),
      ranks_(static_cast<std::size_t>(ranks)),
      threads_(static_cast<std::size_t>(ranks)),
      wires_(static_cast<std::size_t>(ranks * ranks)),
      hosts_(static_cast<std::size_t>(ranks)) {}

world::~world() = default;

void world::plan(kill_plan const& k) {
  if (k.what == kill_plan::when::at_time)
    timed_kills_.push_back(k);
  else
    at(k.rank).kills.push_back(k);
}
void world::plan(pause_plan const& p) { pauses_.push_back(p); }
void world::plan(cut_plan const& c) { cuts_.push_back(c); }

void world::post(nanoseconds time, event::kind what, int a, int b, std::uint64_t n) {
  queue_.push({time, order_++, what, a, b, n});
}

void world::note(char const* what, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  for (std::uint64_t const x : {now_, static_cast<std::uint64_t>(what[0]), a, b, c})
    hash_ = (hash_ ^ x) * 0x9e3779b97f4a7c15U, hash_ ^= hash_ >> 29;
  if (trace_ != nullptr)
    std::fprintf(trace_, "%14.9f %-8s %llu %llu %llx\n", static_cast<double>(now_) * 1e-9, what,
                 static_cast<unsigned long long>(a), static_cast<unsigned long long>(b),
                 static_cast<unsigned long long>(c));
}

void world::run(std::function<void(int)> const& life, nanoseconds limit) {
  constexpr std::uint64_t most_events = 20'000'000;
  for (int r = 0; r < size(); ++r) {
    auto& first_thread = first(r);
    first_thread.rank = r;
    first_thread.life = std::make_unique<fibre>([this, r, &life] {
      try {
        life(r);
      } catch (killed const&) {
        // it has ended outside of the engine
      }
      first(r).done = true;
      --left_;
      if (!at(r).dead) tell_end(r);
    });
    first_thread.waiting = true;
    post(static_cast<nanoseconds>(draw() * 1e6), event::kind::wake, r);
  }
  for (std::size_t i = 0; i < timed_kills_.size(); ++i)
    post(timed_kills_[i].time, event::kind::kill, static_cast<int>(i));
  the_world = this;
  left_ = ranks_.size();
  std::string wrong;
  while (left_ > 0) {
    if (queue_.empty())
      wrong = "deadlock: nothing will happen any more";
    else if (now_ > limit)
      wrong = "it does not end: " + std::to_string(now_ / 1'000'000'000) + " s of virtual time have passed";
    else if (events_ > most_events)
      wrong = "livelock: too much happens";
    if (!wrong.empty()) break;
    auto const e = queue_.top();
    queue_.pop();
    now_ = std::max(now_, e.time);
    happen(e);
  }
  if (!wrong.empty()) {
    wrong += "; still running: ranks";
    for (int r = 0; r < size(); ++r)
      if (!first(r).done) wrong += ' ' + std::to_string(r);
    for (auto const n : others_) wrong += ", a thread of rank " + std::to_string(threads_[n].rank);
    end_all();
  }
  the_world = nullptr;
  threads_.clear();
  if (!wrong.empty()) throw violation(wrong);
}

// Lets all threads unwind, so that nothing leaks.
void world::end_all() {
  for (auto& r : ranks_) r.dead = true;
  constexpr int most_rounds = 1'000'000;
  for (int round = 0; round < most_rounds && left_ > 0; ++round)
    for (thread_number n = 0; n < threads_.size(); ++n)
      if (!threads_[n].done) resume(n);
  if (left_ > 0) std::abort();
}

void world::happen(event const& e) {
  ++events_;
  looks_ = 0;
  switch (e.what) {
    case event::kind::wake: {
      auto const n = static_cast<thread_number>(e.a);
      auto& t = threads_[n];
      auto& r = at(t.rank);
      if (t.done || !t.waiting || e.n != t.turn) return;
      if (!r.dead && r.paused_until > now_) return post(r.paused_until, event::kind::wake, e.a, 0, e.n);
      for (auto const& p : pauses_)
        if (!r.dead && p.rank == t.rank && p.from <= now_ && now_ < p.until) {
          note("pause", static_cast<std::uint64_t>(t.rank), p.until);
          r.paused_until = p.until;
          return post(p.until, event::kind::wake, e.a, 0, e.n);
        }
      resume(n);
      return;
    }
    case event::kind::deliver: {
      auto& w = between(e.a, e.b);
      if (w.packets.empty()) return;
      auto bytes = std::move(w.packets.front());
      w.packets.pop_front();
      auto& r = at(e.b);
      if (has_ended(e.b)) return;
      r.inbox.push_back({e.a, skel::transport::packet::received(std::move(bytes))});
      if (first(e.b).waiting) wake(static_cast<thread_number>(e.b));
      return;
    }
    case event::kind::kill: {
      auto const& k = timed_kills_[static_cast<std::size_t>(e.a)];
      if (k.retires)
        ask_to_retire(k.rank);
      else
        end(k.rank, k.last_words);
      return;
    }
    case event::kind::tell: {
      if (has_ended(e.a)) return;
      at(e.a).news.push_back(e.b);
      if (first(e.a).waiting) wake(static_cast<thread_number>(e.a));
      return;
    }
  }
}

void world::resume(thread_number n) {
  auto& t = threads_[n];
  t.waiting = false;
  ++t.turn;
  current_ = t.rank;
  thread_ = n;
  std::swap(skel::detail::transfer_of_this_thread(), t.transfer);
  t.life->resume();
  std::swap(skel::detail::transfer_of_this_thread(), t.transfer);
  current_ = -1;
  if (t.done) t.life.reset();
}

void world::yield() {
  auto& t = threads_[thread_];
  t.waiting = true;
  t.life->yield();
}

// The process of this rank ends now.
void world::end(int rank, bool last_words) {
  auto& r = at(rank);
  if (has_ended(rank)) return;
  note("dies", static_cast<std::uint64_t>(rank), last_words ? 1 : 0);
  r.dead = true;
  ++deaths_;
  r.inbox.clear();
  for (int to = 0; to < size(); ++to) {
    auto& w = between(rank, to);
    if (last_words || w.packets.empty()) continue;
    w.packets.resize(dice_() % (w.packets.size() + 1));
  }
  tell_end(rank);
  if (first(rank).waiting) wake(static_cast<thread_number>(rank));  // its fibres unwind
  for (auto const n : others_)
    if (threads_[n].rank == rank && threads_[n].waiting) wake(n);
}

// The ranks of its host hear that its process has ended, once all of its messages have arrived, as through
// shared memory.
void world::tell_end(int rank) {
  for (int other = 0; other < size(); ++other) {
    auto const host = hosts_[static_cast<std::size_t>(other)];
    if (other == rank || host < 0 || host != hosts_[static_cast<std::size_t>(rank)]) continue;
    auto const& w = between(rank, other);
    post(std::max(now_ + 100'000 + static_cast<nanoseconds>(draw() * 4.9e6),
                  w.packets.empty() ? 0 : w.last + 1),
         event::kind::tell, other, rank);
  }
}

void world::exit(int code) {
  int const self = current_;
  if (!at(self).dead) {
    note("exits", static_cast<std::uint64_t>(self), static_cast<std::uint64_t>(code));
    at(self).exit_code = code;
    end(self, true);
    --deaths_;
  }
  throw killed();
}

bool world::ends_here(int rank, kill_plan::when what) {
  auto& r = at(rank);
  auto const n = ++r.counts[static_cast<std::size_t>(what)];
  for (auto const& k : r.kills)
    if (k.what == what && k.count == n && k.retires) {
      ask_to_retire(rank);
    } else if (k.what == what && k.count == n && !r.dead) {
      end(rank, k.last_words);
      return true;
    }
  return false;
}

void world::ask_to_retire(int rank) {
  if (at(rank).dead || !at(rank).serving.retire) return;
  note("is to retire", static_cast<std::uint64_t>(rank), 0);
  at(rank).serving.retire();
}

void world::count(kill_plan::when what) {
  check_alive();
  if (ends_here(current_, what)) throw killed();
}

void world::check_alive() const {
  if (current_ < 0 || !at(current_).dead) return;
  if (++at(current_).reminders > 100'000) std::abort();  // it swallows them all, for ever
  throw killed();
}

bool world::sleep_until(nanoseconds time) {
  check_alive();
  auto& r = at(current_);
  // Others run meanwhile if it is their time, even if a packet has arrived. An engine looks for ends of
  // processes every millisecond.
  if (!r.inbox.empty() || r.poked) time = 0;
  if (!r.news.empty()) time = std::min<nanoseconds>(time, now_ + 1'000'000);
  time = std::min(time, now_ + look_again);
  post(std::max(time, now_ + 1), event::kind::wake, static_cast<int>(thread_), 0, threads_[thread_].turn);
  yield();
  check_alive();
  return std::exchange(r.poked, false) || !r.inbox.empty();
}

// --- threads

world::thread_number world::begin_thread(std::function<void()> what) {
  auto const n = threads_.size();
  auto& t = threads_.emplace_back();
  t.rank = current_;
  t.life = std::make_unique<fibre>([this, n, what = std::move(what)] {
    try {
      what();
    } catch (killed const&) {
      // with its process
    }
    threads_[n].done = true;
    --left_;
    std::erase(others_, n);
    notify(&threads_[n]);
  });
  ++left_;
  others_.push_back(n);
  t.waiting = true;
  wake(n);
  return n;
}

void world::join(thread_number n) {
  while (!threads_[n].done) await(&threads_[n], never);
}

bool world::await(void const* address, nanoseconds until) {
  auto& t = threads_[thread_];
  auto& r = at(t.rank);
  t.address = address;
  t.notified = false;
  for (bool const was_dead = r.dead; !t.notified && now_ < until && r.dead == was_dead;) {
    if (is_first_thread() && !r.dead) {
      wait_and_serve(until);
    } else {
      if (until != never) post(until, event::kind::wake, static_cast<int>(thread_), 0, t.turn);
      yield();
    }
  }
  t.address = nullptr;
  return t.notified;
}

// Only one step: the caller looks again.
void world::wait_and_serve(nanoseconds until) {
  auto& r = at(current_);
  auto const tick = r.serving.next_tick ? r.serving.next_tick() : 1e6;
  auto const next = tick < 1e6 ? std::max(now_ + 1000, seconds(tick)) : never;
  if (next == never) {  // its engine has ended, or not begun: nothing takes what arrives
    post(std::min(until, now_ + look_again), event::kind::wake, static_cast<int>(thread_), 0,
         threads_[thread_].turn);
    return yield();
  }
  try {
    if (sleep_until(std::min(until, next)) || now_ >= next)
      if (r.serving.serve) r.serving.serve();
  } catch (killed const&) {
    // the caller finds out
  }
}

void world::notify(void const* address) {
  auto const look_at = [&](thread_number n) {
    auto& t = threads_[n];
    if (t.address != address || t.done) return;
    t.notified = true;
    if (t.waiting) wake(n);
  };
  look_at(static_cast<thread_number>(current_));
  for (auto const n : others_) look_at(n);
  if (is_first_thread()) return;
  at(current_).poked = true;  // the first thread sends what this one has to say
  if (first(current_).waiting) wake(static_cast<thread_number>(current_));
}

void world::pass(nanoseconds time) {
  auto const until = now_ + time;
  check_alive();
  while (now_ < until && !at(current_).dead) {
    if (is_first_thread()) {
      wait_and_serve(until);
    } else {
      post(until, event::kind::wake, static_cast<int>(thread_), 0, threads_[thread_].turn);
      yield();
    }
  }
  check_alive();
}

void world::print(std::string const& text) {
  if (current_ < 0) return;
  auto& r = at(current_);
  if (r.dead && !r.exit_code) return;
  r.line += text;
  for (std::size_t end = 0; (end = r.line.find('\n')) != std::string::npos; r.line.erase(0, end + 1)) {
    r.lines.push_back(r.line.substr(0, end));
    note("prints", static_cast<std::uint64_t>(current_), hash_of(std::as_bytes(std::span(r.lines.back()))));
    if (trace_ != nullptr)
      std::fprintf(trace_, "                rank %d: %s\n", current_, r.lines.back().c_str());
  }
}

nanoseconds world::arrival(int from, int to) {
  double latency = plan_.least_latency + draw() * (plan_.most_latency - plan_.least_latency);
  if (plan_.seldom > 0 && draw() < plan_.seldom) latency += draw() * plan_.longest;
  auto due = now_ + seconds(latency);
  for (nanoseconds before = 0; before != due;) {  // another cut may begin while one holds it up
    before = due;
    for (auto const& c : cuts_) {
      bool const apart = ((c.side >> from) & 1U) != ((c.side >> to) & 1U);
      if (apart && c.from <= due && now_ < c.until) due = c.until == never ? never : std::max(due, c.until);
    }
  }
  auto& last = between(from, to).last;
  last = std::max(last + (last == never ? 0 : 1), due);
  return last;
}

void world::send(int from, int to, skel::transport::packet const& what) {
  if (at(from).dead || ends_here(from, kill_plan::when::at_send)) return;
  if (to < 0 || to >= size())
    throw violation("a packet to rank " + std::to_string(to) + ", which does not exist");
  auto const bytes = what.bytes();
  note("sends", static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), hash_of(bytes));
  if (has_ended(to)) return;
  auto& w = between(from, to);
  std::vector<std::byte> packet(bytes.begin(), bytes.end());
  if (filter_ && !filter_(from, to, packet)) return;
  auto const due = arrival(from, to);
  if (due == never) return;
  w.packets.push_back(std::move(packet));
  post(due, event::kind::deliver, from, to);
}

std::optional<skel::transport::transport::arrival> world::receive(int rank) {
  check_alive();
  auto& box = at(rank).inbox;
  if (box.empty()) return std::nullopt;
  if (ends_here(rank, kill_plan::when::at_receive)) throw killed();
  auto a = std::move(box.front());
  box.pop_front();
  note("gets", static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(a.from), a.what.size());
  return a;
}

std::vector<int> world::ended(int rank) { return std::exchange(at(rank).news, {}); }

}  // namespace storm
