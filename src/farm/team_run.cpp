#include "team_run.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "engine/context_access.hpp"
#include "engine/exit_status.hpp"
#include "skel/error.hpp"

namespace skel::detail {

using role::call_message;
using role::team_message;

namespace {
// A rank whose task runs over its time limit ends this many seconds later. Skeleton calls of the others of
// its team are cancelled meanwhile.
constexpr double grace_seconds = 1;
}  // namespace

team_farm_run::team_farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options)
    : collective_run(ctx, call_options_of(options, "farm"), "farm"),
      work_(work),
      setup_(ctx, work, std::move(policy), options, root_),
      sink_(engine_, work, setup_.traits, ctx.is_root() ? setup_.options.checkpoint : std::nullopt),
      stream_(work, setup_.traits.payload, ctx.is_root(), setup_.options.results.window) {
  setup_.describe(call_, work, engine_.options().check_inputs);
  computes_ = setup_.computes();
  compute_threads_ = 1;  // the others are for the skeleton calls of the task
  worker_ = role::team_worker({rank_, root_, call_.hash(), computes_});
  if (!is_root()) return;
  role::team_ledger_config l;
  l.root = root_;
  l.ranks = all_ranks();
  l.workers = setup_.workers();
  l.ordered = setup_.traits.ordered;
  l.window = setup_.options.results.window;
  l.call_hash = call_.hash();
  l.most_losses = setup_.options.max_losses_per_task;
  l.on_error = setup_.options.on_error;
  l.restored = sink_.restored_tasks();
  ledger_.emplace(std::move(l));
}

void team_farm_run::begin(std::unique_lock<std::mutex>& lock) {
  sink_.push_restored();
  if (ledger_ && setup_.traits.tasks) {
    lock.unlock();
    auto const sizes = sizes_of(0, *setup_.traits.tasks);
    lock.lock();
    add_tasks(*setup_.traits.tasks, true, sizes);
  }
  role::team_actions list;
  worker_.begin(list);
  perform(list);
}

// --- the compute thread

bool team_farm_run::find_work(unsigned /*thread*/) { return todo_.has_value(); }

void team_farm_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const job = *std::exchange(todo_, std::nullopt);
  task_id const id = job.task.first;
  std::vector<task_payload> payload;
  stream_.fetch(job.task, payload);
  bool const leads = worker_.leads();
  transport::packet out;
  double const began = began_ = now();
  overran_ = 0;
  std::optional<std::string> failure;
  if (!worker_.cancelled()) {
    lock.unlock();
    enter_team(job);
    failure = thrown_by([&] {
      work_.run_team(*team_, id, payload.empty() ? task_payload{} : payload.front(),
                     leads ? &out.body() : nullptr);
    });
    lock.lock();
  }
  began_ = 0;
  entered_ = false;
  span(thread, observe::activity::compute, began, now(), id, 1);
  clocks_[thread].busy += now() - began;
  if (leads && !failure) ++clocks_[thread].tasks;  // once per team
  last_moved_ = now();
  if (over_) return;
  result_ = std::move(out);
  role::team_actions list;
  worker_.ended(std::move(failure), list);
  perform(list);
  result_ = {};
}

// Without the lock. The ranks of a team that has failed form a new one.
void team_farm_run::enter_team(role::team::run const& job) {
  if (!team_ || formed_ != job.formed) {
    std::vector<int> ranks;
    for (auto const& r : job.ranks)
      for (std::uint64_t i = 0; i < r.count; ++i) ranks.push_back(static_cast<int>(r[i]));
    // Another call of this context may form a team of the same ranks and number.
    auto const number = (std::uint64_t{key_.number} << 40) + job.formed;
    team_.reset();
    team_.emplace(context_access::make_team(ctx_, ranks, number));
    formed_ = job.formed;
  }
  std::lock_guard const lock(engine_.mutex());
  entered_ = true;
  if (worker_.cancelled()) abandon(rank_, "the team has lost a rank");
}

void team_farm_run::abandon(int because_of, std::string const& text) {
  if (entered_)
    engine_.cancel_team(context_access::id(*team_),
                        std::make_exception_ptr(lost_rank_error(because_of, text)));
}

void team_farm_run::after_quantum(unsigned /*thread*/, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  idle_work();
  if (stop_wanted()) {
    std::lock_guard const again(engine_.mutex());
    check_stop();
  }
  lock.lock();
}

void team_farm_run::idle_work() {
  drain_sink();
  supply();
}

