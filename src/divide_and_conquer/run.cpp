#include "run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "base/format.hpp"
#include "base/overloaded.hpp"
#include "call/user_code.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel {

namespace {
constexpr std::array<char const*, 4> names{"hypercube", "tree", "embarrassing", "distributed"};
}  // namespace

any_division::any_division(std::string_view name) : kind_(kind::hypercube) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name != names.at(i)) continue;
    kind_ = static_cast<kind>(i);
    return;
  }
  throw usage_error("unknown kind of divide-and-conquer \"" + std::string(name) +
                    "\"; known: hypercube, tree, embarrassing, distributed");
}

std::string to_string(any_division const& division) {
  return names.at(static_cast<std::size_t>(division.which()));
}

namespace detail {

using role::call_message;
using role::divide_message;
using role::rank_span;
namespace divide = role::divide;

divide_run::divide_run(context& ctx, divide_work& work, divide_kind const& kind,
                       divide_and_conquer_options const& options)
    : protocol_run(ctx, call_options_of(options, kind.name), "divide_and_conquer"),
      work_(work),
      kind_(kind),
      jobs_(engine_, work, kind_, rank_, ctx.size(), threads_) {
  require_count(kind.name, "pieces_per_thread", options.pieces_per_thread);
  if (work.solves_with_threads())
    compute_threads_ = 1;  // solve uses the others; waking them for one job costs more than it gains
  else if (threads_ > 1)
    jobs_.divide_further(
        static_cast<unsigned>(std::bit_width(threads_ * std::max(1U, options.pieces_per_thread) - 1)));
  call_.add("kind", kind.name)
      .add("source", kind.from == placement::everywhere ? "replicated_problem"
                     : kind.from == placement::on_root  ? "on_root"
                                                        : "own_part")
      .add_types("types", work.types())
      .add_types("job", work.function());
  bool const compared = ctx.size() > 1 || ctx.attempt() > 1;
  if (auto const contents = compared ? work.contents(engine_.options().check.inputs) : std::nullopt)
    call_.add_hidden("contents of the replicated_problem", *contents);
  auto const hash = call_.hash();
  role::divide_config const config{rank_, ctx.size(), kind.from, kind.to, hash};
  member_ = role::divide_member(config);
  if (!is_root()) return;
  root_role_.emplace(config, options.max_losses_per_task);
  roll_.emplace(all_ranks(), hash);
}

void divide_run::begin(std::unique_lock<std::mutex>& lock) {
  if (auto const* const before = memory_.value()) {
    cargo whole{nullptr, transport::packet::received(before->bytes)};
    memory_.use(*before);
    auto list = empty_list();
    member_.begin_solved(list);
    return perform(list, &whole);
  }
  std::optional<std::string> bad;
  if (kind_.from != placement::on_root || is_root()) {
    bool const own = kind_.from == placement::in_parts;
    rank_span const group = own ? role::alone(rank_) : everybody();
    held_problem p;
    lock.unlock();
    bad = thrown_by([&] { p.object = work_.open(own ? level(group) : 0); });
    lock.lock();
    problems_[group] = std::move(p);
  }
  if (!bad)
    tell(member_, &member::begin);
  else if (is_root())  // no rank begins
    call_roll_now(&role::roll_call::close,
                  role::outcome{.how = role::outcome::status::source_failed, .text = *bad});
  else
    fail(*bad);
}

solution_ptr divide_run::take_solution() {
  solution_ptr mine;
  for (auto& [group, s] : solutions_) {
    bool const whole = kind_.to == placement::in_parts
                           ? group.first == rank_
                           : group == everybody() && (is_root() || kind_.to == placement::everywhere);
    if (!whole) continue;
    if (kind_.from == placement::everywhere && kind_.to == placement::everywhere) remember(s);
    mine = jobs_.open(s);
  }
  solutions_.clear();
  return mine;
}

// All ranks of the job have this solution.
void divide_run::remember(held_solution const& s) {
  std::lock_guard const lock(engine_.mutex());
  // Unless it has come as bytes, it is about twice as large as the half that this rank has sent.
  if (!memory_.keeps_value(s.packed ? s.packed->size() : 2 * bytes_sent_)) return;
  transport::packet body;
  if (!s.packed && thrown_by([&] { work_.pack(*s.object, body.body()); })) return;
  memory_.keep_value(1, (s.packed ? *s.packed : body).bytes());
}

// --- actions

void divide_run::act(divide::divide const& a, cargo* /*with*/) {
  jobs_.add(divide_job::kind::divide, a.group, problems_.at(a.group));
  wake_others();
}

void divide_run::act(divide::solve const& a, cargo* /*with*/) {
  jobs_.add(divide_job::kind::solve, a.group, problems_.at(a.group));
  wake_others();
}

void divide_run::act(divide::combine const& a, cargo* /*with*/) {
  jobs_.add_combine(a.group, std::move(solutions_.extract(a.group.left()).mapped()),
                    std::move(solutions_.extract(a.group.right()).mapped()));
  wake_others();
}

void divide_run::act(divide::keep_problem const& a, cargo* with) {
  problems_[a.group] = {nullptr, std::make_shared<transport::packet const>(std::move(*with->packed))};
}

void divide_run::act(divide::keep_solution const& a, cargo* with) {
  std::erase_if(solutions_, [&](auto const& x) { return a.group.contains(x.first); });
  solutions_[a.group] = std::move(*with);
}

void divide_run::act(divide::blame const& a, cargo* /*with*/) {
  if (roll_->stopping()) return;
  auto const text =
      detail::format("the problem of {} was running on each of the lost ranks {}{}", named(a.work.group),
                     detail::join(a.ranks, ", "), a.work.combine ? " (combining)" : "");
  call_roll(&role::roll_call::close, role::outcome{.how = role::outcome::status::task_failed,
                                                   .task = static_cast<std::uint64_t>(a.work.group.first),
                                                   .rank = a.ranks.back(),
                                                   .text = text});
}

// --- messages

transport::packet divide_run::pack(int to, divide_message& m) {
  transport::packet body;
  std::visit(overloaded{[&](divide::problem const& p) { jobs_.pack(problems_.at(p.group), body); },
                        [&](divide::solution const& s) { jobs_.pack(solutions_.at(s.group), body); },
                        [&](call_message const& call) {
                          auto const* const f = std::get_if<role::finish>(&call);
                          bool const done = f != nullptr && f->how.how == role::outcome::status::done;
                          // A rank that was declared dead but lives has missed the end.
                          if (done && kind_.to == placement::everywhere && !member_.reached().has(to))
                            jobs_.pack(solutions_.at(everybody()), body);
                        },
                        [](auto const&) {}},
             m);
  return body;
}

held_solution divide_run::unpack(int /*from*/, divide_message& m, std::span<std::byte const> body,
                                 transport::packet& whole) {
  last_moved_ = now();
  whole.drop_front(whole.size() - body.size());
  if (auto const* const s = std::get_if<divide::solution>(&m);
      s != nullptr && role::is_group(everybody(), s->group) && !s->group.contains(rank_))
    phases_.received(level(s->group) - 1, now());
  if (as_call<role::finish>(m) != nullptr && !body.empty() && !solutions_.contains(everybody())) {
    solutions_[everybody()].packed = std::move(whole);
    return {};
  }
  return {nullptr, std::move(whole)};
}

void divide_run::pack_totals(std::vector<std::byte>& out) {
  bytes::put_varint(out, member_.taken_over());
  phases_.pack(out);
}

void divide_run::add_totals(int /*from*/, std::span<std::byte const>& in) {
  taken_over_ += bytes::get_varint(in);
  phases_.merge(in);
}

// Reports progress to the root, for its watchdog.
void divide_run::on_tick(double t) {
  if (!over_ && std::exchange(calls_told_, calls_) != calls_) {
    last_moved_ = t;
    if (!is_root()) send(root_, call_message(role::hello{call_.hash()}));
  }
  protocol_run::on_tick(t);
}

// --- compute threads

bool divide_run::find_work(unsigned /*thread*/) {
  if (!jobs_.empty()) return true;
  check_quiet();
  return false;
}

void divide_run::wake_others() {
  if (compute_threads_ > 1) engine_.calls().work_arrived().notify_all();
}

void divide_run::check_quiet() {
  if (draining_ && running_ == 0 && !over_) tell(member_, &member::quiet);
}

// Runs one job. The lock is held on entry and exit, but not in between.
void divide_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const j = jobs_.take();
  ++running_;
  lock.unlock();
  divide_job::done d;
  d.begin = now();
  auto const bad = thrown_by([&] { jobs_.run(j, d); });
  d.end = now();
  lock.lock();
  --running_;
  ++calls_;
  auto& clock = measures_[thread];
  clock.busy += d.end - d.begin;
  clock.tasks += j.what == divide_job::kind::solve && !d.halves ? 1 : 0;
  measures_.span(thread, observe::activity::compute, d.begin, d.end,
                 static_cast<std::uint64_t>(j.of->group.first), 1);
  last_moved_ = d.end;
  if (draining_)
    check_quiet();
  else if (bad)
    fail(*bad);
  else if (jobs_.ended(j, d))
    finish(j, d);
}

