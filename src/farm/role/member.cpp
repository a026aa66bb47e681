#include "farm/role/member.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

namespace {
// Ticks without an answer after which a message is repeated. The MPI transport loses none; a lossy wire may.
constexpr unsigned worker_patience = 8;
// Ticks for which results wait for others at most, while a long task runs: the sink gets some every second.
constexpr unsigned results_wait_ticks = 2;
// The cost of a task is the mean of about this many of the latest tasks.
constexpr double remembered_tasks = 64;
}  // namespace

farm_member::farm_member(farm_member_config config)
    : config_(std::move(config)), attendance_(config_.self, config_.root), closed_(!config_.asks) {
  held_.add(config_.share);
  config_.share.clear();
  if (config_.computes && config_.ring.ranks > 0)
    ring_.emplace(config_.self, static_cast<std::uint64_t>(config_.threads), config_.power, config_.ring);
}

void farm_member::say_hello(farm_actions& out) const {
  out.push_back(tell_root{hello{
      config_.call_hash, static_cast<std::uint64_t>(config_.computes ? config_.threads : 0), config_.power}});
}

void farm_member::begin(farm_actions& out) {
  say_hello(out);
  maybe_ask(out);
  maybe_steal(out);
}

// --- compute threads

void farm_member::idle(std::uint64_t limit, farm_actions& out) {
  if (attendance_.ended()) return;
  reach_ = std::max<std::uint64_t>(1, limit) * static_cast<std::uint64_t>(config_.threads);
  hand_out(limit, out);
  go_on(out);
}

void farm_member::finished(task_range const& range, std::uint64_t next_limit, farm_actions& out) {
  if (attendance_.ended()) return;  // a rank may learn of the end while it runs a task alone
  held_.end_run(range);
  std::erase_if(untold_, [&](auto const& r) { return r.last() == range.last(); });
  finished_ += range.count;
  if (attendance_.draining()) {
    maybe_stopped(out);
    return;
  }
  if (dismissed_) return;
  bool const awaited = held_.finish(range);
  if (next_limit > 0) {
    reach_ = next_limit * static_cast<std::uint64_t>(config_.threads);
    hand_out(next_limit, out);
  }
  if (awaited) flush(out);
  go_on(out);
}

void farm_member::failed(task_id id, std::string text, task_range const& dropped, farm_actions& out) {
  if (attendance_.ended()) return;
  held_.end_run({id, 1, 1});
  if (!dropped.empty()) held_.end_run(dropped);
  if (dismissed_) {
    if (attendance_.draining()) maybe_stopped(out);
    return;
  }
  attendance_.failed(id, std::move(text), out);
  drained(out);
}

void farm_member::threw(task_id id, std::string text, farm_actions& out) {
  if (attendance_.ended()) return;
  held_.fail(id);
  std::erase_if(untold_, [&](auto const& r) { return r.last() == id; });
  ++finished_;
  if (attendance_.draining()) {
    maybe_stopped(out);
    return;
  }
  if (dismissed_) return;
  say(farm::task_failed{id, ++failures_, std::move(text)}, out);
  go_on(out);
}

void farm_member::hand_out(std::uint64_t limit, farm_actions& out) {
  if (attendance_.draining() || dismissed_ || limit == 0) return;
  auto const range = held_.start(limit);
  if (!range) return;
  if (config_.self != config_.root || directed()) untold_.push_back(*range);
  out.push_back(farm::execute{*range});
}

void farm_member::go_on(farm_actions& out) {
  maybe_flush(out);
  tell_begun(out);
  maybe_ask(out);
  maybe_steal(out);
}

void farm_member::measured(double tasks, double seconds) {
  unsent_seconds_ += seconds;
  if (tasks <= 0) return;
  weight_ = std::min(weight_ + tasks, std::max(tasks, remembered_tasks));
  cost_ += (std::max(seconds, tasks * 1e-9) / tasks - cost_) * tasks / weight_;
}

std::optional<farm::load> farm_member::here() const {
  if (!directed()) return std::nullopt;
  return farm::load{held_.queued(), cost_};
}

// --- messages

