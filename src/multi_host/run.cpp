#include "run.hpp"

#include <algorithm>
#include <exception>
#include <type_traits>
#include <utility>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "engine/context_access.hpp"

namespace skel::detail {

using role::group_message;
namespace group = role::group;

namespace {

// Mean idle times of hosts and of the other ranks.
void add_idle_times(group_report& g, std::vector<rank_report> const& rows,
                    std::vector<group_plan> const& plan) {
  double hosts = 0, workers = 0, least = 0, most = 0;
  int host_count = 0, worker_count = 0;
  for (auto const& row : rows) {
    bool const led =
        std::any_of(plan.begin(), plan.end(), [&](auto const& p) { return p.leader == row.rank; });
    if (led) {
      hosts += row.idle_seconds;
      ++host_count;
      continue;
    }
    workers += row.idle_seconds;
    least = worker_count == 0 ? row.idle_seconds : std::min(least, row.idle_seconds);
    most = std::max(most, row.idle_seconds);
    ++worker_count;
  }
  if (host_count > 0) g.host_idle_seconds = hosts / host_count;
  // Workers wait while hosts preload, before the clock starts.
  if (worker_count > 0) g.worker_idle_seconds = std::max(0.0, workers / worker_count - g.preload_seconds);
  g.worker_idle_spread = most - least;
}

}  // namespace

group_run::group_run(context& ctx, std::uint64_t units, group_work& work, multi_host_options const& options)
    : protocol_run(ctx, call_options_of(options, "multi_host"), "multi_host"),
      setup_(ctx, units, options, root_),
      host_(setup_.host()),
      hold_(engine_, work, clock_, setup_),
      trial_(engine_, work, setup_, clock_, threads_),
      pieces_(engine_, work, setup_, trial_, threads_),
      pace_(threads_),
      state_(threads_) {
  setup_.describe(call_, work);
  auto const hash = call_.hash();
  member_ = role::group_member(setup_.member_config(engine_, hash, threads_));
  if (!is_root()) return;
  root_role_.emplace(setup_.root_config(work));
  roll_.emplace(all_ranks(), hash);
}

void group_run::begin(std::unique_lock<std::mutex>& /*lock*/) {
  if (setup_.recalls && memory_)
    for (auto const* const p : memory_.pieces()) {
      recalled_ = p->bytes;
      send(root_, group::unit_done{.unit = p->ranges.front().first});
    }
  recalled_ = {};
  tell(member_, &member::begin);
  if (root_role_) tell(*root_role_, &root_role::begin);
}

// --- messages

transport::packet group_run::pack(int /*to*/, message const& m) {
  auto const* const done = std::get_if<group::unit_done>(&m);
  transport::packet body;
  if (!recalled_.empty())
    body.body().insert(body.body().end(), recalled_.begin(), recalled_.end());
  else
    body = hold_.pack(m);
  if (done == nullptr || !recalled_.empty() || !setup_.remembers || !memory_) return body;
  // In case the root is lost with it. A unit takes as long as this host's units did on average.
  ++units_done_;
  memory_.keep({{done->unit, 1, 1}}, body.bytes(),
               (now() - measures_.began()) / static_cast<double>(units_done_));
  return body;
}

void group_run::send_to_self(group_message& m) {
  if (recalled_.empty()) {
    auto with = hold_.load(m);
    return push_to_self(std::move(m), std::move(with));
  }
  auto whole = pack(rank_, m);
  auto with = hold_.unload(m, whole.bytes(), whole);
  push_to_self(std::move(m), std::move(with));
}

void group_run::pack_totals(std::vector<std::byte>& out) {
  clock_.taken_back = host_.units().taken_back();
  role::codec::put(clock_, out);
}

void group_run::route(int from, group_message const& m, group_cargo& /*with*/, actions& out) {
  bool const moves_the_groups = holds_any<group::packet, group::returned, group::unit_done, group::left,
                                          group::lead, role::hello, role::stopped, role::finish>(m);
  // A rank that has processed something says hello again.
  if (moves_the_groups) last_moved_ = now();
  if (auto const* s = std::get_if<group::serve>(&m); s != nullptr && pace_.restart(s->term))
    member_.pace(pace_.per_packet());
  role::route(from, m, active_root(), host_, member_, out);
}

// --- events

bool group_run::vacate(bool leaves) {
  if (over_ || is_root() || !context_access::is_observed(entry_.ctx)) return false;
  tell(member_, &member::retire, leaves);
  return member_.vacant();
}

// The root's watchdog learns that this rank makes progress.
void group_run::on_tick(double t) {
  if (auto const n = measures_.tasks_run(); !over_ && std::exchange(pieces_told_, n) != n) {
    last_moved_ = t;
    if (!is_root()) send(root_, role::call_message(role::hello{call_.hash()}));
  }
  protocol_run::on_tick(t);
}

void group_run::drained(bool /*early*/) {
  hold_.clear();
  tell(host_, &role::group_host::stop);
}

void group_run::performed(group_cargo* /*with*/) {
  if (!active_root() || hold_.sink().sunk() < setup_.units || !root_role_->complete()) return;
  call_roll_now(&role::roll_call::close, role::outcome{});
}

// --- actions

void group_run::act(group::deliver const& a, group_cargo* /*with*/) {
  if (draining_) return;
  if (!setup_.sink_on_hosts()) return tell(host_, &role::group_host::delivered, a.term, a.unit);
  hold_.share().add(a);
  engine_.calls().work_arrived().notify_all();
}

void group_run::act(role::fail const& a, group_cargo* /*with*/) {
  if (roll_ && !roll_->finished())
    call_roll(&role::roll_call::abort, a.text);
  else
    fail_with(a);
}

// --- compute threads

// Reading comes first: members depend on it.
bool group_run::find_work(unsigned thread) {
  auto& todo = state_[thread].todo;
  if (draining_) {
    if (inside_ == 0 && !over_) tell(member_, &member::quiet);
    return false;
  }
  bool const on_trial = root_role_ && root_role_->on_trial();
  auto const process_next = [&] {
    tell(member_, &member::idle, pace_.quantum(thread), inside_ == 0);
    auto job = hold_.take_job();
    if (!job || draining_) return false;
    job->on_trial = on_trial;
    todo = std::move(*job);
    return true;
  };
  // Groups have no final size until the root knows what pieces cost.
  if (on_trial && trial_.begun() && process_next()) return true;
  if (member_.runs_alone()) return process_next();
  if (auto unit = hold_.share().next_read(inside_ == 0 && !member_.has_work()))
    todo = std::move(*unit);
  else if (auto complete = hold_.share().next_delivery())
    todo = std::move(*complete);
  else
    return process_next();
  return true;
}

void group_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const todo = std::exchange(state_[thread].todo, std::monostate{});
  ++inside_;
  std::visit(
      [&]<class Job>(Job const& j) {
        if constexpr (!std::is_same_v<Job, std::monostate>) do_job(j, thread, lock);
      },
      todo);
  if (!root_role_ || !root_role_->on_trial() || draining_ || !trial_.measured()) return;
  unsigned size = 0;
  if (auto const bad = thrown_by([&] { size = trial_.find_size(); }))  // calls history()
    return tell(member_, &member::failed, 0, *bad);
  tell(*root_role_, &root_role::measured, size);
}

