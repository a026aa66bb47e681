#include "run.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "engine/context_access.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

using role::group_of;
using role::peer_message;
using role::peer_message_kind;
using role::rank_span;
namespace part = role::divide_act;

namespace {

role::problem_place place_of_problem(placement p) {
  return p == placement::everywhere ? role::problem_place::everywhere
         : p == placement::on_root  ? role::problem_place::root
                                    : role::problem_place::parts;
}

role::solution_place place_of_solution(placement p) {
  return p == placement::everywhere ? role::solution_place::everywhere
         : p == placement::on_root  ? role::solution_place::root
                                    : role::solution_place::parts;
}

}  // namespace

divide_run::divide_run(context& ctx, divide_work& work, divide_kind const& kind,
                       divide_and_conquer_options const& options)
    : peer_run(ctx, call_options_of(options, kind.name), "divide_and_conquer"), work_(work), kind_(kind) {
  require_count(kind.name, "pieces_per_thread", options.pieces_per_thread);
  if (threads_ > 1 && !work.solves_with_threads())
    piece_depth_ =
        static_cast<unsigned>(std::bit_width(threads_ * std::max(1U, options.pieces_per_thread) - 1));
  call_.add("kind", kind.name)
      .add("source", kind.from == placement::everywhere ? "replicated_problem"
                     : kind.from == placement::on_root  ? "on_root"
                                                        : "own_part")
      .add_types("types", work.types())
      .add_types("job", work.function());
  if (auto const contents = ctx.size() > 1 ? work.contents(options.check_problem) : std::nullopt)
    call_.add_hidden("contents of the replicated_problem", *contents);
  auto const hash = call_.hash();
  role_ = role::partner({rank_, ctx.size(), place_of_problem(kind.from), place_of_solution(kind.to), hash});
  if (is_root()) roll_.emplace(context_access::team(ctx), hash);
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

// The root's problem could not be had: nobody begins.
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
    if (auto* const message = std::get_if<part::send>(&action)) {
      send(message->to, std::move(message->what));
    } else if (auto const* d = std::get_if<part::divide>(&action)) {
      add_job(job::kind::divide, d->group);
    } else if (auto const* so = std::get_if<part::solve>(&action)) {
      add_job(job::kind::solve, so->group);
    } else if (auto const* c = std::get_if<part::combine>(&action)) {
      add_job(job::kind::combine, c->group);
    } else if (auto const* kp = std::get_if<part::keep_problem>(&action)) {
      problems_[kp->group] = {nullptr, std::make_shared<bytes const>(std::move(*payload))};
    } else if (auto const* ks = std::get_if<part::keep_solution>(&action)) {
      std::erase_if(solutions_, [&](auto const& x) { return ks->group.contains(x.first); });
      auto& s = solutions_[ks->group];
      if (result != nullptr)
        s = std::move(result->solution);
      else
        s.packed = std::move(*payload);
    } else if (std::holds_alternative<part::complete>(action)) {
      call_roll(&role::roll_call::done, static_cast<std::uint64_t>(ctx_.size()));
    } else if (std::holds_alternative<part::drain>(action)) {
      draining_ = true;
      jobs_.clear();
    } else if (auto const* e = std::get_if<role::end>(&action)) {
      end_with(e->how);
    } else if (auto const* failure = std::get_if<role::fail>(&action)) {
      fail_with(*failure);
    }
  }
  deliver_own();
}

void divide_run::send(int to, peer_message m) {
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

// Problems and solutions are packed here only when nobody foresaw that they would travel: after a loss.
void divide_run::attach(peer_message const& m, int to, bytes& body) {
  auto const append = [&](bytes const& more) {
    auto const b = more.bytes();
    body.body().insert(body.body().end(), b.begin(), b.end());
  };
  auto const add_solution = [&](held_solution& s) {
    if (s.packed && s.object)
      body = std::move(*std::exchange(s.packed, std::nullopt));
    else if (s.packed)
      append(*s.packed);
    else
      work_.pack(*s.object, body.body());
  };
  if (m.kind == peer_message_kind::problem) {
    auto& p = problems_.at(group_of(m));
    if (p.packed)
      append(*p.packed);
    else
      work_.pack(*p.object, body.body());
  } else if (m.kind == peer_message_kind::solution) {
    add_solution(solutions_.at(group_of(m)));
  } else if (m.kind == peer_message_kind::finish) {
    // One that was taken for lost, and lives, has missed its end.
    if (kind_.to == placement::everywhere && m.result->how == role::outcome::status::done &&
        !role_.has_reached(to))
      add_solution(solutions_.at(everybody()));
  } else if (m.kind == peer_message_kind::stopped) {
    skel::bytes::put_varint(body.body(), role_.taken_over());
    phases_.pack(body.body());
    pack_stats(own_stats(), body.body());
  }
}

// Code of the user's threw: the run fails as if the latest task had.
void divide_run::fail(std::string text) {
  role::divide_actions list;
  role_.failed(calls_, std::move(text), list);
  perform(list);
}

// --- messages

void divide_run::deliver_own() {
  to_self_.deliver([&](peer_message const& m) { deliver(rank_, m, nullptr); });
}

void divide_run::deliver(int from, peer_message const& m, bytes* payload) {
  if (is_root()) {
    call_roll(&role::roll_call::on_peer, from, m);
    if (for_roll_call(m.kind)) return;
  }
  role::divide_actions list;
  role_.on(from, m, list);
  perform(list, payload);
}

void divide_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (over_) return;
  last_moved_ = now();
  auto const m = role::decode_peer_message(body);
  if (is_root() && m.kind == peer_message_kind::hello && of_another_call(from, m.number)) return;
  if (is_root() && m.kind == peer_message_kind::stopped) {
    taken_over_ += skel::bytes::get_varint(body);
    phases_.merge(body);
    add_stats(unpack_stats(from, body));
  }
  whole.drop_front(whole.size() - body.size());
  if (m.kind == peer_message_kind::solution && role::is_group(everybody(), group_of(m)) &&
      !group_of(m).contains(rank_))
    phases_.received(level(group_of(m)) - 1, now());
  if (m.kind == peer_message_kind::finish && !body.empty() && !solutions_.contains(everybody()))
    solutions_[everybody()].packed = std::move(whole);
  deliver(from, m, &whole);
}

void divide_run::on_lost(int rank) {
  if (over_) return;
  if (roll_) call_roll(&role::roll_call::lost, rank);
  role::divide_actions list;
  role_.lost(rank, list);
  perform(list);
}

void divide_run::on_tick(double t) {
  if (over_) return;
  role::divide_actions list;
  role_.tick(list);
  perform(list);
  // The root hears that this rank moves: for its watchdog.
  if (calls_ != calls_told_) {
    calls_told_ = calls_;
    last_moved_ = t;
    if (!is_root()) send(root_, {.kind = peer_message_kind::hello, .number = role_.call_hash()});
  }
  after_tick(t);
}

void divide_run::please_stop() {
  role::divide_actions list;
  role_.please_stop(list);
  perform(list);
}

// --- what it says of itself

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
        "embarrassing: the data must be on the ranks already (replicated_problem or own_part); for a problem "
        "that is on the root use tree");
  if (division.which() == kind::tree && from == placement::in_parts)
    throw usage_error("tree: there is nothing to divide where each rank has its own_part; use embarrassing");
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