void farm_member::on(rank_id from, farm_message const& m, farm_actions& out) {
  if (attendance_.ended()) return;
  heard_ = heard_ || from == config_.root;
  if (ring_) ring_->heard(from);
  if (auto const* const round = std::get_if<farm::take_stock>(&m)) {
    tell_stock(*round, out);  // not an answer to this rank's request: ticks_ goes on
    return;
  }
  ticks_ = 0;
  if (auto const* const g = std::get_if<farm::grant>(&m)) {
    on_grant(*g, out);
  } else if (auto const* const s = std::get_if<farm::grant_alone>(&m)) {
    on_grant(*s);
  } else if (std::holds_alternative<farm::nothing>(m)) {
    on_nothing(out);
  } else if (std::holds_alternative<farm::dismissed>(m)) {
    dismissed_ = true;
    asked_ = false;
    held_.clear();
    untold_.clear();
  } else if (auto const* const wait = std::get_if<farm::spacing>(&m)) {
    config_.interval = static_cast<double>(wait->microseconds) * 1e-6;
  } else if (auto const* const call = std::get_if<call_message>(&m)) {
    attendance_.on(*call, out);
    if (attendance_.draining()) drained(out);
  } else if (ring_) {
    on_ring(from, m, out);
  }
}

void farm_member::on_grant(farm::grant const& m, farm_actions& out) {
  tells_always_ = tells_always_ || m.may_be_held;
  asked_ = false;
  if (attendance_.draining() || dismissed_) return;
  if (ring_ && m.may_be_held) ring_->note_held_by_others();
  enqueue(m.ranges, m.may_be_held);
  if (ring_) ring_->feed_hungry(held_, out);
}

// If the root names the victims, a second `nothing` means that there is no victim either.
void farm_member::on_nothing(farm_actions& out) {
  asked_ = false;
  if (closed_ && directed()) ring_->rest();
  closed_ = true;
  maybe_flush(out);
  maybe_steal(out);
}

// Not an answer to this rank's request, so it keeps waiting for one.
void farm_member::on_grant(farm::grant_alone const& m) {
  tells_always_ = tells_always_ || m.watched;
  if (attendance_.draining() || dismissed_) return;
  for (auto const& fresh : held_.not_held({&m.task, 1})) held_.add_alone(fresh);
}

void farm_member::on_ring(rank_id from, farm_message const& m, farm_actions& out) {
  if (auto const* const s = std::get_if<farm::steal>(&m)) {
    ring_->on_steal(from, *s, attendance_.draining() || dismissed_, held_, out);
  } else if (auto const* const g = std::get_if<farm::give>(&m)) {
    ring_->answered(from);
    if (attendance_.draining() || dismissed_) return;
    tells_always_ = tells_always_ || g->may_be_held;
    stole_ = true;
    ring_->given(from, *g);
    enqueue(g->ranges, ring_->held_by_others());
    ring_->feed_hungry(held_, out);
  } else if (auto const* const none = std::get_if<farm::none>(&m)) {
    if (!ring_->refused(from, *none)) return;
    if (directed()) refused_by_ = from;
    maybe_steal(out);
  } else if (auto const* const t = std::get_if<farm::take_from>(&m); t != nullptr && directed()) {
    asked_ = false;
    if (!attendance_.draining() && !dismissed_) ring_->told(*t, out);
  }
}

void farm_member::enqueue(range_list const& ranges, bool look) {
  if (look)
    held_.add(held_.not_held(ranges));
  else
    held_.add(ranges);
  if (ring_ && held_.queued() > 0) ring_->wake();
}

void farm_member::tell_stock(farm::take_stock const& m, farm_actions& out) {
  if (m.hello_missing) say_hello(out);
  say(farm::stock{m.round, finished_, held_.all()}, out);
}

void farm_member::lost(rank_id rank, farm_actions& out) {
  if (attendance_.ended() || attendance_.lost(rank, out)) return;
  if (ring_ && ring_->lost(rank)) maybe_steal(out);
}

// --- requests

std::uint64_t farm_member::wanted() const {
  // A given threshold is taken literally: one task beyond it. The default covers two round trips.
  if (!config_.early) return static_cast<std::uint64_t>(config_.threads);
  std::uint64_t const window = config_.threshold ? *config_.threshold + 1 : 2 * reach_;
  return window > held_.queued() ? window - held_.queued() : 1;
}

bool farm_member::may_ask() const {
  return config_.computes && !dismissed_ && held_.queued() <= config_.threshold.value_or(reach_) &&
         (config_.early || (held_.queued() == 0 && held_.running().empty())) && !all_costly();
}