// Called with the lock held, by whichever thread drives communication. Nothing can interrupt the task, but
// its skeleton calls end when another rank of the team overruns first.
void team_farm_run::watch_task(double t) {
  auto const limit = setup_.options.task_time_limit_seconds;
  if (!limit || over_ || began_ == 0 || !worker_.job()) return;
  auto const text = detail::format("it has run for longer than its time limit of {} s", *limit);
  if (overran_ == 0 && t - began_ > *limit) {
    overran_ = t;
    role::team_actions list;
    worker_.overran(text, list);
    perform(list);
  } else if (overran_ > 0 && t - overran_ > grace_seconds) {
    auto const id = static_cast<unsigned long long>(worker_.job()->task.first);
    std::fprintf(stderr, "skel: rank %d: task %llu: %s, so this rank ends\n", rank_, id, text.c_str());
    if (!is_root()) std::raise(SIGKILL);  // as any loss of a rank
    report_exit_status(rank_, 1);
    std::fflush(nullptr);
    _exit(1);
  }
}

// --- source and sink

team_farm_run::wanted_sizes team_farm_run::sizes_of(task_id first, task_id last) const {
  wanted_sizes w;
  auto const able = static_cast<int>(setup_.workers().count);
  w.error = thrown_by([&] { w.ranks = setup_.options.team_size.sizes(first, last, able); });
  return w;
}

void team_farm_run::add_tasks(std::uint64_t available, bool ended, wanted_sizes const& sizes) {
  if (sizes.error)
    tell_ledger(&role::team_ledger::source_failed, *sizes.error);
  else
    tell_ledger(&role::team_ledger::supplied, available, ended, std::span<int const>(sizes.ranks));
}

void team_farm_run::supply() {
  auto const turn = stream_.turn();
  if (!turn) return;
  std::unique_lock lock(engine_.mutex());
  if (over_ || draining_) return;
  auto const pooled = ledger_->pooled();
  auto const before = ledger_->available();
  lock.unlock();
  if (!stream_.due(pooled)) return;
  engine_.rest_helper(false);  // the source may take its time
  auto const got = stream_.pull(pooled, lock);
  if (got.error)
    tell_ledger(&role::team_ledger::source_failed, *got.error);
  else
    add_tasks(got.available, got.ended, sizes_of(before, got.available));
}

void team_farm_run::drain_sink() {
  if (!is_root()) return;
  auto const mine = sink_.turn();
  if (!mine) return;
  if (display_) show_progress(false);
  sink_.save_if_due();
  sink_.pass_on(
      [this] {
        return over_                 ? farm_sink::verdict::leave
               : ledger_->stopping() ? farm_sink::verdict::drop
                                     : farm_sink::verdict::pass;
      },
      [this] { engine_.rest_helper(false); },  // it may take its time
      [this, before = sink_.sunk()](auto const& progress, double begin, task_id first) mutable {
        span(threads_ + 1, observe::activity::sink, begin, now(), first, progress.sunk - before);
        before = progress.sunk;
        if (progress.error)
          tell_ledger(&role::team_ledger::sink_failed, progress.error->first, progress.error->second);
        tell_ledger(&role::team_ledger::sunk, progress.sunk, progress.next);
        if (progress.stop) tell_ledger(&role::team_ledger::stop_early);
      });
}

// --- roles and messages

void team_farm_run::perform(role::team_actions& list) {
  for (auto& a : list) perform(a);
  list.clear();
  deliver_own();
}

void team_farm_run::perform(role::team_action& action) {
  if (auto* const s = std::get_if<role::team::send>(&action)) {
    send_to(s->to, std::move(s->what));
  } else if (auto* const t = std::get_if<role::tell_root>(&action)) {
    send_to(root_, std::move(t->what));
  } else if (auto* const b = std::get_if<role::team::begin>(&action)) {
    todo_ = std::move(b->what);
    engine_.work_arrived().notify_all();
  } else if (auto* const q = std::get_if<role::team::abandon>(&action)) {
    abandon(q->because_of, q->text);
  } else if (auto* const a = std::get_if<role::team::accept>(&action)) {
    ++tasks_of_[a->ranks];
    auto batch = std::move(kept_.extract(a->job).mapped());
    batch.ranges = {{a->task, 1, 1}};
    auto const all = batch.ranges;
    sink_.push(std::move(batch), all);
    last_moved_ = now();
  } else if (auto const* const d = std::get_if<role::team::drop>(&action)) {
    kept_.erase(d->job);
  } else if (auto const* const f = std::get_if<role::team::forget>(&action)) {
    stream_.forget({f->task, 1, 1});
  } else if (auto* const l = std::get_if<role::team::leave_out>(&action)) {
    leave_out(std::move(*l));
  } else if (std::holds_alternative<role::drain>(action)) {
    draining_ = true;
  } else if (auto const* const end = std::get_if<role::end>(&action)) {
    end_with(end->how);
  } else if (auto const* const failure = std::get_if<role::fail>(&action)) {
    fail_with(*failure);
  }
}

void team_farm_run::leave_out(role::team::leave_out task) {
  if (setup_.traits.ordered) sink_.push_left_out(task.task);
  ++failed_tasks_;
  left_out_.push_back({task.task, task.rank, task.times, std::move(task.text)});
}

