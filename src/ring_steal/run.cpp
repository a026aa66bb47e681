#include "run.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

using role::call_message;
using role::steal_message;
namespace steal = role::steal;

namespace {

constexpr double shortest_backoff = 100e-6;

template <class... Kinds>
struct any_of {
  template <class T>
  bool operator()(T const& /*m*/) const {
    return (std::is_same_v<T, Kinds> || ...);
  }
  bool operator()(call_message const& m) const { return std::visit(*this, m); }
};

bool moves_the_run(steal_message const& m) {
  return std::visit(any_of<steal::loan, steal::paid, steal::worth, steal::returned, steal::progress,
                           role::stopped, role::finish>{},
                    m);
}
bool is_of_a_debt(steal_message const& m) {
  return std::visit(any_of<steal::loan, steal::paid, steal::worth, steal::returned>{}, m);
}

// Returns the message as kind T of those common to all skeletons, or null if it is of another kind.
template <class T>
T const* call_part(steal_message const& m) {
  auto const* const call = std::get_if<call_message>(&m);
  return call == nullptr ? nullptr : std::get_if<T>(call);
}

bool has_result(role::outcome const& o) {
  return o.how == role::outcome::status::done || o.how == role::outcome::status::stopped_early;
}

}  // namespace

steal_run::steal_run(context& ctx, steal_work& work, schedule::stealing const& how,
                     ring_steal_options const& options, merged_result& total)
    : peer_run(ctx, call_options_of(options, "ring_steal"), "ring_steal"),
      work_(work),
      how_(how),
      options_(options),
      total_(total),
      state_(threads_),
      backoff_(shortest_backoff),
      bound_(work.bound()),
      tasks_heard_(ctx.is_root() ? static_cast<std::size_t>(ctx.size()) : 0) {
  // A thief's answer takes about 80 microseconds, when the victim looks between two slices. A sleep takes
  // longer.
  spin_seconds_ = 200e-6;
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
  if (auto const contents = ctx.size() > 1 ? work.contents(engine_.options().check_inputs) : std::nullopt)
    call_.add_hidden("contents of the task list", *contents);
  c.call_hash = call_.hash();
  role_ = role::steal_member(c);
  for (auto& t : state_) t.bag = work_.make_bag();
  if (is_root()) roll_.emplace(all_ranks(), c.call_hash);
  if (is_root() && c.records) open_store();
}

steal_run::~steal_run() = default;

void steal_run::begin(std::unique_lock<std::mutex>& lock) {
  std::optional<std::string> bad;
  if (is_root() && debts_.empty()) {  // otherwise an earlier run has left what there is to do
    auto source = work_.make_bag();
    lock.unlock();
    bad = thrown_by([&] { work_.open_source(*source); });
    lock.lock();
    open_debt(0).waiting = std::move(source);
  }
  role::steal_actions list;
  role_.begin(list);
  perform(list);
  if (bad) call_roll(&role::roll_call::source_failed, *bad);
}

// --- actions

steal_run::debt& steal_run::open_debt(debt_id id) {
  auto& d = debts_[id];
  d.waiting = work_.make_bag();
  d.sum = work_.make_result();
  return d;
}

void steal_run::perform(role::steal_actions& list, std::span<std::byte const> payload) {
  auto todo = std::exchange(list, {});
  for (auto& action : todo) perform_one(action, payload);
  wanted_.store(!role_.thieves().empty(), std::memory_order_relaxed);
  deliver_own();
}

void steal_run::perform_one(role::steal_action& action, std::span<std::byte const> payload) {
  if (auto const* s = std::get_if<steal::send>(&action)) {
    dispatch(s->to, s->what, s->debt);
  } else if (auto const* a = std::get_if<steal::accept>(&action)) {
    accept(a->debt, payload);
  } else if (auto const* w = std::get_if<steal::work>(&action)) {
    if (auto const d = debts_.find(w->debt); d != debts_.end())
      d->second.state_at = now() + suspects_interval;
    if (threads_ > 1) engine_.calls().work_arrived().notify_all();
  } else if (auto const* apart = std::get_if<steal::set_apart>(&action)) {
    set_apart(apart->loan, apart->debt);
  } else if (auto const* again = std::get_if<steal::lend_again>(&action)) {
    lend_again(*again);
  } else if (auto const* p = std::get_if<steal::settle>(&action)) {
    lent_.erase(p->loan);
    settle(p->debt, payload);
  } else if (auto const* t = std::get_if<steal::take_back>(&action)) {
    auto const l = lent_.extract(t->loan);
    if (l.empty()) return;  // the run has failed meanwhile
    auto& d = debts_.at(t->debt);
    d.changed = true;
    if (auto const bad = thrown_by([&] { add(d, l.mapped().worth); })) fail_task(*bad);
  } else if (auto const* r = std::get_if<steal::restate>(&action)) {
    lent_.at(r->loan).worth = decode_statement(payload);
    debts_.at(r->debt).changed = true;
  } else if (std::holds_alternative<steal::record>(action)) {
    record();
  } else if (auto const* f = std::get_if<steal::forget>(&action)) {
    lent_.erase(f->loan);
  } else if (auto const* d = std::get_if<steal::drop>(&action)) {
    debts_.erase(d->debt);
  } else if (std::holds_alternative<steal::complete>(action)) {
    complete();
  } else if (auto const* drained = std::get_if<role::drain>(&action)) {
    draining_ = true;
    if (drained->early) return;
    debts_.clear();
    lent_.clear();
  } else {
    perform_common(action);
  }
}

