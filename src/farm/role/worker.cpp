#include "farm/role/worker.hpp"

#include <algorithm>
#include <utility>

#include "role/digest.hpp"

namespace skel::role {

namespace {
// Ticks without an answer after which a message is said again. The MPI transport loses none; a lossy wire
// may.
constexpr unsigned worker_patience = 8;
}  // namespace

worker::worker(worker_config config) : config_(std::move(config)), closed_(!config_.asks) {
  for (auto const& r : config_.share) {
    if (r.empty()) continue;
    queue_.push_back(r);
    queued_ += r.count;
  }
  config_.share.clear();
  if (!config_.computes) config_.ring = nullptr;
  if (config_.ring) search_ = ring_search(config_.self, config_.ring, config_.order);
}

void worker::say_hello(actions& out) const {
  message m{.kind = message_kind::hello, .number = config_.call_hash};
  m.extra = static_cast<std::uint64_t>(config_.computes ? config_.threads : 0);
  m.power = config_.power;
  tell_root(std::move(m), out);
}

void worker::begin(actions& out) {
  say_hello(out);
  maybe_ask(out);
  maybe_steal(out);
}

std::uint64_t worker::wanted() const {
  // A given threshold is meant literally: one task beyond it. Otherwise two round trips' worth.
  if (!config_.early) return static_cast<std::uint64_t>(config_.threads);
  std::uint64_t const window = config_.threshold ? *config_.threshold + 1 : 2 * reach_;
  return window > queued_ ? window - queued_ : 1;
}

bool worker::may_ask() const {
  return config_.computes && queued_ <= config_.threshold.value_or(reach_) &&
         (config_.early || (queued_ == 0 && running_.empty()));
}

void worker::maybe_ask(actions& out) {
  if (asked_ || closed_ || stopping_ || !may_ask()) return;
  asked_ = true;
  ticks_ = 0;
  tell_root({.kind = message_kind::ask, .number = wanted()}, out);
}

void worker::hand_out(std::uint64_t limit, actions& out) {
  if (stopping_ || limit == 0) return;
  if (!suspects_.empty()) {
    auto const one = suspects_.front().take_front(1);
    if (suspects_.front().empty()) suspects_.erase(suspects_.begin());
    watched_.push_back(one);
    start(one, out);
    return;
  }
  if (queue_.empty()) return;
  auto const range = queue_.front().take_front(limit);
  if (queue_.front().empty()) queue_.pop_front();
  queued_ -= range.count;
  start(range, out);
}

void worker::start(task_range const& range, actions& out) {
  running_.push_back(range);
  if (config_.self != config_.root) untold_.push_back(range);
  out.push_back(execute{range});
}

// What runs when this rank is lost is suspected. Results say so on their way; a message of its own is sent
// where much depends on it, or where a theft has been paid for anyway.
void worker::tell_begun(actions& out) {
  if (untold_.empty() || !(always_told_ || (stole_ && !config_.results.concentrated))) return;
  stole_ = false;
  untold_.clear();
  tell_root({.kind = message_kind::begins, .running = running_}, out);
}

void worker::idle(std::uint64_t limit, actions& out) {
  if (ended_) return;
  reach_ = std::max<std::uint64_t>(1, limit) * static_cast<std::uint64_t>(config_.threads);
  hand_out(limit, out);
  maybe_flush(out);
  tell_begun(out);
  maybe_ask(out);
  maybe_steal(out);
}

// Removes `range` (handed out in one piece, returned whole or from the front) from what runs.
void worker::not_running(task_range const& range) {
  range_list left;
  for (auto const& r : running_) {
    bool const holds =
        range.first >= r.first && range.last() <= r.last() && (range.first - r.first) % r.stride == 0;
    if (!holds || (range.count > 1 && range.stride != r.stride)) {
      left.push_back(r);
      continue;
    }
    task_range rest = r;
    task_range const before = rest.take_front((range.first - r.first) / r.stride);
    rest.take_front(range.count);
    if (!before.empty()) left.push_back(before);
    if (!rest.empty()) left.push_back(rest);
  }
  running_ = std::move(left);
}

void worker::finished(task_range const& range, std::uint64_t next_limit, actions& out) {
  if (ended_) return;  // a suspect may be told of the end while it computes
  not_running(range);
  std::erase_if(untold_, [&](auto const& r) { return r.last() == range.last(); });
  finished_ += range.count;
  if (stopping_) {
    maybe_stopped(out);
    return;
  }
  append(done_, range);
  done_count_ += range.count;
  if (next_limit > 0) {
    reach_ = next_limit * static_cast<std::uint64_t>(config_.threads);
    hand_out(next_limit, out);
  }
  if (std::erase(watched_, range) > 0) flush(out);
  maybe_flush(out);
  tell_begun(out);
  maybe_ask(out);
  maybe_steal(out);
}

void worker::failed(task_id id, std::string text, task_range const& dropped, actions& out) {
  if (ended_) return;
  not_running({id, 1, 1});
  if (!dropped.empty()) not_running(dropped);
  failure_ = {.kind = message_kind::failed, .number = id, .text = std::move(text)};
  tell_root(*failure_, out);
  // The root answers with stop; until then this rank holds the rest of the range no more and starts nothing.
  stopping_ = true;
  queue_.clear();
  suspects_.clear();
  queued_ = 0;
  maybe_stopped(out);
}

void worker::maybe_flush(actions& out) {
  if (done_count_ == 0) return;
  if (config_.results.concentrated
          ? (closed_ && dry() && (!config_.ring || resting_))
          : (dry() || done_count_ >= std::max<std::uint64_t>(1, config_.results.batch)))
    flush(out);
}

// All that is done travels in one message, and the request for more rides on it (stormview 4.4:
// piggybacking).
void worker::flush(actions& out) {
  message m{.kind = message_kind::results,
            .ranges = std::exchange(done_, {}),
            .running = std::exchange(untold_, {})};
  stole_ = false;
  done_count_ = 0;
  unsent_ticks_ = 0;
  if (!asked_ && !closed_ && may_ask()) {
    asked_ = true;
    m.number = wanted();
  }
  ticks_ = 0;
  tell_root(std::move(m), out);
}

void worker::maybe_stopped(actions& out) {
  // With copies what still runs at the end has been recorded from elsewhere.
  if (!stop_heard_ || told_stopped_ || (!running_.empty() && !config_.copies)) return;
  told_stopped_ = true;
  ticks_ = 0;
  tell_root({.kind = message_kind::stopped}, out);
}

void worker::on(rank_id from, message const& m, actions& out) {
  if (ended_) return;
  heard_ = heard_ || from == config_.root;
  if (config_.ring) search_.alive(from);
  // The taking of stock is no answer to what this rank has asked.
  if (m.kind != message_kind::take_stock) ticks_ = 0;
  switch (m.kind) {
    case message_kind::grant:
      always_told_ = always_told_ || m.extra != 0;
      if ((m.extra & are_suspects) != 0) {  // not what this rank has asked for
        if (!stopping_)
          for (auto const& r : not_held(m.ranges)) suspects_.push_back(r);
        break;
      }
      asked_ = false;
      if (stopping_) break;
      held_by_others_ = held_by_others_ || m.extra != 0;
      enqueue(m.ranges, m.extra != 0);
      feed_hungry(out);
      break;
    case message_kind::nothing:
      asked_ = false;
      closed_ = true;
      maybe_flush(out);
      maybe_steal(out);
      break;
    case message_kind::steal:
      on_steal(from, m, out);
      break;
    case message_kind::give:
      on_give(from, m, out);
      break;
    case message_kind::none:
      on_none(from, m, out);
      break;
    case message_kind::take_stock: {
      if (m.extra != 0) say_hello(out);  // the first one was lost
      message stock{.kind = message_kind::stock, .number = m.number, .extra = finished_};
      for (auto const& r : queue_) stock.ranges.push_back(r);
      stock.ranges.insert(stock.ranges.end(), suspects_.begin(), suspects_.end());
      stock.ranges.insert(stock.ranges.end(), running_.begin(), running_.end());
      stock.ranges.insert(stock.ranges.end(), done_.begin(), done_.end());
      tell_root(std::move(stock), out);
      break;
    }
    case message_kind::stop:
      stopping_ = true;
      stop_heard_ = true;
      told_stopped_ = false;
      queue_.clear();
      suspects_.clear();
      queued_ = 0;
      done_.clear();
      done_count_ = 0;
      maybe_stopped(out);
      break;
    case message_kind::finish:
      ended_ = true;
      out.push_back(end{m.result.value_or(outcome{})});
      break;
    case message_kind::abort:
      ended_ = true;
      out.push_back(fail{fail::reason::protocol, m.text});
      break;
    default:
      break;  // not for a worker
  }
}

void worker::lost(rank_id rank, actions& out) {
  if (ended_) return;
  if (rank == config_.root) {
    ended_ = true;
    out.push_back(fail{fail::reason::lost_root, {}});
    return;
  }
  search_.lost(rank);
  forget_thief(rank);
  if (victim_ != rank) return;
  victim_.reset();
  maybe_steal(out);
}

void worker::enqueue(range_list const& ranges, bool look) {
  for (auto const& r : look ? not_held(ranges) : ranges) {
    queue_.push_back(r);
    queued_ += r.count;
  }
  if (queued_ > 0) resting_ = false;
}

void worker::tick(actions& out) {
  if (ended_) return;
  if (config_.send_after_ticks > 0 && done_count_ > 0 && ++unsent_ticks_ >= config_.send_after_ticks)
    flush(out);
  if (++ticks_ < worker_patience) return;
  ticks_ = 0;
  // A rank with nothing to do is heard of from time to time: a suspicion is taken back, a lost end said
  // again.
  bool const silent = dry() && !asked_ && !told_stopped_;
  if (!heard_ || silent) say_hello(out);
  if (asked_) tell_root({.kind = message_kind::ask, .number = wanted()}, out);
  if (failure_ && !stop_heard_) tell_root(*failure_, out);
  if (wants_stop_ && !stopping_) tell_root({.kind = message_kind::please_stop}, out);
  if (told_stopped_) tell_root({.kind = message_kind::stopped}, out);
  tick_ring(out);
}

void worker::please_stop(actions& out) {
  if (ended_ || stopping_) return;
  wants_stop_ = true;
  tell_root({.kind = message_kind::please_stop}, out);
}

// A rank that was given up and came back may be given what it has: once is enough.
range_list worker::not_held(range_list const& ranges) const {
  auto const holds = [](auto const& list, task_id id) {
    return std::any_of(list.begin(), list.end(), [&](task_range const& r) {
      return id >= r.first && id <= r.last() && (id - r.first) % r.stride == 0;
    });
  };
  range_list fresh;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!holds(queue_, r[i]) && !holds(suspects_, r[i]) && !holds(running_, r[i]) && !holds(done_, r[i]))
        append(fresh, {r[i], 1, 1});
  return fresh;
}