void divide_run::finish(divide_job const& j, divide_job::done& d) {
  using kind = divide_job::kind;
  using phase = phase_clock::phase;
  auto& p = *j.of;
  int const at = level(p.group);
  if (j.what == kind::divide) {
    problems_[p.group].object = p.problem.object;
    if (!d.halves) return tell(member_, &member::whole, p.group);
    phases_.add(phase::divide, at, d.seconds, d.packed_bytes, std::move(d.sizes));
    phases_.exchange(at, d.pack_seconds, d.packed_bytes);
    problems_.erase(p.group);
    problems_[p.group.left()] = {d.halves->first, nullptr};
    problems_[p.group.right()] = {d.halves->second, std::move(d.right_packed)};
    return tell(member_, &member::divided, p.group);
  }
  if (j.what == kind::combine) {
    phases_.add(phase::combine, at, d.seconds, 0, std::move(d.sizes));
    phases_.exchange(at, d.unpack_seconds, 0);
  } else {
    double const begin = p.begin > 0 ? p.begin : d.begin;
    phases_.add(phase::sequential, at, d.end - begin - d.pack_seconds, 0,
                p.sizes.empty() ? std::move(d.sizes) : std::move(p.sizes));
  }
  if (jobs_.travels(p.group)) {
    phases_.exchange(at - 1, d.pack_seconds, d.packed_bytes);
    phases_.sent(at - 1, now());
    bytes_sent_ = d.packed_bytes;
  }
  ++combined_;
  auto list = empty_list();
  member_.solved(p.group, list);
  perform(list, &d.solution);
}