void steal_run::accept(debt_id id, std::span<std::byte const> payload) {
  auto& waiting = *open_debt(id).waiting;
  auto const bad = thrown_by([&] {
    for (auto n = bytes::get_varint(payload); n > 0; --n) work_.unpack_bag(payload, waiting);
  });
  if (bad) fail_task(*bad);
  backoff_ = shortest_backoff;
}

// Its result so far is the debt's, its tasks wait for another borrower.
void steal_run::set_apart(loan_id number, debt_id of) {
  auto const at = lent_.find(number);
  if (at == lent_.end()) return;  // the run has failed meanwhile
  auto& worth = at->second.worth;
  auto& d = debts_.at(of);
  if (auto const bad = thrown_by([&] { add_sum(*d.sum, worth); })) return fail_task(*bad);
  d.changed = true;
  d.tasks += std::exchange(worth.tasks, 0);
  worth.sum.clear();
  role::steal_actions list;
  if (auto const bad = thrown_by([&] { cut(number, list); })) return fail_task(*bad);
  perform(list);
}

void steal_run::cut(loan_id number, role::steal_actions& list) {
  auto& l = lent_.at(number);
  auto const all = work_.make_bag();
  std::span<std::byte const> packed = l.worth.waiting;
  for (; l.worth.bags > 0; --l.worth.bags) work_.unpack_bag(packed, *all);
  auto const tasks = all->size();
  auto const pieces = role_.cut(number, tasks, list);
  for (std::uint64_t i = 0; i < pieces.count; ++i) {
    auto const piece = work_.make_bag();
    work_.move_oldest(*all, tasks * (i + 1) / pieces.count - tasks * i / pieces.count, *piece);
    auto& to = i == 0 ? l : lent_[pieces.others + i - 1];
    to = {l.of, {.bags = 1}};
    work_.pack_bag(*piece, to.worth.waiting);
  }
}

void steal_run::lend_again(steal::lend_again const& what) {
  auto l = lent_.extract(what.parcel);
  if (l.empty()) return;  // the run has failed meanwhile
  double const begin = span_begin();
  transport::packet body;
  auto& out = body.body();
  auto const& worth = l.mapped().worth;
  bytes::put_varint(out, worth.bags);
  out.insert(out.end(), worth.waiting.begin(), worth.waiting.end());
  l.key() = what.what.number;
  lent_.insert(std::move(l));
  post(what.to, steal_message(what.what), std::move(body), begin);
}

// Code of the user's threw: the run fails as if the latest task had.
void steal_run::fail_task(std::string text) {
  role::steal_actions list;
  role_.failed(tasks_run(), std::move(text), list);
  perform(list);
}

// The front of what waits, half of it or one task: the oldest tasks are the roots of the largest subtrees.
void steal_run::pack_loan(loan_id number, debt_id of, std::vector<std::byte>& out) {
  auto& waiting = *debts_.at(of).waiting;
  auto const given = work_.make_bag();
  auto const n = how_.take == schedule::steal_size::one ? 1 : std::max<std::size_t>(1, waiting.size() / 2);
  work_.move_oldest(waiting, n, *given);
  bytes::put_varint(out, 1);
  auto const begin = static_cast<std::ptrdiff_t>(out.size());
  work_.pack_bag(*given, out);
  lent_[number] = {of, {.bags = 1, .waiting = {out.begin() + begin, out.end()}}};
}

void steal_run::dispatch(int to, steal_message const& m, debt_id of) {
  if (to == rank_) {
    to_self_.push(m);
    return;
  }
  if (is_of_a_debt(m) && !debts_.contains(of)) return;  // the run has failed meanwhile
  double const begin = span_begin();
  transport::packet body;
  if (attach(m, of, body.body())) post(to, m, std::move(body), begin);
}