void worker::drop(task_range const& range) {
  auto const inside = [&](task_id id) {
    return id >= range.first && id <= range.last() && (id - range.first) % range.stride == 0;
  };
  auto const without = [&](auto const& list) {
    range_list left;
    for (auto const& r : list) {
      if (r.last() < range.first || r.first > range.last()) {
        append(left, r);
        continue;
      }
      for (std::uint64_t i = 0; i < r.count; ++i)
        if (!inside(r[i])) append(left, {r[i], 1, 1});
    }
    return left;
  };
  auto const left = without(queue_);
  queued_ = count_tasks(left);
  queue_.assign(left.begin(), left.end());
  if (!suspects_.empty()) suspects_ = without(suspects_);
}

std::uint64_t worker::hash() const {
  digest d;
  d.add(queue_).add(suspects_).add(running_).add(untold_).add(done_).add(finished_).add(reach_).add(ticks_);
  d.add(watched_).add(always_told_).add(stole_);
  d.add(unsent_ticks_)
      .add(asked_)
      .add(closed_)
      .add(stopping_)
      .add(stop_heard_)
      .add(told_stopped_)
      .add(ended_)
      .add(heard_);
  if (config_.ring) {
    search_.hash(d);
    d.add(static_cast<std::uint64_t>(victim_.value_or(-1))).add(searching_).add(resting_).add(unanswered_);
    for (auto const r : hungry_) d.add(static_cast<std::uint64_t>(r));
    d.add(held_by_others_).add(hungry_.size());
    for (auto const& c : copied_) d.add(c.task.last()).add(c.power > 1);
    for (auto const& c : may_copy_) d.add(static_cast<std::uint64_t>(c.rank));
  }
  return d.value();
}

}  // namespace skel::role