void team_farm_run::send_to(int to, team_message m) {
  auto const* const ended = std::get_if<role::team::ended>(&m);
  transport::packet body;
  if (ended != nullptr) body = std::move(result_);
  if (to == rank_) {
    result_batch batch;
    batch.packed = std::move(body);
    to_self_.push({std::move(m), std::move(batch)});
    return;
  }
  double const begin = span_begin();
  if (stream_.carries_tasks() && !given_tasks(m).empty()) {
    stream_.pack(given_tasks(m), body.body());
  } else if (auto const* const call = std::get_if<call_message>(&m);
             call != nullptr && std::holds_alternative<role::stopped>(*call)) {
    pack_stats(own_stats(), body.body());
  }
  post(to, m, std::move(body), begin);
}

void team_farm_run::deliver_own() {
  to_self_.deliver([&](own_message& own) { deliver(rank_, own.what, std::move(own.batch)); });
}

void team_farm_run::deliver(int from, team_message const& m, result_batch batch) {
  role::team_actions list;
  if (!is_root() || !for_ledger(m)) {
    if (std::holds_alternative<role::team::run>(m)) last_moved_ = now();
    worker_.on(from, m, list);
  } else {
    if (auto const* const ended = std::get_if<role::team::ended>(&m);
        ended != nullptr && ledger_->awaits_result(from, ended->job))
      kept_[ended->job] = std::move(batch);
    ledger_->on(from, m, list);
  }
  for (auto& a : list) perform(a);
}

void team_farm_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  auto const size = body.size();
  auto const m = role::decode<team_message>(body);
  auto const* const call = std::get_if<call_message>(&m);
  if (call != nullptr && is_root()) {
    auto const* const h = std::get_if<role::hello>(call);
    if (h != nullptr && of_another_call(from, h->call_hash)) return;
    if (std::holds_alternative<role::stopped>(*call)) add_stats(unpack_stats(from, body));
  }
  result_batch batch;
  if (std::holds_alternative<role::team::ended>(m)) {
    whole.drop_front(size - body.size());
    batch.packed = std::move(whole);
    last_moved_ = now();
  } else if (stream_.carries_tasks() && !is_root() && !given_tasks(m).empty()) {  // the root has all payloads
    stream_.store(given_tasks(m), body, whole);
  }
  deliver(from, m, std::move(batch));
  deliver_own();
}

void team_farm_run::on_lost(int rank) {
  if (ledger_) {
    tell_ledger(&role::team_ledger::lost, rank);
    lost_ranks_ = static_cast<int>(ledger_->lost_ranks().size());
  }
  role::team_actions list;
  worker_.lost(rank, list);
  perform(list);
}

void team_farm_run::abort(std::string const& text) { tell_ledger(&role::team_ledger::abort, text); }

void team_farm_run::please_stop() {
  if (ledger_) {
    tell_ledger(&role::team_ledger::stop_early);
    return;
  }
  role::team_actions list;
  worker_.please_stop(list);
  perform(list);
}

void team_farm_run::on_tick(double t) {
  if (ledger_) tell_ledger(&role::team_ledger::tick);
  role::team_actions list;
  worker_.tick(list);
  perform(list);
  check_stop();
  watch_task(t);
  watch(t);
}

// --- progress and report

void team_farm_run::describe(report& r) const {
  r.skeleton = "farm";
  r.schedule = "teams";
  r.results = "streamed";
  if (ledger_) r.lost_ranks = ledger_->lost_ranks();
  r.failed_tasks = left_out_;
  std::ranges::sort(r.failed_tasks, {}, &task_failure::task);
  for (auto const& [ranks, tasks] : tasks_of_) r.teams.push_back({ranks, tasks});
}

void team_farm_run::describe(observe::progress_state& s, bool /*last*/) const {
  s.done = sink_.sunk() + failed_tasks_;
  s.total = setup_.traits.tasks;
  s.failed = failed_tasks_;
  s.lost_ranks = lost_ranks_;
}

std::string team_farm_run::state() const {
  auto text = detail::format(
      "rank {}: farm {} (context {}, teams): {}", rank_, key_.number, key_.context,
      worker_.job() ? detail::format("in task {}", worker_.job()->task.first) : std::string("idle"));
  if (!ledger_) return text;
  text += detail::format(
      "; root: {} teams at work, {} ranks free, {} recorded, {} in the sink, {} in the pool",
      ledger_->running(), ledger_->free_ranks(), ledger_->recorded(), sink_.sunk(), ledger_->pooled());
  if (ledger_->stopping())
    text += detail::format(", stopping, waiting for ranks [{}]", detail::join(ledger_->not_stopped(), " "));
  return text;
}

}  // namespace skel::detail
