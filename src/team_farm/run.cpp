#include "run.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "engine/broken_calls.hpp"
#include "engine/context_access.hpp"
#include "engine/exit_status.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
// A rank whose task runs over its time limit ends this many seconds later. Skeleton calls of the others of
// its team are cancelled meanwhile.
constexpr double grace_seconds = 1;
}  // namespace

team_farm_run::team_farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options,
                             std::vector<std::uint64_t> hosts)
    : farm_call(ctx, work, std::move(policy), options) {
  compute_threads_ = 1;  // the others are for the skeleton calls of the task
  member_ = role::team_member({rank_, root_, call_.hash(), computes_});
  if (!is_root()) return;
  role::team_root_config l;
  l.root = root_;
  l.ranks = all_ranks();
  l.first_computing = setup_.first_computing();
  l.hosts = std::move(hosts);
  l.ordered = setup_.traits.ordered;
  l.window = setup_.options.results.window;
  l.most_losses = setup_.options.max_losses_per_task;
  l.on_error = setup_.options.on_error;
  l.restored = sink_.restored_tasks();
  root_role_.emplace(std::move(l));
  roll_.emplace(all_ranks(), call_.hash());
  resize_window();
}

void team_farm_run::begin(std::unique_lock<std::mutex>& lock) {
  sink_.push_restored();
  if (root_role_ && setup_.traits.tasks) {
    lock.unlock();
    std::ignore = thrown_by([&] { work_.make_places(); });  // as in farm_run
    auto const sizes = sizes_of(0, *setup_.traits.tasks);
    lock.lock();
    add_tasks(*setup_.traits.tasks, true, sizes);
  }
  tell(member_, &member::begin);
}

// The next root knows only the results that the checkpoint of this one has.
bool team_farm_run::vacate(bool leaves) {
  if (over_ || !context_access::is_observed(entry_.ctx)) return false;
  if (!is_root()) {
    tell(member_, &member::retire, leaves);
    return member_.vacant();
  }
  if (!sink_.saves()) return false;
  tell(*root_role_, &root_role::pause, leaves);
  return root_role_->running() == 0;
}

double team_farm_run::kept() {
  auto const& saves = setup_.options.checkpoint;
  if (!saves) return 0;
  return over_ ? measures_.seconds() : std::max(0.0, measures_.seconds() - 2 * usual_interval(*saves));
}

// --- the compute thread

bool team_farm_run::find_work(unsigned /*thread*/) { return todo_.has_value(); }

void team_farm_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const job = *std::exchange(todo_, std::nullopt);
  task_id const id = job.task.first;
  std::vector<task_payload> payload;
  stream_.fetch(job.task, payload);
  bool const leads = member_.leads();
  transport::packet out;
  double const began = began_ = now();
  overran_ = 0;
  std::optional<std::string> failure;
  auto const broken = broken_calls.load();
  if (!member_.cancelled()) {
    lock.unlock();
    enter_team(job);
    failure = thrown_by([&] {
      work_.run_team(*team_, id, payload.empty() ? task_payload{} : payload.front(),
                     leads ? &out.body() : nullptr);
    });
    lock.lock();
  }
  began_ = 0;
  if (broken_calls != broken && !await_cancel(lock))
    failure = "an MPI call on its team failed because a rank was lost";
  entered_ = false;
  measures_.span(thread, observe::activity::compute, began, now(), id, 1);
  measures_[thread].busy += now() - began;
  if (leads && !failure) ++measures_[thread].tasks;  // once per team
  last_moved_ = now();
  if (over_) return;
  result_ = std::move(out);
  tell(member_, &member::ended, std::move(failure));
  result_ = {};
}

// MPI may tell a task of a loss before the root hears of it and cancels the job. Until then, nothing of the
// task counts, and it has not failed. Returns false if the root does not cancel it.
bool team_farm_run::await_cancel(std::unique_lock<std::mutex>& lock) {
  constexpr double patience_seconds = 10;
  for (double const end = now() + patience_seconds; !member_.cancelled() && !over_ && now() < end;) {
    engine_.driver().progress();
    engine_.driver().rest(lock, 200e-6);
  }
  return member_.cancelled() || over_;
}

// Without the lock. The ranks of a team that has failed form a new one.
void team_farm_run::enter_team(role::team::run const& job) {
  if (!team_ || formed_ != job.formed) {
    std::vector<int> ranks;
    for (auto const& r : job.ranks)
      for (std::uint64_t i = 0; i < r.count; ++i) ranks.push_back(static_cast<int>(r[i]));
    // Another call of this context may form a team of the same ranks and number.
    auto const number = (std::uint64_t{entry_.key.number} << 40) + job.formed;
    team_.reset();
    team_.emplace(context_access::make_team(entry_.ctx, ranks, number));
    formed_ = job.formed;
  }
  std::lock_guard const lock(engine_.mutex());
  entered_ = true;
  if (member_.cancelled()) abandon(rank_, "the team has lost a rank");
}

