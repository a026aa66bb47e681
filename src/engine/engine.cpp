#include "engine.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/format.hpp"
#include "cores.hpp"
#include "process_end.hpp"
#include "skel/error.hpp"
#include "warnings.hpp"

namespace skel::detail {

namespace {

context_options checked(context_options o) {
  constexpr auto where = "context_options";
  if (o.threads < 0 || o.threads > most_threads)
    throw usage_error(format("{}: threads must be 0 to {}, found {}", where, most_threads, o.threads));
  require_seconds(where, "watchdog_seconds", o.watchdog_seconds);
  if (o.suspect_after_seconds) require_seconds(where, "suspect_after_seconds", *o.suspect_after_seconds);
  require_count(where, "largest_message", o.largest_message, 1);
  return o;
}

constexpr double tick_seconds = 0.25;
constexpr int most_messages_at_once = 64;
// The cost of a message is measured up to this size: bytes cost as much in fewer and larger messages.
constexpr std::size_t small_message = 4096;
// Messages go to the sink while they are in the cache.
constexpr std::size_t most_bytes_at_once = std::size_t{256} * 1024;
// Context 0 is the engine's own: run 0 for leaving ranks and failed calls, run 1 for the ranks'
// disks.
constexpr std::uint32_t run_of_disks = 1;

// The host name given by the user, with %r replaced by the rank.
std::string host_name_of(context_options const& options, std::string found, int rank) {
  if (!options.host.empty()) return expand_disk(options.host, found, rank);
  return found;
}
}  // namespace

engine::engine(std::unique_ptr<transport::transport> wires, context_options options, std::string host)
    : wires_(std::move(wires)),
      options_(checked(std::move(options))),
      host_(host_name_of(options_, std::move(host), wires_->rank())),
      rank_(wires_->rank()),
      size_(wires_->size()),
      any_thread_(wires_->any_thread()),
      owns_time_(wires_->owns_time()),
      any_time_(wires_->any_time() && any_thread_),
      gate_(rank_, size_),
      disks_(rank_, size_, {host_, options_.cluster, options_.host_load}, any_time_ && !owns_time_, [this] {
        std::lock_guard const lock(helper_mutex_);
        helper_wakes_.notify_all();
      }) {
  last_tick_ = now();
  constexpr double ordinary_patience = 5;
  double const patience = options_.suspect_after_seconds.value_or(any_thread_ ? ordinary_patience : 0);
  detector_ = detector(rank_, size_, patience, any_time_ || owns_time_, last_tick_);
  if (any_time_ && size_ > 1) ensure_helper();
}

engine::~engine() { end_talk(); }

void engine::end_talk() {
  {
    std::lock_guard const lock(helper_mutex_);
    ending_ = true;
  }
  helper_wakes_.notify_all();
  if (helper_.joinable()) helper_.join();
  if (wires_->size() > 1) {
    try {
      std::unique_lock lock(mutex_);
      serve_disks_to_the_end(lock);
      flush(lock, any_lost() ? 0.1 : 5.0);
      if (any_lost()) wires_->abandon();
    } catch (std::exception const&) {
      // The transport has failed. Ranks that wait for these messages detect that themselves.
    }
  }
}

void engine::close_wires(std::string const& text) {
  auto const why = std::make_exception_ptr(usage_error(text));
  for (context_id c = 1; c <= contexts_; ++c) gate_.shut(c, 0, why);
  for (auto const& [id, t] : teams_) gate_.shut(id, 0, why);
  end_talk();
  wires_ = std::make_unique<transport::alone>();
}

void engine::add_team(context_id id, context_id parent, std::vector<int> const& ranks) {
  std::lock_guard const lock(mutex_);
  teams_.try_emplace(id, team_entry{parent, ranks});
  if (auto const at = cancelled_.find(parent); at != cancelled_.end()) {
    cancelled_.emplace(id, at->second);
    gate_.shut(id, 0, at->second);
  }
}

std::vector<int> const& engine::ranks_of(context_id id) const {
  static std::vector<int> const all;
  auto const at = teams_.find(id);
  return at == teams_.end() ? all : at->second.ranks;
}

void engine::open(run_key key, run& r) {
  if (runs_.empty()) detector_.reset(now());
  runs_[key] = &r;
  newest_run_[key.context] = std::max(newest_run_[key.context], key.number);
  newest_call_[key.context] = r.description();
  std::vector<early> mine;
  for (auto it = early_.begin(); it != early_.end();) {
    if (it->key == key) {
      mine.push_back(std::move(*it));
      it = early_.erase(it);
    } else {
      ++it;
    }
  }
  for (auto& e : mine) r.on_message(e.from, e.body.bytes(), e.body);
  if (auto const failed = failed_early_.extract(key)) r.on_failure(failed.mapped());
  if (auto const* failure = out_of_step(key)) r.on_failure(*failure);
  if (auto const at = cancelled_.find(key.context); at != cancelled_.end()) r.on_cancelled(at->second);
  for (auto const& [rank, f] : farewells_)  // they came between two calls
    if (!f.failed()) r.on_left(rank);
}

void engine::say_warnings() {
  std::vector<std::string> texts;
  bool looks = false;
  {
    std::lock_guard const lock(mutex_);
    texts = std::exchange(warnings, {});
    looks = !std::exchange(looked_for_inner_threads_, true);
  }
  if (options_.quiet) return;
  if (looks && rank_ == 0 && threads() > 1)
    if (auto const inner = find_inner_threads())
      if (auto text = too_many_threads(threads(), usable_cores(), *inner); !text.empty())
        texts.push_back(std::move(text));
  for (auto const& t : texts) std::fprintf(stderr, "skel: %s\n", t.c_str());
}

void engine::close(run_key key) {
  runs_.erase(key);
  if (runs_.empty()) detector_.reset(now());
  forget_end();  // the program has got the exception
}

void engine::send(int to, run_key key, transport::packet body) {
  settle_failures();  // before what the failed call says
  auto& l = link_to(to);
  if (is_lost(to) || !may_call()) return l.push(key.context, key.number, std::move(body));
  if (auto p = l.pass(key.context, key.number, std::move(body))) {
    transmit(to, *std::move(p));
    pump(to, l);
  }
}

transport::link& engine::link_to(int peer) {
  return links_.try_emplace(peer, std::max<std::size_t>(1, options_.largest_message)).first->second;
}

// Messages for a lost rank wait until it is heard from again: over TCP, every send to a dead rank
// would try to connect.
void engine::pump(int peer, transport::link& l) {
  if (l.waiting() > 0 && !is_lost(peer) && may_call()) transmit(peer, l);
}

void engine::transmit(int peer, transport::link& l) {
  while (auto p = l.pop()) transmit(peer, *std::move(p));
}

void engine::transmit(int peer, transport::packet p) {
  ++messages_sent_;
  bytes_sent_ += p.size();
  detector_.sent(peer);
  wires_->send(peer, std::move(p));
}

void engine::dispatch(int from, transport::link::delivery d) {
  if (d.context == 0) {
    if (d.run == run_of_disks)
      disks_.on_message(from, d.body.bytes());
    else
      on_control(from, d.body.bytes());
    return;
  }
  run_key const key{d.context, d.run};
  if (auto const at = runs_.find(key); at != runs_.end()) {
    at->second->on_message(from, d.body.bytes(), d.body);
  } else if (d.run > newest_run_[d.context] && !out_of_step(key) && !cancelled_.contains(d.context)) {
    early_.push_back({key, from, std::move(d.body)});
  }  // else: a late message of a run that has ended, or one of a run that cannot begin here
}

namespace {

// A library that yields when nothing has arrived may give this core to another process for
// milliseconds each time. A busy thread then computes for as long before it checks again, so that
// checking takes at most half of its time.
double nap(double waited) {
  constexpr double shortest = 500e-6, longest = 5e-3;
  return waited < shortest ? 0 : std::min(waited, longest);
}

}  // namespace

bool engine::progress() {
  if (!may_call()) return false;
  settle_failures();
  if (!any_thread_)
    for (auto& [peer, link] : links_) pump(peer, link);  // packets queued by pool threads
  send_for_disks();
  std::uint64_t arrived = 0;
  double entered = 0, waited = 0;  // waited in vain
  std::size_t bytes = 0;
  for (int i = 0; i < most_messages_at_once && bytes < most_bytes_at_once; ++i) {
    double const begin = now();
    if (i == 0) entered = begin;
    auto a = wires_->receive();
    if (!a) {
      waited = now() - begin;
      break;
    }
    ++arrived;
    bytes += a->what.size();
    handle(*std::move(a));
  }
  double const t = now();
  if (arrived > 0) {
    last_arrival_ = t;
    if (bytes <= arrived * small_message) note_handling(arrived, t - entered - waited);
  }
  if (t - last_tick_ >= tick_seconds) {
    last_tick_ = t;
    for (int const r : lost_)
      for (auto const& [key, running] : runs_) running->on_rank_lost(r);
    for (auto const& [key, running] : runs_) running->on_tick(t);
    end_if_due(t);
  }
  if (detector_.due(t)) beat(t);
  last_progress_.store(t + nap(waited), std::memory_order_relaxed);
  return arrived > 0;
}

bool engine::poll(double begin, double seconds) {
  constexpr int looks = 8;  // per look at the clock, which takes as long as half a look at the network
  if (begin >= next_tick()) return progress();
  if (!may_call()) return false;
  settle_failures();
  send_for_disks();
  for (double t = begin; t < begin + seconds; t = now()) {
    last_progress_.store(t, std::memory_order_relaxed);
    for (int look = 0; look < looks; ++look)
      if (auto a = wires_->receive()) {
        last_arrival_ = t;
        handle(*std::move(a));
        return true;
      }
  }
  return false;
}

void engine::handle(transport::transport::arrival a) {
  detector_.heard(a.from);
  if (is_lost(a.from)) found(a.from);
  auto& l = link_to(a.from);
  auto d = l.accept(std::move(a.what));
  pump(a.from, l);  // it may carry an acknowledgement
  if (d) dispatch(a.from, *std::move(d));
  if (auto ack = l.acknowledgement()) transmit(a.from, *std::move(ack));
}

void engine::note_handling(std::uint64_t messages, double seconds) {
  constexpr std::uint64_t remembered = 4096;
  if (handled_ > remembered) {
    handled_ /= 2;
    handling_seconds_ /= 2;
  }
  handled_ += messages;
  handling_seconds_ += seconds;
}

void engine::send_for_disks() {
  for (auto& o : disks_.take_outgoing()) send(o.to, {0, run_of_disks}, std::move(o.what));
}

// Another rank may still write its last checkpoint here. A rank that has said farewell will not.
void engine::serve_disks_to_the_end(std::unique_lock<std::mutex>& lock) {
  constexpr double pause = 100e-6, patience = 30;
  double const begin = now();
  send_for_disks();
  while (disks_.used() && !says_farewell_ && !failed_peer_ &&
         now() - std::max(begin, last_arrival_) < patience) {
    progress();
    rest(lock, pause);
  }
}

bool engine::try_progress(double seconds) {
  if (now() - last_progress() < seconds) return false;
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  progress();
  return true;
}

void engine::flush(std::unique_lock<std::mutex>& lock, double seconds) {
  double const end = now() + seconds;
  auto const waiting = [&] {
    std::size_t n = 0;
    for (auto const& [peer, link] : links_)
      if (!is_lost(peer)) n += link.waiting() + wires_->unsent(peer);
    return n;
  };
  while (waiting() > 0 && now() < end) {
    progress();
    if (waiting() == 0) break;
    rest(lock, 0);
  }
}

void engine::rest(std::unique_lock<std::mutex>& lock, double seconds) {
  lock.unlock();
  // At least a microsecond: rounding must not stop a waiting rank just before its tick.
  wires_->wait(owns_time_ ? std::max({seconds, next_tick() - now(), 1e-6}) : seconds);
  lock.lock();
}

void engine::declare_lost(int rank) {
  if (rank == rank_ || !lost_.insert(rank).second) return;
  disks_.set_lost(rank, true);
  if (!program_of_run_main.empty() && how_ended(rank) == process_end::from_outside)
    lost_outside_.insert(rank);
  announce(rank);
  for (auto const& [key, running] : runs_) running->on_rank_lost(rank);
  if (rank == 0 && !program_of_run_main.empty() && !says_farewell_) end_without_root();
}

// A rank that sends a message is alive.
void engine::found(int rank) {
  forget_loss(rank);
  if (rank == 0) forget_end();
  announce(rank);
  if (rank_ == 0) {
    send_opinion(rank, rank);  // what it has missed follows
    for (int const r : lost_) send_opinion(rank, r);
  } else if (rank != 0) {
    report(rank, false);
  }
}

// The root sends its view of a rank to the living ranks.
void engine::announce(int rank) {
  if (rank_ != 0 || rank == 0) return;
  for (int r = 1; r < size_; ++r)
    if (r != rank && !is_lost(r)) send_opinion(r, rank);
}

// Called when the detector is due: sends heartbeats to ranks without a recent message, and finds silent
// ranks.
void engine::beat(double t) {
  for (int const rank : wires_->failed()) declare_lost(rank);
  auto const& tree = detector_.tree();
  auto const v = detector_.beat(t, lost_);
  for (int const rank : v.silent) {
    // Heartbeats queue behind a large message that is still arriving. It may take as long as on a
    // slow network.
    constexpr double slow_bytes_per_second = 1e7;
    double const excuse = static_cast<double>(wires_->arriving(rank)) / slow_bytes_per_second;
    if (detector_.silence(rank, t) <= detector_.patience() + excuse) continue;
    if (rank_ == 0 || rank == 0)
      declare_lost(rank);
    else
      report(rank, true);
    if (rank == 0 && tree.is_leader(rank_))
      for (int r = rank_ + 1; r < tree.block_end(rank_); ++r) send_opinion(r, 0);
  }
  if (v.doubt) report(tree.leader_of(rank_), *v.doubt);
  for (int const rank : v.greet) {
    auto p = link_to(rank).heartbeat();
    ++messages_sent_;
    bytes_sent_ += p.size();
    wires_->send(rank, std::move(p));
  }
}

void engine::throw_if_peer_failed() const {
  if (failed_peer_) throw peer_failed();
}

double engine::next_tick() const { return std::min(last_tick_ + tick_seconds, detector_.next_beat()); }

}  // namespace skel::detail
