#include "run.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

using role::call_message;
using role::divide_message;
using role::rank_span;
namespace act = role::divide_act;
namespace say = role::divide_say;

divide_run::divide_run(context& ctx, divide_work& work, divide_kind const& kind,
                       divide_and_conquer_options const& options)
    : peer_run(ctx, call_options_of(options, kind.name), "divide_and_conquer"), work_(work), kind_(kind) {
  require_count(kind.name, "pieces_per_thread", options.pieces_per_thread);
  if (work.solves_with_threads())
    compute_threads_ = 1;  // solve uses the others; waking them for one job costs more than it gains
  else if (threads_ > 1)
    piece_depth_ =
        static_cast<unsigned>(std::bit_width(threads_ * std::max(1U, options.pieces_per_thread) - 1));
  call_.add("kind", kind.name)
      .add("source", kind.from == placement::everywhere ? "replicated_problem"
                     : kind.from == placement::on_root  ? "on_root"
                                                        : "own_part")
      .add_types("types", work.types())
      .add_types("job", work.function());
  if (auto const contents = ctx.size() > 1 ? work.contents(engine_.options().check_inputs) : std::nullopt)
    call_.add_hidden("contents of the replicated_problem", *contents);
  auto const hash = call_.hash();
  role::divide_config const config{rank_, ctx.size(), kind.from, kind.to, hash};
  role_ = role::divide_member(config);
  if (is_root()) root_role_ = role::divide_root(config, options.max_losses_per_task);
  if (is_root()) roll_.emplace(all_ranks(), hash);
}

divide_run::~divide_run() = default;

void divide_run::begin(std::unique_lock<std::mutex>& lock) {
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
  if (bad) {
    end_source(*bad);
    return;
  }
  role::divide_actions list;
  role_.begin(list);
  perform(list);
}

// The root could not obtain its problem: no rank begins.
void divide_run::end_source(std::string const& text) {
  if (is_root())
    call_roll(&role::roll_call::source_failed, text);
  else
    fail(text);
}

solution_ptr divide_run::take_solution() {
  solution_ptr mine;
  for (auto& [group, s] : solutions_) {
    bool const whole = kind_.to == placement::in_parts
                           ? group.first == rank_
                           : group == everybody() && (is_root() || kind_.to == placement::everywhere);
    if (whole) mine = open_solution(s);
  }
  solutions_.clear();
  return mine;
}

// --- actions

void divide_run::perform(role::divide_actions& list, bytes* payload, done* result) {
  for (auto& action : std::exchange(list, {})) {
    if (auto* const message = std::get_if<act::send>(&action)) {
      send(message->to, std::move(message->what));
    } else if (auto const* d = std::get_if<act::divide>(&action)) {
      add_job(job::kind::divide, d->group);
    } else if (auto const* so = std::get_if<act::solve>(&action)) {
      add_job(job::kind::solve, so->group);
    } else if (auto const* c = std::get_if<act::combine>(&action)) {
      add_job(job::kind::combine, c->group);
    } else if (auto const* kp = std::get_if<act::keep_problem>(&action)) {
      problems_[kp->group] = {nullptr, std::make_shared<bytes const>(std::move(*payload))};
    } else if (auto const* ks = std::get_if<act::keep_solution>(&action)) {
      std::erase_if(solutions_, [&](auto const& x) { return ks->group.contains(x.first); });
      auto& s = solutions_[ks->group];
      if (result != nullptr)
        s = std::move(result->solution);
      else
        s.packed = std::move(*payload);
    } else if (std::holds_alternative<act::complete>(action)) {
      call_roll(&role::roll_call::done, static_cast<std::uint64_t>(ctx_.size()));
    } else if (auto const* b = std::get_if<act::blame>(&action)) {
      blame(*b);
    } else if (std::holds_alternative<role::drain>(action)) {
      draining_ = true;
      jobs_.clear();
    } else {
      perform_common(action);
    }
  }
  deliver_own();
}

void divide_run::blame(act::blame const& b) {
  if (roll_->stopping()) return;
  call_roll(
      &role::roll_call::blame_work, static_cast<std::uint64_t>(b.work.group.first), b.ranks.back(),
      detail::format("the problem of {} was running on each of the lost ranks {}{}", named(b.work.group),
                     detail::join(b.ranks, ", "), b.work.combine ? " (combining)" : ""));
}

void divide_run::send(int to, divide_message m) {
  if (to == rank_) {
    to_self_.push(std::move(m));
    return;
  }
  double const begin = span_begin();
  bytes body;
  if (auto const bad = thrown_by([&] { attach(m, to, body); })) {
    fail(*bad);
    return;
  }
  post(to, m, std::move(body), begin);
}

void divide_run::attach(divide_message const& m, int to, bytes& body) {
  if (auto const* const call = std::get_if<call_message>(&m))
    attach_to_call(*call, to, body);
  else if (auto const* const p = std::get_if<say::problem>(&m))
    append(problems_.at(p->group), body);
  else if (auto const* const s = std::get_if<say::solution>(&m))
    append(solutions_.at(s->group), body);
}