void group_run::do_job(led_share::read_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock) {
  if (j.alone) tell(host_, &role::group_host::opens, j.term(), j.unit);
  auto& share = hold_.share();
  lock.unlock();
  double const begin = now();
  std::uint64_t pieces = 0;
  auto const ready = [&](std::uint64_t n) {
    std::lock_guard const again(engine_.mutex());
    if (!draining_) tell(host_, &role::group_host::readied, j.term(), n);
  };
  auto const bad = thrown_by([&] { pieces = share.read(j, ready); });
  double const end = now();
  lock.lock();
  --inside_;
  measures_[thread].busy += end - begin;
  measures_.span(thread, observe::activity::compute, begin, end, j.unit, 1);
  if (!bad) clock_.units_read += share.units_of(j);  // calls history()
  clock_.read_seconds += end - begin;
  last_moved_ = end;
  if (draining_) return;
  if (bad) return tell(member_, &member::failed, j.unit, *bad);
  trial_.unit_read(pieces);
  tell(host_, &role::group_host::was_read, j.term(), pieces);
}

void group_run::do_job(process_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const together = pieces_.room_for_results(thread, j, host_.units().taken_back() > 0);
  piece_runner::outcome out;
  lock.unlock();
  double const begin = now();
  auto const bad = thrown_by([&] { pieces_.run(thread, j, together, draining_, out); });
  double const end = now();
  double const busy = end - begin - out.away;
  auto const n = out.results.size();
  measures_.span(thread, observe::activity::compute, begin, end, j.pieces.unit, n);
  lock.lock();
  --inside_;
  measures_[thread].busy += busy;
  measures_[thread].tasks += n;
  clock_.pieces += n;
  clock_.compute_seconds += busy;
  last_moved_ = end;
  if (pace_.measured(thread, j.packet->term, n, busy)) member_.pace(pace_.per_packet());
  if (draining_) return;
  if (bad)
    tell(member_, &member::failed, j.pieces.unit, *bad);
  else if (hold_.packets().finished(j, out.results))
    tell(member_, &member::finished, j.id, j.pieces, out.bytes);
}

// --- the sink

// Runs on the host that led the unit.
void group_run::do_job(led_share::sink_job const& j, unsigned /*thread*/,
                       std::unique_lock<std::mutex>& lock) {
  auto results = j.take();
  lock.unlock();
  bool go_on = true;
  double const begin = now();
  auto const bad = thrown_by([&] { go_on = hold_.sink().give(j.unit, results); });
  measures_.span(threads_ + 1, observe::activity::sink, begin, now(), j.unit, results.size());
  lock.lock();
  --inside_;
  hold_.share().delivered();
  if (draining_) return;
  if (bad) return tell(member_, &member::failed, j.unit, *bad);
  if (!go_on) tell(member_, &member::please_stop);
  tell(host_, &role::group_host::delivered, j.term(), j.unit);
}

