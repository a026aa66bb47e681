#include "run.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/format.hpp"
#include "base/overloaded.hpp"
#include "call/timed.hpp"
#include "call/user_code.hpp"
#include "checkpoint/interval.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace skel::detail {

using role::call_message;
using role::steal_message;
namespace steal = role::steal;

namespace {

bool moves_the_run(steal_message const& m) {
  return holds_any<steal::loan, steal::paid, steal::worth, steal::returned, steal::bequeaths, steal::progress,
                   role::stopped, role::finish>(m);
}
bool is_of_a_debt(steal_message const& m) {
  return holds_any<steal::loan, steal::paid, steal::worth, steal::returned, steal::bequeaths>(m);
}

bool has_result(role::outcome const& o) {
  return o.how == role::outcome::status::done || o.how == role::outcome::status::stopped_early;
}

std::uint64_t hash_of(steal_work const& work, task_bag const& tasks) {
  std::vector<std::byte> packed;
  work.pack_bag(tasks, packed);
  xxh3_hasher hash;
  hash.update(packed);
  return hash.value();
}

std::unique_ptr<steal_recorder> open_store(engine& of, ring_steal_options const& options, steal_work& work) {
  call_description what("ring_steal");
  what.add("label", options.label).add_hidden("types", hash_text(work.types()));
  if (auto const tasks = work.tasks()) what.add("tasks", *tasks);
  add_values(what, "job", work);
  return std::make_unique<steal_recorder>(of, *options.checkpoint, std::move(what));
}

}  // namespace

steal_run::steal_run(context& ctx, steal_work& work, schedule::stealing const& how,
                     ring_steal_options const& options, merged_result& total)
    : protocol_run(ctx, call_options_of(options, "ring_steal"), "ring_steal"),
      work_(work),
      how_(how),
      options_(options),
      total_(total),
      books_(work, threads_),
      threads_at_work_(engine_, work, threads_),
      bound_(work.bound()) {
  if (ctx.is_root()) others_.tasks.resize(static_cast<std::size_t>(ctx.size()));
  // A thief's answer takes about 80 microseconds, when the victim looks between two slices. A sleep takes
  // longer.
  waiting_.set_spin_seconds(200e-6);
  role::steal_member_config c;
  c.self = rank_;
  c.root = root_;
  c.ranks = all_ranks();
  c.order = how_.order;
  c.records = options_.checkpoint.has_value();
  c.most_losses = options_.max_losses_per_task;
  if (auto const tasks = work.tasks()) call_.add("tasks", *tasks);
  call_.add("take", how_.take == schedule::steal_size::one ? "one" : "half")
      .add("order", static_cast<int>(how_.order))
      .add("max_losses_per_task", options_.max_losses_per_task)
      .add("checkpoint", c.records)
      .add_types("types", work.types())
      .add_types("job", work.function());
  bool const compared = ctx.size() > 1 || ctx.attempt() > 1;
  if (auto const contents = compared ? work.contents(engine_.options().check.inputs) : std::nullopt)
    call_.add_hidden("contents of the task list", *contents);
  c.call_hash = call_.hash();
  member_ = role::steal_member(c);
  if (is_root()) roll_.emplace(all_ranks(), c.call_hash);
  if (!is_root() || !c.records) return;
  recorder_ = open_store(engine_, options_, work);
  auto const left = recorder_->take_restored();
  if (!left) return;
  if (auto const bad = thrown_by([&] { books_.add(books_.open(0), *left); }))
    throw usage_error("the checkpoint cannot be used: " + *bad);
}

void steal_run::begin(std::unique_lock<std::mutex>& lock) {
  std::optional<std::string> bad;
  if (is_root() && books_.debts().empty()) {  // otherwise an earlier run has left what there is to do
    auto source = work_.make_bag();
    lock.unlock();
    bad = thrown_by([&] {
      work_.open_source(*source);
      if (engine_.job.memory && !work_.tasks()) value_.list_hash = hash_of(work_, *source);
    });
    lock.lock();
    if (!bad && take_value()) source = work_.make_bag();
    books_.open(0).waiting = std::move(source);
  }
  tell(member_, &member::begin);
  if (auto const restored = memory_.restored_tasks(); restored > 0)
    call_roll_now(&role::roll_call::close, role::outcome{.tasks = restored});
  else if (bad)
    call_roll_now(&role::roll_call::close,
                  role::outcome{.how = role::outcome::status::source_failed, .text = *bad});
}

// The value of the same tasks in an earlier attempt, which this rank received then.
bool steal_run::take_value() {
  auto const* const before = memory_.value();
  if (before == nullptr) return false;
  std::span<std::byte const> in(before->bytes);
  if (bytes::get_raw<std::uint64_t>(in) != value_.list_hash) return false;
  if (thrown_by([&] { work_.unpack_result(in, total_); })) return false;
  value_.bytes = before->bytes;
  memory_.use(*before);
  return true;
}

