#include "farm/role/root.hpp"

#include <algorithm>
#include <utility>

#include "role/deal.hpp"

namespace skel::role {

namespace {
// The root spends at most a third of its time on results messages.
constexpr double most_per_message_time = 3;
constexpr std::uint64_t shortest_spacing = 100, longest_spacing = 204'800;  // microseconds
}  // namespace

farm_root::farm_root(farm_root_config config)
    : config_(std::move(config)),
      roll_(config_.ranks, config_.call_hash),
      stock_(config_.ranks),
      begun_(config_.ranks),
      suspects_(config_.most_losses),
      audits_(config_.audit, config_.ranks) {
  for (auto const& r : config_.restored) {
    recorded_.insert(r);
    restored_end_ = std::max(restored_end_, r.last() + 1);
  }
  if (directs()) paced_ = by_rank<std::uint64_t>(config_.ranks);
  dealer_ = farm_dealer(config_.policy, config_.first_grant, config_.ranks, config_.first_worker,
                        config_.root, task_pool(config_.window, config_.ordered, recorded_.count()),
                        std::move(config_.costs), config_.costly);
  if (!config_.tasks) return;
  available_ = *config_.tasks;
  source_ended_ = true;
  bool const asks = asks_root(config_.policy);
  if (config_.policy.start == schedule::start_with::weighted || (!asks && config_.resumed))
    dealer_.wait_for_deal();
  else if (!asks)
    dealer_.known_shares(available_);
  else
    dealer_.pool().add(recorded_.missing(0, available_, {}));
}

// --- messages to the ranks

void farm_root::tell(call_messages& told, farm_actions& out) {
  if (roll_.stopping()) {
    dealer_.stop();
    stock_.end();
  }
  for (auto& m : told) out.push_back(farm::send{m.to, std::move(m.what)});
}

void farm_root::give(farm_actions& out) {
  for (auto& a : decided_) {
    if (a.tasks.empty()) {
      dealer_.loads().waits_in_vain(a.rank);
      out.push_back(farm::send{a.rank, farm::nothing{}});
      continue;
    }
    if (stock_.under_way())  // its new owner may have answered already
      for (auto const& r : a.tasks) stock_.claim(r);
    if (watches(a.rank)) begun_.given(a.rank, dealer_.threads(a.rank), a.tasks, now_);
    if (directs() && a.rank != config_.root && std::exchange(paced_[a.rank], spacing_) != spacing_)
      out.push_back(farm::send{a.rank, farm::spacing{spacing_}});
    // A rank that was declared dead may still hold tasks that it is given again.
    out.push_back(farm::send{a.rank, farm::grant{std::move(a.tasks), handed_out_again_ > 0 || copies_ > 0}});
  }
  decided_.clear();
}

void farm_root::serve_all(farm_actions& out) {
  dealer_.serve_all(no_more(), decided_);
  give(out);
}

void farm_root::push(farm_actions& out) {
  dealer_.push(decided_);
  give(out);
}

// --- the source and the sink

void farm_root::begin(farm_actions& out) {
  if (!source_ended_ || restored_fit(out)) maybe_complete(out);
}

// Restored results must belong to tasks of this source, or the run could never be complete.
bool farm_root::restored_fit(farm_actions& out) {
  if (restored_end_ <= available_) return true;
  source_failed("it has " + std::to_string(available_) +
                    " tasks, but the checkpoint holds the result of task " +
                    std::to_string(restored_end_ - 1),
                out);
  return false;
}

void farm_root::supplied(std::uint64_t available, bool ended, farm_actions& out) {
  if (stopping()) return;
  if (available > available_) {
    auto const fresh = recorded_.missing(available_, available, {});
    dealer_.pool().add(fresh);
    if (count_tasks(fresh) < available - available_) {  // the others were restored
      task_set unknown;
      for (auto const& r : fresh) unknown.insert(r);
      for (auto const& r : unknown.missing(available_, available, {})) out.push_back(farm::forget{r});
    }
    available_ = available;
    stock_.moved();
  }
  source_ended_ = source_ended_ || ended;
  if (source_ended_ && !restored_fit(out)) return;
  serve_all(out);
  maybe_complete(out);
}

void farm_root::sunk(std::uint64_t count, task_id next, farm_actions& out) {
  sunk_ = count;
  sink_next_ = next;
  dealer_.pool().sunk(count + left_out_, next);
  stock_.moved();
  if (config_.window > 0) {
    serve_all(out);
    if (!dealer_.pool().empty()) push(out);
  }
  maybe_complete(out);
}

void farm_root::resize_window(std::uint64_t tasks) {
  dealer_.pool().resize_window(std::min(config_.window, std::max(tasks, dealer_.all_threads())));
}

void farm_root::maybe_complete(farm_actions& out) {
  if (audits_.on() && config_.audit_holds && !stopping() && source_ended_ && recorded_.count() == available_)
    for (rank_id r = 0; r < config_.ranks; ++r) release(r, out);
  // The sink may still throw while results wait for it, so the run ends only when it has received all.
  if (!stopping() && source_ended_ && recorded_.count() == available_ && sunk_ + left_out_ == available_)
    roll(out, &roll_call::done, sunk_);
}

void farm_root::sink_failed(task_id id, std::string text, farm_actions& out) {
  roll(out, &roll_call::sink_failed, id, std::move(text));
}
void farm_root::source_failed(std::string text, farm_actions& out) {
  roll(out, &roll_call::source_failed, std::move(text));
}
void farm_root::stop_early(farm_actions& out) { roll(out, &roll_call::stop_early); }
void farm_root::abort(std::string text, farm_actions& out) { roll(out, &roll_call::abort, std::move(text)); }

void farm_root::hold_back(bool on, farm_actions& out) {
  dealer_.hold_back(on);
  if (!on && !finished()) serve_all(out);
}

// Rounded to powers of two, so that small changes cause no messages.
void farm_root::message_cost(double seconds) {
  double const all = most_per_message_time * static_cast<double>(config_.workers()) * seconds;
  std::uint64_t wanted = shortest_spacing;
  while (wanted < longest_spacing && static_cast<double>(wanted) * 1e-6 < all) wanted *= 2;
  spacing_ = wanted == shortest_spacing ? 0 : wanted;  // results of a quantum travel together anyway
}

// --- messages

void farm_root::on(rank_id from, farm_message const& m, farm_actions& out) {
  if (!knows(from)) return;
  if (finished()) {  // the rank has not heard of the end
    if (from != config_.root) {
      call_messages told;
      roll_.say_again(from, told);
      tell(told, out);
    }
    return;
  }
  roll_.heard(from);  // a rank that speaks is not lost: withdraws the suspicion
  dealer_.heard(from);
  suspects_.heard(from);
  if (audits_.at_fault(from) && !std::holds_alternative<call_message>(m)) {
    if (!stopping()) out.push_back(farm::send{from, farm::dismissed{}});
    return;
  }
  if (auto const* const call = std::get_if<call_message>(&m)) {
    roll_.count(sunk_, handed_out_again_);
    roll(out, &roll_call::on, from, *call);
    if (auto const* const h = std::get_if<hello>(call); h != nullptr && !finished()) on_hello(from, *h, out);
  } else if (auto const* const a = std::get_if<farm::ask>(&m)) {
    on_ask(from, *a, out);
  } else if (auto const* const r = std::get_if<farm::results>(&m)) {
    on_results(from, *r, out);
  } else if (auto const* const b = std::get_if<farm::begins>(&m)) {
    on_begins(from, *b, out);
  } else if (auto const* const s = std::get_if<farm::stock>(&m)) {
    on_stock(from, *s, out);
  } else if (auto const* const f = std::get_if<farm::task_failed>(&m)) {
    on_task_failed(from, *f, out);
    dealer_.serve(from, no_more(), decided_);  // a window may have room for the rank now
    give(out);
  }
}

void farm_root::on_hello(rank_id rank, hello const& m, farm_actions& out) {
  if (dealer_.hello(rank, m.threads, m.power)) {
    stock_.moved();  // a repetition by a member that has heard nothing is not progress
    if (config_.tasks && !config_.resumed && rank >= config_.first_worker && watches(rank))
      begun_.given(rank, dealer_.threads(rank),
                   known_share(config_.policy, *config_.tasks, config_.workers(), rank - config_.first_worker,
                               dealer_.costs()),
                   now_);
  }
  give_suspects(out);
  give_failed(out);
  give_audits(out);
  if (stopping()) {
    call_messages told;
    roll_.say_again(rank, told);
    tell(told, out);
  }
  deal(out);
  if (!dealer_.pool().empty() && dealer_.closed(rank)) push(out);
}

// Called when all living ranks have said hello with their power.
void farm_root::deal(farm_actions& out) {
  if (!source_ended_ || !dealer_.may_deal()) return;
  dealer_.deal(recorded_.missing(0, available_, {}), decided_);
  give(out);
  serve_all(out);
}

// Task numbers come from another process, so they are checked before they become bits of a set.
bool farm_root::tasks_exist(rank_id rank, range_list const& ranges, farm_actions& out) {
  if (std::all_of(ranges.begin(), ranges.end(), [&](auto const& r) { return r.last() < available_; }))
    return true;
  abort("rank " + std::to_string(rank) + " speaks of tasks that do not exist", out);
  return false;
}

void farm_root::on_results(rank_id rank, farm::results const& m, farm_actions& out) {
  if (stopping() || !tasks_exist(rank, m.ranges, out) || !tasks_exist(rank, m.begun, out)) return;
  stock_.moved();
  if (watches(rank)) begun_.results(rank, dealer_.threads(rank), m.ranges, m.begun, now_);
  if (!suspects_.empty() &&  // a task with a result did not end its rank
      suspects_.acquit_if([&](task_id id) { return any_contains(m.ranges, id); }))
    give_suspects(out);
  if (config_.merged)
    record_merged(m.ranges, out);
  else if (audits_.on())
    audit(rank, m.ranges, out);
  else
    record(m.ranges, out);
  dealer_.finished(rank, count_tasks(m.ranges));
  told(rank, m.here);
  if (m.wanted > 0) dealer_.asks(rank, m.wanted);
  dealer_.serve(rank, no_more(), decided_);
  give(out);
  direct_idle(false, out);
  give_early_copies(out);
  maybe_complete(out);
}

void farm_root::record(range_list const& ranges, farm_actions& out) {
  for (auto const& r : ranges)
    for (auto const& fresh : recorded_.insert(r)) {
      settle(fresh);
      out.push_back(farm::record{fresh});
      out.push_back(farm::forget{fresh});
    }
}

void farm_root::settle(task_range const& fresh) {
  // The task may be back in the pool and not yet given again.
  if (handed_out_again_ > 0) dealer_.pool().remove(fresh, recorded_);
  failed_.settle(fresh);
}

// One value for all of `ranges`: if some tasks count already, the value is refused and the others run again.
void farm_root::record_merged(range_list const& ranges, farm_actions& out) {
  task_set seen;
  bool once = true;
  for (auto const& r : ranges) {
    once = once && !recorded_.intersects(r);
    if (handed_out_again_ > 0) once = once && count_tasks(seen.insert(r)) == r.count;
  }
  if (once) {
    record(ranges, out);
    return;
  }
  range_list again;
  task_set chosen;
  task_set pooled;
  for (auto const& r : dealer_.pool().ranges()) pooled.insert(r);
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!recorded_.contains(r[i]) && !pooled.contains(r[i]) && chosen.insert(r[i]))
        append(again, {r[i], 1, 1});
  put_back(again);
  serve_all(out);
  push(out);
}

void farm_root::put_back(range_list const& ranges) {
  dealer_.pool().put_back(ranges);
  handed_out_again_ += count_tasks(ranges);
}

range_list farm_root::not_recorded(range_list const& ranges) const {
  range_list left;
  for (auto const& r : ranges) {
    if (!recorded_.intersects(r)) {
      left.push_back(r);
      continue;
    }
    for (std::uint64_t i = 0; i < r.count; ++i)
      if (!recorded_.contains(r[i])) append(left, {r[i], 1, 1});
  }
  return left;
}

std::uint64_t farm_root::hash() const {
  digest d;
  d.add(roll_).add(available_).add(source_ended_).add(sunk_).add(handed_out_again_);
  d.add(spacing_).add(copies_).add(recorded_.count()).add(recorded_.low_water());
  dealer_.hash(d);
  stock_.hash(d);
  begun_.hash(d);
  d.add(suspects_);
  failed_.hash(d);
  audits_.hash(d);
  d.add(sink_next_).add(left_out_);
  return d.value();
}

}  // namespace skel::role