void team_farm_run::abandon(int because_of, std::string const& text) {
  if (entered_)
    engine_.calls().cancel_team(context_access::id(*team_),
                                std::make_exception_ptr(lost_rank_error(because_of, text)));
}

// Called with the lock held, by whichever thread drives communication. Nothing can interrupt the task, but
// its skeleton calls end when another rank of the team overruns first.
void team_farm_run::watch_tasks(double t) {
  auto const limit = setup_.options.task.time_limit_seconds;
  if (!limit || began_ == 0 || !member_.job()) return;
  auto const text = detail::format("it has run for longer than its time limit of {} s", *limit);
  if (overran_ == 0 && t - began_ > *limit) {
    overran_ = t;
    if (!over_) tell(member_, &member::overran, text);
  } else if (overran_ > 0 && t - overran_ > grace_seconds) {
    auto const id = static_cast<unsigned long long>(member_.job()->task.first);
    std::fprintf(stderr, "skel: rank %d: task %llu: %s, so this rank ends\n", rank_, id, text.c_str());
    if (!is_root()) std::raise(SIGKILL);  // as any loss of a rank
    end_process(rank_, 1);
  }
}

void team_farm_run::excuse(double seconds) {
  if (began_ > 0) began_ = std::min(now(), began_ + seconds);
  if (overran_ > 0) overran_ = std::min(now(), overran_ + seconds);
}

// --- source and sink

team_farm_run::wanted_sizes team_farm_run::sizes_of(task_id first, task_id last) const {
  wanted_sizes w;
  auto const able = setup_.computing();
  w.error = thrown_by([&] {
    w.ranks = setup_.options.task.team_size.sizes(first, last, able);
    bool const in_order = setup_.traits.ordered && setup_.options.results.window > 0;
    w.costs =
        setup_.costs.empty() && !in_order ? setup_.options.task.team_size.seconds(w.ranks) : setup_.costs;
  });
  return w;
}

void team_farm_run::add_tasks(std::uint64_t available, bool ended, wanted_sizes const& sizes) {
  if (sizes.error)
    call_roll_now(&role::roll_call::close,
                  role::outcome{.how = role::outcome::status::source_failed, .text = *sizes.error});
  else
    tell(*root_role_, &root_role::supplied, available, ended, std::span<int const>(sizes.ranks),
         std::span<double const>(sizes.costs));
}

// --- roles and messages

void team_farm_run::act(role::team::begin& a, result_batch* /*batch*/) {
  todo_ = std::move(a.what);
  engine_.calls().work_arrived().notify_all();
}

void team_farm_run::act(role::team::accept const& a, result_batch* /*batch*/) {
  ++tasks_of_[a.ranks];
  auto batch = std::move(kept_.extract(a.job).mapped());
  batch.ranges = {{a.task, 1, 1}};
  auto const all = batch.ranges;
  sink_.push(std::move(batch), all);
  last_moved_ = now();
}

void team_farm_run::send_to_self(message& m) {
  result_batch batch;
  if (std::holds_alternative<role::team::ended>(m)) batch.packed = std::move(result_);
  push_to_self(std::move(m), std::move(batch));
}

transport::packet team_farm_run::pack(int /*to*/, message& m) {
  if (std::holds_alternative<role::team::ended>(m)) return std::move(result_);
  transport::packet body;
  pack_payloads(m, body.body());
  return body;
}

result_batch team_farm_run::unpack(int from, message& m, std::span<std::byte const> body,
                                   transport::packet& whole) {
  heard(from, m);
  keep_payloads(m, body, whole);
  result_batch batch;
  if (std::holds_alternative<role::team::ended>(m)) {
    whole.drop_front(whole.size() - body.size());
    batch.packed = std::move(whole);
    last_moved_ = now();
  }
  return batch;
}

void team_farm_run::route(int from, message const& m, result_batch& batch, actions& out) {
  if (!is_root() || !for_root_role(m)) {
    if (std::holds_alternative<role::team::run>(m)) last_moved_ = now();
    member_.on(from, m, out);
    return;
  }
  if (auto const* const ended = std::get_if<role::team::ended>(&m);
      ended != nullptr && root_role_->awaits_result(from, ended->job))
    kept_[ended->job] = std::move(batch);
  root_role_->on(from, m, out);
}

// --- report

void team_farm_run::describe(report& r) const {
  farm_call::describe(r);
  r.schedule = "teams";
  r.results = "streamed";
  for (auto const& [ranks, tasks] : tasks_of_) r.teams.push_back({ranks, tasks});
}

team_farm_run::role_states team_farm_run::states() const {
  return {member_.job() ? detail::format("in task {}", member_.job()->task.first) : "idle",
          root_role_ ? detail::format("{} teams at work, {} ranks free", root_role_->running(),
                                      root_role_->free_ranks())
                     : ""};
}

}  // namespace skel::detail