// --- actions

void steal_run::act(steal::send& a, cargo* /*with*/) {
  if (is_of_a_debt(a.what) && books_.find(a.debt) == nullptr) return;  // the run has failed meanwhile
  sending_ = a.debt;
  send(a.to, std::move(a.what));
}

void steal_run::act(steal::work const& a, cargo* /*with*/) {
  if (auto* const d = books_.find(a.debt)) d->state_at = now() + statement_times::suspects_interval;
  if (threads_ > 1) engine_.calls().work_arrived().notify_all();
}

// Its result so far is the debt's, its tasks wait for another borrower.
void steal_run::act(steal::set_apart const& a, cargo* /*with*/) {
  actions list;
  auto const bad = thrown_by([&] {
    if (auto const all = books_.set_apart(a))
      books_.cut(a.loan, *all, member_.cut(a.loan, all->size(), list));
  });
  if (bad) return fail(*bad);
  perform(list);
}

void steal_run::act(steal::lend_again const& a, cargo* /*with*/) {
  auto const of = books_.lend_again(a.parcel, a.what.number);
  if (!of) return;
  sending_ = *of;
  send(a.to, a.what);
}

void steal_run::act(steal::record const& /*a*/, cargo* /*with*/) {
  if (books_.find(0) == nullptr) return;  // the run has failed meanwhile
  auto& costs = recorder_->costs();
  timed const blocked(costs.blocked_seconds);
  timed const serialised(costs.serialise_seconds);
  if (auto const bad = thrown_by([&] { recorder_->record(books_.statement_of(0)); })) fail(*bad);
}

// Debt 0 ends: its result is the run's. It is packed for the other ranks while the run can still fail.
void steal_run::act(steal::complete const& /*a*/, cargo* /*with*/) {
  if (books_.find(0) == nullptr) return;  // the run has failed meanwhile
  std::uint64_t tasks = 0;
  auto const bad = thrown_by([&] {
    tasks = books_.complete(total_);
    if (all_ranks() == 1) return;
    bytes::put_raw(value_.bytes, value_.list_hash);
    work_.pack_result(total_, value_.bytes);
  });
  if (bad) return fail(*bad);
  if (!value_.bytes.empty()) memory_.keep_value(tasks, value_.bytes);
  call_roll(&role::roll_call::close, role::outcome{.tasks = tasks});
}

void steal_run::drained(bool early) {
  if (!early) books_.clear();
}

// --- messages

transport::packet steal_run::pack(int /*to*/, steal_message& m) {
  transport::packet body;
  auto& out = body.body();
  std::visit(overloaded{[&](steal::loan const& l) {
                          if (l.again)
                            books_.pack_loan(l.number, out);
                          else
                            books_.pack_loan(l.number, sending_, how_.take == schedule::steal_size::half,
                                             out);
                        },
                        [&](steal::paid const&) { books_.pack_paid(sending_, out); },
                        [&](steal::worth const&) { encode(books_.statement_of(sending_), out); },
                        [&](steal::bequeaths const& b) { books_.pack_parts(sending_, b.loans, out); },
                        [&](steal::returned const&) {
                          encode(books_.statement_of(sending_), out);
                          books_.debts().erase(sending_);
                        },
                        [&](call_message const& call) {
                          auto const* const f = std::get_if<role::finish>(&call);
                          if (f != nullptr && has_result(f->how))
                            out.insert(out.end(), value_.bytes.begin(), value_.bytes.end());
                        },
                        [](auto const&) {}},
             m);
  return body;
}

std::span<std::byte const> steal_run::unpack(int from, steal_message& m, std::span<std::byte const> body,
                                             transport::packet& /*whole*/) {
  if (moves_the_run(m)) last_moved_ = now();
  std::visit(overloaded{[&](call_message const& call) {
                          auto const* const f = std::get_if<role::finish>(&call);
                          if (f == nullptr || !has_result(f->how)) return;
                          auto const value = body;
                          if (auto const bad = thrown_by([&] {
                                value_.list_hash = bytes::get_raw<std::uint64_t>(body);
                                work_.unpack_result(body, total_);
                              }))
                            throw protocol_error("the result cannot be read: " + *bad);
                          if (f->how.how == role::outcome::status::done)
                            memory_.keep_value(f->how.tasks, value);
                        },
                        [&](steal::loan const&) {
                          if (!draining_)
                            measures_.span(threads_, observe::activity::steal, now(), now(),
                                           static_cast<std::uint64_t>(from), body.size());
                        },
                        [&](steal::progress const& p) {
                          if (!is_root()) return;
                          others_.tasks[static_cast<std::size_t>(from)] = p.tasks;
                          call_roll(&role::roll_call::on, from, role::hello{call_.hash()});  // it takes part
                        },
                        [](auto const&) {}},
             m);
  return body;
}