// --- report and progress

void divide_run::describe(report& r) const {
  r.skeleton = "divide_and_conquer";
  r.schedule = kind_.name;
  r.results = kind_.to == placement::everywhere ? "everywhere"
              : kind_.to == placement::on_root  ? "on_root"
                                                : "in_parts";
  r.tasks = 0;
  for (auto const& row : r.per_rank) r.tasks += row.tasks;
  r.tasks_handed_out_again = taken_over_ + member_.taken_over();
  r.lost_ranks = lost_ranks();
  if (is_root()) r.phases = phases_.phases();
}

void divide_run::describe(observe::progress_state& s, bool last) const {
  int const levels = level({0, 1}) + 1;
  s.done = static_cast<std::uint64_t>(last && end_.outcome() ? levels : std::min(combined_, levels));
  s.total = static_cast<std::uint64_t>(levels);
  s.lost_ranks = static_cast<int>(lost_ranks().size());
}

std::string divide_run::state() const {
  std::string text =
      detail::format("rank {}: divide_and_conquer {} {} (context {}): {} jobs wait, {} run", rank_,
                     kind_.name, entry_.key.number, entry_.key.context, jobs_.size(), running_);
  if (draining_)
    text += ", draining";
  else if (auto const what = member_.waits_for(); !what.empty())
    text += ", waits for " + what;
  return text + waits_to_stop();
}

divide_kind kind_of(any_division const& division, placement from) {
  using kind = any_division::kind;
  divide_kind k{to_string(division), from, placement::on_root};
  if (division.which() == kind::hypercube) k.to = placement::everywhere;
  if (division.which() == kind::distributed) k.to = placement::in_parts;
  if (division.which() == kind::embarrassing && from == placement::on_root)
    throw usage_error(
        "embarrassing: the data must already be on the ranks (replicated_problem or own_part); for a "
        "problem on the root use tree");
  if (division.which() == kind::tree && from == placement::in_parts)
    throw usage_error("tree: a problem in own_parts is already divided; use embarrassing");
  return k;
}

report run_divide_and_conquer(context& ctx, divide_work& work, divide_kind const& kind,
                              divide_and_conquer_options const& options, solution_ptr& mine) {
  divide_run run(ctx, work, kind, options);
  auto r = run.execute();
  if (!r.stopped_early) mine = run.take_solution();
  return r;
}

}  // namespace detail
}  // namespace skel