// Whether every thread runs a costly task, so that a task that came now would wait for long.
bool farm_member::all_costly() const {
  auto const& running = held_.running();
  return running.size() >= static_cast<std::size_t>(config_.threads) &&
         std::all_of(running.begin(), running.end(),
                     [&](task_range const& r) { return r.first < config_.costly; });
}

void farm_member::maybe_ask(farm_actions& out) {
  if (asked_ || closed_ || !attendance_.active() || !may_ask()) return;
  ask(out);
}

void farm_member::ask(farm_actions& out) {
  asked_ = true;
  ticks_ = 0;
  say(farm::ask{wanted(), here(), std::exchange(refused_by_, std::nullopt)}, out);
}

void farm_member::maybe_steal(farm_actions& out) {
  if (!ring_ || !closed_ || dismissed_ || !attendance_.active() || held_.has_work()) return;
  if (directed()) {
    if (!asked_ && ring_->wants_to_be_told(held_, reach_)) ask(out);
    return;
  }
  if (!ring_->seek(held_, reach_, out)) return;
  if (ring_->resting())
    maybe_flush(out);
  else
    ticks_ = 0;
}

// --- reports to the root

// The root suspects the tasks that run when this rank is lost. Results messages carry them; a separate
// message is sent if much depends on it, or after a theft, which costs messages anyway.
void farm_member::tell_begun(farm_actions& out) {
  if (untold_.empty() || !(tells_always_ || (stole_ && !config_.results.concentrated))) return;
  stole_ = false;
  untold_.clear();
  say(farm::begins{held_.running(), here()}, out);
}

void farm_member::maybe_flush(farm_actions& out) {
  if (held_.done() == 0) return;
  if (config_.results.concentrated ? (closed_ && held_.dry() && (!ring_ || ring_->resting())) : due())
    flush(out);
}

bool farm_member::due() const {
  if (held_.dry()) return true;
  if (held_.done() < std::max<std::uint64_t>(1, config_.results.batch)) return false;
  if (unsent_seconds_ >= config_.interval * config_.threads) return true;
  return !asked_ && !closed_ && may_ask();  // the request travels with them
}

// One message carries all finished tasks and the request for more (piggybacking [Storm95, §4.4]).
void farm_member::flush(farm_actions& out) {
  farm::results m{held_.take_done(), 0, std::exchange(untold_, {}), here()};
  stole_ = false;
  unsent_ticks_ = 0;
  unsent_seconds_ = 0;
  if (!asked_ && !closed_ && may_ask()) {
    asked_ = true;
    m.wanted = wanted();
  }
  ticks_ = 0;
  say(std::move(m), out);
}

void farm_member::tick(farm_actions& out) {
  if (attendance_.ended()) return;
  auto const patience = config_.results.concentrated ? config_.send_after_ticks
                        : config_.interval > 0       ? results_wait_ticks
                                                     : 0;
  if (patience > 0 && held_.done() > 0 && ++unsent_ticks_ >= patience) flush(out);
  if (++ticks_ < worker_patience) return;
  ticks_ = 0;
  // An idle rank says hello from time to time, so that the root drops a false suspicion or repeats a lost
  // end.
  bool const silent = held_.dry() && !asked_ && !attendance_.told_stopped();
  if (!heard_ || silent) say_hello(out);
  if (asked_) say(farm::ask{wanted(), here(), {}}, out);
  attendance_.say_again(out);
  if (ring_ && !ring_->repeat(out)) maybe_steal(out);
}

// --- the end

void farm_member::please_stop(farm_actions& out) { attendance_.please_stop(out); }

void farm_member::drained(farm_actions& out) {
  held_.clear();
  maybe_stopped(out);
}

void farm_member::maybe_stopped(farm_actions& out) {
  // With copies, tasks that still run at the end have been recorded from other ranks.
  if (!held_.running().empty() && !config_.ring.copies) return;
  if (attendance_.quiet(out)) ticks_ = 0;
}

std::uint64_t farm_member::hash() const {
  digest d;
  d.add(attendance_);
  held_.hash(d);
  d.add(static_cast<std::uint64_t>(refused_by_.value_or(-1)))
      .add(untold_)
      .add(finished_)
      .add(failures_)
      .add(reach_)
      .add(ticks_)
      .add(unsent_ticks_);
  d.add(tells_always_).add(stole_).add(asked_).add(closed_).add(dismissed_).add(heard_);
  if (ring_) ring_->hash(d);
  return d.value();
}

}  // namespace skel::role