void steal_run::pack_totals(std::vector<std::byte>& out) {
  bytes::put_varint(out, member_.search().steals());
  bytes::put_varint(out, member_.loans().taken_back());
}

void steal_run::add_totals(int /*from*/, std::span<std::byte const>& in) {
  others_.steals += bytes::get_varint(in);
  others_.taken_back += bytes::get_varint(in);
}

void steal_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (over_) return;
  protocol_run::receive(from, body, whole);
  share_bound();
  serve();
  check_done();
}

void steal_run::on_tick(double t) {
  if (over_) return;
  share_bound();
  // The root hears that this rank moves: for its watchdog, and to show progress.
  if (auto const n = measures_.tasks_run(); n != tasks_told_) {
    tasks_told_ = n;
    last_moved_ = t;
    if (!is_root()) send(root_, steal::progress{n});
  }
  state_debts();  // also while no thread comes by
  protocol_run::on_tick(t);
}

// A rank that is to leave begins no task. While the others end, thieves get those that wait.
bool steal_run::vacate(bool leaves) {
  if (over_ || draining_ || is_root() || !context_access::is_observed(entry_.ctx)) return false;
  check_done();
  tell(member_, &member::retire, leaves, running_ == 0);
  return member_.vacant();
}

// --- compute threads

bool steal_run::find_work(unsigned /*thread*/) {
  share_bound();
  auto const current = member_.debts().current();
  if (current && !member_.leaves() && books_.find(*current)->waiting->size() > 0) return true;
  check_done();  // a source without tasks
  return false;
}

void steal_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto& hand = books_.of(thread);
  auto const id = *member_.debts().current();
  auto& d = *books_.find(id);
  auto const wake_others = [&](steal_books::debt const& left) {
    if (waiting_.threads() > 0 && left.waiting->size() > 0) engine_.calls().work_arrived().notify_all();
  };
  auto const taken = threads_at_work_.share(thread, d.waiting->size(), waiting_.threads());
  books_.take(hand, d, taken);
  bool const copies =
      options_.checkpoint && (statements_.due() || hand.bag->size() <= steal_threads::few_tasks);
  if (copies || member_.debts().suspect(id))
    if (auto const bad = thrown_by([&] { books_.copy(hand, id); })) {
      hand.bag = work_.make_bag();
      return fail(*bad);
    }
  books_.begin(hand, id);
  ++running_;
  wake_others(d);
  // A search with a bound begins on the root. Before it has found a good bound, thieves would run tasks that
  // are not needed: 369 instead of 36 on three ranks in the tutorial.
  steal_threads::quantum q{.alone = bound_ != nullptr && is_root() && measures_.tasks_run() == 0};
  lock.unlock();

  double const begin = now();
  worker_info const where{rank_, thread, threads_, engine_.place.device(thread)};
  auto const error = thrown_by([&] { threads_at_work_.run(hand, where, q, draining_); });
  measures_.span(thread, observe::activity::compute, begin, now(), 0, q.tasks);

  lock.lock();
  --running_;
  measures_[thread].tasks += q.tasks;
  measures_[thread].busy += threads_at_work_.ended(thread, taken, hand.bag->size());
  if (auto const* const left = books_.end(hand, q.tasks)) wake_others(*left);
  if (error) fail(*error);
  share_bound();
  serve();
  check_done();
}

// Serves the waiting thieves. A debt without running threads keeps one task, because the calling
// thread is about to take it.
void steal_run::serve() {
  auto const& thieves = member_.thieves();
  while (!thieves.empty() && !draining_) {
    auto const current = member_.debts().current();
    auto const spare = [&](auto const& entry) {
      std::size_t const keeps = entry.first == current && entry.second.running == 0 ? 1 : 0;
      auto const* const owed = member_.debts().find(entry.first);
      return owed != nullptr && entry.second.waiting->size() > keeps && thieves.may_have(*owed);
    };
    auto const from = std::find_if(books_.debts().begin(), books_.debts().end(), spare);
    if (from == books_.debts().end()) break;
    thief_.gave();
    tell(member_, &member::spare, from->first);
    last_moved_ = now();
  }
  if (thief_.refuses(!thieves.empty(), now())) tell(member_, &member::nothing_to_spare);
  threads_at_work_.thieves_wait(!thieves.empty());
}