void divide_run::attach_to_call(call_message const& m, int to, bytes& body) {
  if (auto const* const f = std::get_if<role::finish>(&m)) {
    // A rank that was declared dead but lives has missed the end.
    if (kind_.to == placement::everywhere && f->how.how == role::outcome::status::done &&
        !role_.reached().has(to))
      append(solutions_.at(everybody()), body);
  } else if (std::holds_alternative<role::stopped>(m)) {
    skel::bytes::put_varint(body.body(), role_.taken_over());
    phases_.pack(body.body());
    pack_stats(own_stats(), body.body());
  }
}

namespace {
void append_bytes(transport::packet const& more, transport::packet& body) {
  auto const b = more.bytes();
  body.body().insert(body.body().end(), b.begin(), b.end());
}
}  // namespace

// Usually already packed. Packs here only after a loss, when the problem was not expected to
// travel.
void divide_run::append(held_problem const& p, bytes& body) const {
  if (p.packed)
    append_bytes(*p.packed, body);
  else
    work_.pack(*p.object, body.body());
}

void divide_run::append(held_solution& s, bytes& body) const {
  if (s.packed && s.object)
    body = std::move(*std::exchange(s.packed, std::nullopt));
  else if (s.packed)
    append_bytes(*s.packed, body);
  else
    work_.pack(*s.object, body.body());
}

// The user's code threw: the run fails as if the latest task had thrown.
void divide_run::fail(std::string text) {
  role::divide_actions list;
  role_.failed(calls_, std::move(text), list);
  perform(list);
}

// --- messages

void divide_run::deliver_own() {
  to_self_.deliver([&](divide_message const& m) { deliver(rank_, m, nullptr); });
}

// The roll call, the root and the member each handle their part.
void divide_run::deliver(int from, divide_message const& m, bytes* payload) {
  if (auto const* const call = std::get_if<call_message>(&m); call != nullptr && is_root()) {
    call_roll(&role::roll_call::on, from, *call);
    if (for_roll_call(*call)) return;
  }
  role::divide_actions list;
  bool const answered = is_root() && root_role_.on(from, m, list);
  if (!list.empty()) perform(list);
  if (answered) return;
  role_.on(from, m, list);
  perform(list, payload);
}

void divide_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (over_) return;
  last_moved_ = now();
  auto const m = role::decode<divide_message>(body);
  if (another_call(from, m)) return;
  auto const* const call = std::get_if<call_message>(&m);
  if (is_root() && call != nullptr && std::holds_alternative<role::stopped>(*call)) {
    taken_over_ += skel::bytes::get_varint(body);
    phases_.merge(body);
    add_stats(unpack_stats(from, body));
  }
  whole.drop_front(whole.size() - body.size());
  if (auto const* const s = std::get_if<say::solution>(&m);
      s != nullptr && role::is_group(everybody(), s->group) && !s->group.contains(rank_))
    phases_.received(level(s->group) - 1, now());
  if (call != nullptr && std::holds_alternative<role::finish>(*call) && !body.empty() &&
      !solutions_.contains(everybody()))
    solutions_[everybody()].packed = std::move(whole);
  deliver(from, m, &whole);
}

void divide_run::on_lost(int rank) {
  if (over_) return;
  if (roll_) call_roll(&role::roll_call::lost, rank);
  role::divide_actions list;
  role_.lost(rank, list);
  if (is_root()) root_role_.lost(rank, list);
  perform(list);
}

void divide_run::on_tick(double t) {
  if (over_) return;
  role::divide_actions list;
  role_.tick(list);
  if (is_root()) root_role_.tick(list);
  perform(list);
  // Reports progress to the root, for its watchdog.
  if (calls_ != calls_told_) {
    calls_told_ = calls_;
    last_moved_ = t;
    if (!is_root()) send_call(root_, role::hello{call_.hash()});
  }
  after_tick(t);
}

void divide_run::please_stop() {
  role::divide_actions list;
  role_.please_stop(list);
  perform(list);
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
  r.tasks_handed_out_again = taken_over_ + role_.taken_over();
  r.lost_ranks = lost_ranks();
  if (is_root()) r.phases = phases_.phases();
}

void divide_run::describe(observe::progress_state& s, bool last) const {
  int const levels = level({0, 1}) + 1;
  s.done = static_cast<std::uint64_t>(last && outcome_ ? levels : std::min(combined_, levels));
  s.total = static_cast<std::uint64_t>(levels);
  s.lost_ranks = static_cast<int>(lost_ranks().size());
}

std::string divide_run::state() const {
  std::string text = detail::format("rank {}: divide_and_conquer {} {} (context {}): {} jobs wait, {} run",
                                    rank_, kind_.name, key_.number, key_.context, jobs_.size(), running_);
  if (role_.draining())
    text += ", draining";
  else if (auto const what = role_.waits_for(); !what.empty())
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

}  // namespace skel::detail
