#include "driver.hpp"

#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "skel/error.hpp"

namespace skel::detail {

namespace {

constexpr double tick_seconds = 0.25;
constexpr double word_takes = 2 * tick_seconds;  // of ranks that have gone on, to a root that was silent
constexpr int most_messages_at_once = 64;
// The cost of a message is measured up to this size: bytes cost as much in fewer and larger messages.
constexpr std::size_t small_message = 4096;
// Messages go to the sink while they are in the cache.
constexpr std::size_t most_bytes_at_once = std::size_t{256} * 1024;

// A library that yields when nothing has arrived may give this core to another process for
// milliseconds each time. A busy thread then computes for as long before it checks again, so that
// checking takes at most half of its time.
double nap(double waited) {
  constexpr double shortest = 500e-6, longest = 5e-3;
  return waited < shortest ? 0 : std::min(waited, longest);
}

}  // namespace

// The mutex reports a thread that locks it twice, instead of blocking it for ever.
driver::driver(wires& w, disk_service& disks, call_table& calls, clocks& c, farewell& end, peers& p)
    : wires_(w), disks_(disks), calls_(calls), clocks_(c), farewell_(end), peers_(p), last_tick_(w.now()) {
  pthread_mutexattr_t checked;
  pthread_mutexattr_init(&checked);
  pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(mutex_.native_handle(), &checked);
  pthread_mutexattr_destroy(&checked);
}

std::unique_lock<std::mutex> driver::lock_for_call() {
  try {
    return std::unique_lock(mutex_);
  } catch (std::system_error const&) {
    throw usage_error(
        "a skeleton call inside a merge, or inside a function that packs or unpacks: make it in a task, or "
        "after the call");
  }
}

void driver::send_pending() {
  calls_.settle_failures();
  for (auto& o : disks_.take_outgoing()) wires_.send(o.to, key_of(part::disks), std::move(o.what));
}

bool driver::progress() {
  if (!wires_.may_call()) return false;
  dispatch_held();
  send_pending();
  if (!wires_.any_thread()) wires_.send_waiting();  // packets queued by pool threads
  // First, because a rank that has ended is lost once its messages are received.
  double const now = wires_.now();
  auto const first = wires_.carrier().look(now);
  if (first.may_restart && wires_.rank() == 0 && wires_.detector().was_absent(now)) hold(word_takes);
  std::uint64_t arrived = 0;
  double entered = 0, waited = 0;  // waited in vain
  std::size_t bytes = 0;
  for (int i = 0; i < most_messages_at_once && bytes < most_bytes_at_once; ++i) {
    double const begin = wires_.now();
    if (i == 0) entered = begin;
    auto a = wires_.carrier().receive();
    if (!a) {
      waited = wires_.now() - begin;
      break;
    }
    ++arrived;
    bytes += a->what.size();
    handle(*std::move(a));
  }
  double const t = wires_.now();
  if (arrived > 0) {
    last_arrival_ = t;
    if (bytes <= arrived * small_message) note_handling(arrived, t - entered - waited);
  }
  if (t - last_tick_ >= tick_seconds) tick(t);
  bool const beats = wires_.detector().due(t);
  if (auto const news = wires_.carrier().look(t); news.any() || beats) attend(t, news, beats);
  if (peers_.leaving().wanted()) peers_.leaving().step(false);
  last_progress_.store(t + nap(waited), std::memory_order_relaxed);
  return arrived > 0;
}

void driver::attend(double t, transport::transport::news const& news, bool beats) {
  auto& carrier = wires_.carrier();
  if (news.notes)
    for (auto const& note : carrier.take_notes())
      for (auto const& answer : disks_.on_note(note.from, note.what.bytes()))
        if (note.from >= 0) carrier.send_note(note.from, answer);
  if (news.failed) peers_.declare_failed();
  if (beats) peers_.beat(t);
  if (carrier.look(t).may_be_left) hold(0);  // now that this rank may have lost others
  if (carrier.look(t).over) farewell_.end_view();
}

// The others may have gone on without this root, which must not go on beside them: no sink runs and no call
// ends until it hears them again, or that they have. Old messages of theirs may come before that word.
// `seconds`: at least, after this process was stopped.
void driver::hold(double seconds) {
  auto& carrier = wires_.carrier();
  double ask = 0;
  double const since = wires_.now();
  for (double sure = since + seconds;;) {
    double const t = wires_.now();
    auto const news = carrier.look(t);
    if (news.may_be_left) sure = t + word_takes;
    if (news.over || t >= sure) break;
    last_progress_.store(t, std::memory_order_relaxed);
    farewell_.end_if_left(t - since);
    if (wires_.detector().due(t)) peers_.beat(t);
    if (t >= ask) {  // those that have gone on answer that they have
      ask = t + tick_seconds;
      for (int r = 1; r < wires_.size(); ++r) wires_.send_heartbeat(r);
    }
    auto a = carrier.receive();
    if (!a) {
      wires_.wait(1e-3);
      continue;
    }
    if (wires_.is_lost(a->from)) peers_.found(a->from);
    wires_.accept(*std::move(a),
                  [&](int from, transport::link::delivery& d) { held_.emplace_back(from, std::move(d)); });
  }
  if (carrier.look(wires_.now()).over) held_.clear();
  dispatch_held();
}

// Their senders count them as received, so they outlive an exception of hold().
void driver::dispatch_held() {
  while (!held_.empty()) {
    auto [from, d] = std::move(held_.front());
    held_.pop_front();
    dispatch(from, d);
  }
}

bool driver::poll(double begin, double seconds) {
  constexpr int looks = 8;  // per look at the clock, which takes as long as half a look at the network
  if (begin >= next_tick() || !held_.empty()) return progress();
  if (!wires_.may_call()) return false;
  send_pending();
  double t = begin;
  while (t < begin + seconds) {
    last_progress_.store(t, std::memory_order_relaxed);
    for (int look = 0; look < looks; ++look)
      if (auto a = wires_.carrier().receive()) {
        last_arrival_ = t;
        handle(*std::move(a));
        return true;
      }
    if (wires_.carrier().look(t).any()) return progress();
    t = wires_.now();
  }
  return false;
}

void driver::tick(double t) {
  // If this process was stopped, the helper says for how long, once it gets a core. It may be inside a sink.
  bool const late = t - std::exchange(last_tick_, t) > 3 * tick_seconds && wires_.any_thread();
  if (late && waits_for_helper_ == 0) waits_for_helper_ = t + 4 * tick_seconds;
  if (t < waits_for_helper_ && stopped_.load() == 0) return;
  waits_for_helper_ = 0;
  if (double const stopped = stopped_.exchange(0); stopped > 0)
    for (auto const& [key, running] : calls_.runs()) running->on_stopped(stopped);
  peers_.renew();
  for (int const r : wires_.lost())
    if (wires_.ends_calls(r))
      for (auto const& [key, running] : calls_.runs()) running->on_rank_lost(r);
  for (auto const& [key, running] : calls_.runs()) running->on_tick(t);
  farewell_.end_if_due(t);
}

void driver::handle(transport::transport::arrival&& a) {
  if (wires_.is_lost(a.from)) peers_.found(a.from);
  wires_.accept(std::move(a), [this](int from, transport::link::delivery& d) { dispatch(from, d); });
}

void driver::dispatch(int from, transport::link::delivery& d) {
  if (d.context != 0) return calls_.on_message(from, {d.context, d.run}, d.body);
  auto const body = d.body.bytes();
  switch (static_cast<part>(d.run)) {
    case part::farewell:
      return farewell_.on_control(from, body);
    case part::disks:
      return disks_.on_message(from, std::move(d.body));
    case part::calls:
      return calls_.on_control(from, body);
    case part::clocks:
      return clocks_.on_control(from, body);
    case part::peers:
      return peers_.on_control(from, body);
    case part::retirement:
      return peers_.leaving().on_control(from, body);
  }
  throw protocol_error("unknown control message from rank " + std::to_string(from));
}

void driver::note_handling(std::uint64_t messages, double seconds) {
  constexpr std::uint64_t remembered = 4096;
  if (handled_ > remembered) {
    handled_ /= 2;
    handling_seconds_ /= 2;
  }
  handled_ += messages;
  handling_seconds_ += seconds;
}

bool driver::try_progress(double seconds) {
  if (wires_.now() - last_progress() < seconds) return false;
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  progress();
  return true;
}

void driver::rest(std::unique_lock<std::mutex>& lock, double seconds) {
  lock.unlock();
  // At least a microsecond: rounding must not stop a waiting rank just before its tick.
  wires_.wait(wires_.owns_time() ? std::max({seconds, next_tick() - wires_.now(), 1e-6}) : seconds);
  lock.lock();
}

double driver::next_tick() const {
  return std::min(last_tick_ + tick_seconds, wires_.detector().next_beat());
}

// A large message needs a thread driving communication on both sides until it has arrived.
bool driver::patient() const {
  return wires_.quiet() && !disks_.used() &&
         std::all_of(calls_.runs().begin(), calls_.runs().end(),
                     [](auto const& r) { return r.second->patient(); });
}

}  // namespace skel::detail