// The current debt has no tasks; after drain, no thread runs one.
void steal_run::check_done() {
  while (auto const current = member_.debts().current()) {
    auto const& d = *books_.find(*current);
    if (d.waiting->size() > 0 || d.running > 0) break;
    if (auto const bad = thrown_by([&] { books_.gather(*current); })) return fail(*bad);
    tell(member_, &member::dry, *current);
  }
  if (draining_ && running_ == 0 && !over_) tell(member_, &member::quiet);
}

// The member learns the bound that tasks have found, and the tasks learn that of the member.
void steal_run::share_bound() {
  if (bound_ == nullptr || over_) return;
  auto found = bound_->load(std::memory_order_relaxed);
  auto const best = member_.share(found);
  while (found < best && !bound_->compare_exchange_weak(found, best, std::memory_order_relaxed)) {
  }
  if (member_.has_news() && thief_.spreads(now())) tell(member_, &member::spread);
}

void steal_run::idle_work() {
  std::unique_lock const lock(engine_.mutex(), std::try_to_lock);
  if (!lock || over_) return;
  try {
    share_bound();
    serve();
  } catch (std::exception const&) {
    // The transport has failed. The compute threads meet the same error and report it.
  }
}

void steal_run::rest(std::unique_lock<std::mutex>& lock, double seconds) {
  if (thief_.retries(member_.resting(), now())) tell(member_, &member::retry);
  auto const at = thief_.next(member_.has_news());
  if (!engine_.owns_time() || !at) return collective_run::rest(lock, seconds);
  lock.unlock();  // only an arrival would wake it earlier
  engine_.wires().wait(std::max(*at - now(), 1e-6));
  lock.lock();
}

void steal_run::after_quantum(unsigned /*thread*/, std::unique_lock<std::mutex>& /*lock*/) { state_debts(); }

void steal_run::state_debts() {
  if (draining_ || over_) return;
  if (options_.checkpoint) {
    double const t = now();
    for (auto const id : statements_.ready(books_, recorder_.get(), t)) tell(member_, &member::state, id);
    double const every = recorder_ ? recorder_->interval() : usual_interval(*options_.checkpoint);
    if (statements_.complete(every, t) && recorder_ && !draining_) recorder_->save_if_due(t);
  }
  for (auto const id : statement_times::ready_suspects(books_, member_.debts(), now())) {
    double const begin = now();
    tell(member_, &member::state, id);
    if (auto* const d = books_.find(id)) d->state_at = now() + statement_times::pause(now() - begin);
  }
}

std::optional<checkpoint_report> steal_run::close() {
  if (!recorder_) return {};
  recorder_->close();
  return recorder_->costs();
}

// --- report and progress

void steal_run::describe(report& r) const {
  r.skeleton = "ring_steal";
  r.schedule = detail::format("ring:take={}", to_string(how_.take));
  if (how_.order != schedule::ring_order::doubling)
    detail::append_format(r.schedule, ",order={}", to_string(how_.order));
  r.results = "merged";
  r.steals = others_.steals + member_.search().steals();
  r.tasks_handed_out_again = others_.taken_back + member_.loans().taken_back();
  r.lost_ranks = lost_ranks();
}

void steal_run::describe(observe::progress_state& s, bool last) const {
  s.done =
      measures_.tasks_run() + std::accumulate(others_.tasks.begin(), others_.tasks.end(), std::uint64_t{0});
  if (recorder_) s.done += recorder_->costs().restored_tasks;
  if (last && end_.outcome()) s.done = end_.outcome()->tasks;
  s.lost_ranks = static_cast<int>(lost_ranks().size());
}

std::string steal_run::state() const {
  std::string text = detail::format("rank {}: ring_steal {} (context {}): {} tasks run, {} debts, {} loans",
                                    rank_, entry_.key.number, entry_.key.context, measures_.tasks_run(),
                                    member_.debts().size(), member_.loans().book().size());
  if (auto const current = member_.debts().current())
    text += detail::format(", {} threads at work", running_);
  else if (draining_)
    text += ", draining";
  else if (member_.leaves())
    text += ", leaves";
  else if (auto const victim = member_.search().asked())
    text += detail::format(", has asked rank {}", *victim);
  if (!member_.thieves().empty()) text += detail::format(", {} thieves wait", member_.thieves().size());
  return text + waits_to_stop();
}

report run_ring_steal(context& ctx, steal_work& work, schedule::stealing const& how,
                      ring_steal_options const& options, merged_result& total) {
  steal_run run(ctx, work, how, options, total);
  report r;
  try {
    r = run.execute();
  } catch (...) {
    run.close();
    throw;
  }
  if (auto const saved = run.close()) r.checkpoint = saved;
  run.throw_if_left();
  return r;
}

}  // namespace skel::detail