void group_run::after_quantum(unsigned /*thread*/, std::unique_lock<std::mutex>& lock) {
  if (!is_root()) return;
  lock.unlock();
  idle_work();
  lock.lock();
}

// The sink may drive communication. If the transport throws, the run ends, because the sink's current unit is
// lost.
void group_run::idle_work() {
  if (!is_root()) return;
  auto& sink = hold_.sink();
  auto const mine = sink.turn();
  if (!mine) return;
  try {
    while (true) {
      std::unique_lock lock(engine_.mutex());
      if (over_ || roll_->stopping()) return;
      auto e = sink.next();
      if (!e) return;
      lock.unlock();
      bool go_on = true;
      double const begin = now();
      engine_.helper().rest(false);  // the sink may take its time
      auto const bad = thrown_by([&] { go_on = setup_.sink_on_hosts() || sink.give(e->unit, e->results); });
      double const end = now();
      measures_.span(threads_ + 1, observe::activity::sink, begin, end, e->unit, e->results.size());
      lock.lock();
      last_moved_ = end;
      sink.received(end - begin, bad.has_value(), go_on);
      if (bad)
        call_roll_now(
            &role::roll_call::close,
            role::outcome{.how = role::outcome::status::sink_failed, .task = e->unit, .text = *bad});
      else if (!go_on)
        call_roll_now(&role::roll_call::close, role::outcome{.how = role::outcome::status::stopped_early});
      performed(nullptr);
    }
  } catch (...) {
    std::lock_guard const lock(engine_.mutex());
    give_up(std::current_exception());
  }
}

// --- report and progress

report run_multi_host(context& ctx, std::uint64_t units, group_work& work,
                      multi_host_options const& options) {
  group_run run(ctx, units, work, options);
  return run.execute();
}

void group_run::describe(report& r) const {
  r.skeleton = "multi_host";
  r.results = setup_.results();
  auto const& o = setup_.options;
  r.schedule = detail::format(
      "groups:size={}{}{}{}{}", o.group_size == 0 ? "auto" : detail::format("{}", o.group_size),
      o.measures.reassign ? "" : ",reassign=no", o.measures.split_shares ? "" : ",split=no",
      o.measures.preload ? ",preload=yes" : "", o.measures.host_helps ? "" : ",host=serves");
  if (!root_role_) return;
  r.lost_ranks = lost_ranks();
  if (auto const n = root_role_->recalled(); n > 0) r.checkpoint.emplace().restored_tasks = n;
  r.tasks_handed_out_again = clock_.taken_back + host_.units().taken_back() + root_role_->taken_over();
  group_report g;
  for (auto const& p : root_role_->plan()) g.sizes.push_back(p.ranks);
  g.size_found = trial_.found();
  g.reassigned = root_role_->reassigned();
  g.split = root_role_->split();
  g.taken_over = root_role_->taken_over();
  g.units_read = clock_.units_read;
  if (clock_.units_read > 0) g.read_seconds = clock_.read_seconds / static_cast<double>(clock_.units_read);
  if (setup_.units > 0) {
    g.compute_seconds = clock_.compute_seconds / static_cast<double>(setup_.units);
    g.send_seconds = clock_.send_seconds / static_cast<double>(setup_.units);
    if (!setup_.sink_on_hosts()) g.sink_seconds = hold_.sink().seconds() / static_cast<double>(setup_.units);
  }
  if (o.measures.preload && clock_.started_at >= 0) {
    g.preload_seconds = clock_.started_at - measures_.began();
    r.seconds -= g.preload_seconds;
  }
  add_idle_times(g, r.per_rank, root_role_->plan());
  r.groups = std::move(g);
}

void group_run::describe(observe::progress_state& s, bool last) const {
  s.done = last && end_.outcome() ? end_.outcome()->tasks : hold_.sink().sunk();
  s.total = setup_.units;
  s.lost_ranks = static_cast<int>(lost_ranks().size());
}

std::string group_run::state() const {
  std::string text = detail::format(
      "rank {}: multi_host {} (context {}): {} pieces queued, {} running, {} finished and not sent", rank_,
      entry_.key.number, entry_.key.context, member_.queued(), member_.running(), member_.unsent());
  if (auto const host = member_.awaits()) text += detail::format(", waits for rank {}", *host);
  if (host_.active())
    text += detail::format("; leads with {} units open, {} pieces to give, {} workers waiting{}",
                           host_.units().size(), host_.units().pooled(), host_.dealer().waiting(),
                           host_.reading() ? ", reading" : "");
  if (roll_ && !roll_->stopping()) text += "; root: waits for " + root_role_->waits_for();
  return text + waits_to_stop();
}

}  // namespace skel::detail