// False: code of the user's threw, and the run fails.
bool steal_run::attach(steal_message const& m, debt_id of, std::vector<std::byte>& out) {
  auto const bad = thrown_by([&] {
    if (auto const* l = std::get_if<steal::loan>(&m)) {
      pack_loan(l->number, of, out);
    } else if (std::holds_alternative<steal::paid>(m)) {
      auto const d = debts_.extract(of);
      bytes::put_varint(out, d.mapped().tasks);
      work_.pack_result(*d.mapped().sum, out);
    } else if (std::holds_alternative<steal::worth>(m)) {
      encode(statement_of(of), out);
    } else if (std::holds_alternative<steal::returned>(m)) {
      encode(statement_of(of), out);
      debts_.erase(of);
    } else if (auto const* f = call_part<role::finish>(m)) {
      if (has_result(f->how)) work_.pack_result(total_, out);
    } else if (call_part<role::stopped>(m) != nullptr) {
      bytes::put_varint(out, role_.search().steals());
      bytes::put_varint(out, role_.loans().taken_back());
      pack_stats(own_stats(), out);
    }
  });
  if (bad) fail_task(*bad);
  return !bad;
}

// A result of a loan comes back into the debt it was part of.
void steal_run::settle(debt_id id, std::span<std::byte const> payload) {
  auto const d = debts_.find(id);
  if (d == debts_.end()) return;  // a draining rank
  auto const bad = thrown_by([&] {
    d->second.changed = true;
    d->second.tasks += bytes::get_varint(payload);
    auto const part = work_.make_result();
    work_.unpack_result(payload, *part);
    work_.merge(*d->second.sum, *part);
  });
  if (bad) fail_task(*bad);
}

// Debt 0 ends: its result is the run's.
void steal_run::complete() {
  if (!debts_.contains(0)) return;  // the run has failed meanwhile
  std::uint64_t tasks = 0;
  auto const bad = thrown_by([&] {
    gather(0);
    auto const d = debts_.extract(0);
    tasks = d.mapped().tasks;
    work_.merge(total_, *d.mapped().sum);
  });
  if (bad) {
    fail_task(*bad);
    return;
  }
  call_roll(&role::roll_call::done, tasks);
}

// --- messages

void steal_run::deliver_own() {
  to_self_.deliver([&](steal_message const& m) { deliver(rank_, m, {}); });
}

void steal_run::deliver(int from, steal_message const& m, std::span<std::byte const> payload) {
  if (moves_the_run(m)) last_moved_ = now();
  if (auto const* call = std::get_if<call_message>(&m); call != nullptr && is_root()) {
    call_roll(&role::roll_call::on, from, *call);
    if (for_roll_call(*call)) return;
  }
  role::steal_actions list;
  role_.on(from, m, list);
  if (trace_ &&
      std::ranges::any_of(list, [](auto const& a) { return std::holds_alternative<steal::accept>(a); }))
    span(threads_, observe::activity::steal, now(), now(), static_cast<std::uint64_t>(from), payload.size());
  perform(list, payload);
}

void steal_run::receive(int from, std::span<std::byte const> body, transport::packet&) {
  if (over_) return;
  auto const m = role::decode<steal_message>(body);
  if (another_call(from, m)) return;
  if (is_root() && call_part<role::stopped>(m) != nullptr) {
    steals_ += bytes::get_varint(body);
    taken_back_ += bytes::get_varint(body);
    add_stats(unpack_stats(from, body));
  } else if (auto const* p = std::get_if<steal::progress>(&m); p != nullptr && is_root()) {
    tasks_heard_[static_cast<std::size_t>(from)] = p->tasks;
    call_roll(&role::roll_call::on, from, role::hello{call_.hash()});  // it takes part
  } else if (auto const* f = call_part<role::finish>(m); f != nullptr && has_result(f->how)) {
    if (auto const bad = thrown_by([&] { work_.unpack_result(body, total_); }))
      throw protocol_error("the result cannot be read: " + *bad);
  }
  deliver(from, m, body);
  share_bound();
  serve();
  check_dry();
}

void steal_run::on_lost(int rank) {
  if (over_) return;
  if (roll_) call_roll(&role::roll_call::lost, rank);
  role::steal_actions list;
  role_.lost(rank, list);
  perform(list);
}

void steal_run::please_stop() {
  role::steal_actions list;
  role_.please_stop(list);
  perform(list);
}

void steal_run::on_tick(double t) {
  if (over_) return;
  role::steal_actions list;
  role_.tick(list);
  perform(list);
  share_bound();
  // The root hears that this rank moves: for its watchdog, and to show progress.
  if (auto const n = tasks_run(); n != tasks_told_) {
    tasks_told_ = n;
    last_moved_ = t;
    if (!is_root()) dispatch(root_, steal::progress{n});
  }
  state_if_due();  // also while no thread comes by
  if (role_.debts().has_met_suspects()) state_suspects();
  after_tick(t);
}

report run_ring_steal(context& ctx, steal_work& work, schedule::stealing const& how,
                      ring_steal_options const& options, merged_result& total) {
  steal_run run(ctx, work, how, options, total);
  report r;
  try {
    r = run.execute();
  } catch (...) {
    run.save_last();
    throw;
  }
  run.save_last();
  r.checkpoint = run.checkpoint_costs();
  return r;
}

}  // namespace skel::detail
