#include "steal_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "skel/detail/farm_work.hpp"
#include "skel/error.hpp"
#include "skel/protocol/bytes.hpp"

namespace skel::detail {

using protocol::loan_message;
using protocol::loan_message_kind;
namespace act = protocol::loan_action;

namespace {

constexpr double shortest_backoff = 100e-6;

bool for_roll_call(loan_message_kind kind) {
  return kind == loan_message_kind::hello || kind == loan_message_kind::failed ||
         kind == loan_message_kind::please_stop || kind == loan_message_kind::stopped;
}

bool moves_the_run(loan_message_kind kind) {
  return kind == loan_message_kind::loan || kind == loan_message_kind::paid ||
         kind == loan_message_kind::stopped || kind == loan_message_kind::finish;
}

// Calls code of the user's, and says what it threw.
template <class F>
std::optional<std::string> thrown_by(F&& f) {
  try {
    f();
    return std::nullopt;
  } catch (std::exception const& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

steal_run::steal_run(context& ctx, steal_work& work, ring_steal_options const& options, merged_result& total)
    : ctx_(ctx),
      engine_(ctx.engine()),
      work_(work),
      options_(options),
      total_(total),
      rank_(ctx.rank()),
      threads_(static_cast<unsigned>(ctx.threads())),
      start_(engine_.now()),
      state_(threads_),
      backoff_(shortest_backoff),
      tasks_heard_(static_cast<std::size_t>(ctx.size())),
      last_moved_(start_) {
  key_ = {ctx.id(), ctx.next_run()};
  protocol::stealer_config c;
  c.self = rank_;
  c.root = root_;
  c.ranks = ctx.team();
  c.order = options_.order;
  c.call_hash = hash_text(fmt::format("ring_steal|{}|{}|{}", static_cast<int>(options_.take),
                                      static_cast<int>(options_.order), work.type_hash()));
  role_ = protocol::stealer(c);
  for (auto& t : state_) t.bag = work_.make_bag();
  auto const mode = engine_.options().progress;
  if (is_root()) {
    roll_.emplace(c);
    if (mode != observe::progress_mode::never)
      display_ = std::make_unique<observe::progress_display>(
          options_.label.empty() ? "ring_steal" : options_.label, mode);
  }
  if (engine_.options().trace) trace_ = std::make_unique<observe::trace_buffer>();
}

steal_run::~steal_run() = default;

// --- actions

steal_run::debt& steal_run::open_debt(debt_id id) {
  auto& d = debts_[id];
  d.waiting = work_.make_bag();
  d.sum = work_.make_result();
  return d;
}

void steal_run::perform(protocol::steal_actions& list, std::span<std::byte const> payload) {
  auto todo = std::exchange(list, {});
  for (auto& action : todo) perform_one(action, payload);
  wanted_.store(role_.wanted(), std::memory_order_relaxed);
  deliver_own();
}

void steal_run::perform_one(protocol::steal_action& action, std::span<std::byte const> payload) {
  if (auto* const s = std::get_if<act::send>(&action)) {
    send(*s);
  } else if (auto const* a = std::get_if<act::accept>(&action)) {
    auto& waiting = *open_debt(a->debt).waiting;
    if (auto const bad = thrown_by([&] { work_.unpack_bag(payload, waiting); })) fail_task(*bad);
    backoff_ = shortest_backoff;
  } else if (std::holds_alternative<act::work>(action)) {
    if (threads_ > 1) engine_.work_arrived().notify_all();
  } else if (auto const* p = std::get_if<act::settle>(&action)) {
    lent_.erase(p->loan);
    settle(p->debt, payload);
  } else if (auto const* t = std::get_if<act::take_back>(&action)) {
    auto const tasks = lent_.extract(t->loan);
    std::span<std::byte const> bytes(tasks.mapped());
    if (auto const bad = thrown_by([&] { work_.unpack_bag(bytes, *debts_.at(t->debt).waiting); }))
      fail_task(*bad);
  } else if (auto const* f = std::get_if<act::forget>(&action)) {
    lent_.erase(f->loan);
  } else if (auto const* d = std::get_if<act::drop>(&action)) {
    debts_.erase(d->debt);
  } else if (std::holds_alternative<act::complete>(action)) {
    complete();
  } else if (std::holds_alternative<act::drain>(action)) {
    draining_ = true;
    debts_.clear();
    lent_.clear();
  } else if (auto const* end = std::get_if<protocol::end>(&action)) {
    outcome_ = end->how;
    over_ = true;
    engine_.work_arrived().notify_all();
  } else if (auto const* failure = std::get_if<protocol::fail>(&action)) {
    if (failure->why == protocol::fail::reason::lost_root)
      give_up(std::make_exception_ptr(lost_rank_error(root_, fmt::format("lost the root (rank {})", root_))));
    else
      give_up(std::make_exception_ptr(protocol_error(failure->text)));
  }
}

void steal_run::give_up(std::exception_ptr error) {
  if (!error_) error_ = std::move(error);
  over_ = true;
  draining_ = true;
  engine_.work_arrived().notify_all();
}

// Code of the user's threw: the run fails as if the latest task had.
void steal_run::fail_task(std::string text) {
  protocol::steal_actions list;
  role_.failed(own_tasks(), std::move(text), list);
  perform(list);
}

// The front of what waits, half of it or one task: the oldest tasks are the roots of the largest subtrees.
void steal_run::pack_loan(loan_id number, debt_id of, std::vector<std::byte>& out) {
  auto& waiting = *debts_.at(of).waiting;
  auto const given = work_.make_bag();
  auto const n = options_.take == steal_size::one ? 1 : std::max<std::size_t>(1, waiting.size() / 2);
  work_.move_oldest(waiting, n, *given);
  auto const begin = static_cast<std::ptrdiff_t>(out.size());
  work_.pack_bag(*given, out);
  lent_[number].assign(out.begin() + begin, out.end());
}

void steal_run::send(act::send& s) {
  auto& m = s.what;
  if (s.to == rank_) {
    to_self_.push_back(std::move(m));
    return;
  }
  if (draining_ && (m.kind == loan_message_kind::loan || m.kind == loan_message_kind::paid)) return;
  double const begin = trace_ ? now() : 0;
  transport::packet body;
  auto& out = body.body();
  auto const bad = thrown_by([&] {
    if (m.kind == loan_message_kind::loan) {
      pack_loan(m.number, s.debt, out);
    } else if (m.kind == loan_message_kind::paid) {
      auto const d = debts_.extract(s.debt);
      protocol::put_varint(out, d.mapped().tasks);
      work_.pack_result(*d.mapped().sum, out);
    } else if (m.kind == loan_message_kind::finish) {
      if (m.result->how == protocol::outcome::status::done) work_.pack_result(total_, out);
    } else if (m.kind == loan_message_kind::stopped) {
      protocol::put_varint(out, role_.steals());
      protocol::put_varint(out, role_.taken_back());
      pack_stats(own_stats(), out);
    }
  });
  if (bad) {
    fail_task(*bad);
    return;
  }
  std::vector<std::byte> head;
  head.reserve(64);
  protocol::encode(m, head);
  body.prepend(head);
  auto const size = body.size();
  engine_.send(s.to, key_, std::move(body));
  if (trace_) span(threads_, observe::activity::send, begin, now(), size);
}

// A result of a loan comes back into the debt it was part of.
void steal_run::settle(debt_id id, std::span<std::byte const> payload) {
  auto const d = debts_.find(id);
  if (d == debts_.end()) return;  // a draining rank
  auto const bad = thrown_by([&] {
    d->second.tasks += protocol::get_varint(payload);
    auto const part = work_.make_result();
    work_.unpack_result(payload, *part);
    work_.merge(*d->second.sum, *part);
  });
  if (bad) fail_task(*bad);
}

// Debt 0 is paid: its result is the run's.
void steal_run::complete() {
  auto const d = debts_.extract(0);
  if (d.empty()) return;
  counted_ = d.mapped().tasks;
  if (auto const bad = thrown_by([&] { work_.merge(total_, *d.mapped().sum); })) {
    fail_task(*bad);
    return;
  }
  protocol::steal_actions list;
  roll_->done(counted_, list);
  perform(list);
}

// --- messages

void steal_run::deliver_own() {
  if (std::exchange(delivering_, true)) return;
  while (!to_self_.empty()) {
    auto const m = std::move(to_self_.front());
    to_self_.pop_front();
    deliver(rank_, m, {});
  }
  delivering_ = false;
}

void steal_run::deliver(int from, loan_message const& m, std::span<std::byte const> payload) {
  protocol::steal_actions list;
  if (moves_the_run(m.kind)) last_moved_ = now();
  if (is_root()) {
    roll_->on(from, m, list);
    perform(list);
    if (for_roll_call(m.kind)) return;
  }
  role_.on(from, m, list);
  perform(list, payload);
}

void steal_run::on_message(int from, std::span<std::byte const> body, transport::packet&) {
  if (over_) return;
  double const begin = trace_ ? now() : 0;
  auto const size = body.size();
  try {
    auto const m = protocol::decode_loan_message(body);
    if (is_root() && m.kind == loan_message_kind::stopped) {
      steals_ += protocol::get_varint(body);
      taken_back_ += protocol::get_varint(body);
      stats_.push_back(unpack_stats(from, body));
    } else if (is_root() && m.kind == loan_message_kind::hello && !m.ids.empty()) {
      tasks_heard_[static_cast<std::size_t>(from)] = m.ids.front();
      last_moved_ = now();
    } else if (m.kind == loan_message_kind::finish && m.result &&
               m.result->how == protocol::outcome::status::done) {
      if (auto const bad = thrown_by([&] { work_.unpack_result(body, total_); }))
        throw protocol_error("the result cannot be read: " + *bad);
    }
    deliver(from, m, body);
    serve();
    check_dry();
    if (trace_) span(threads_, observe::activity::receive, begin, now(), size);
  } catch (protocol_error const& e) {
    give_up(std::make_exception_ptr(protocol_error(fmt::format("message from rank {}: {}", from, e.what()))));
  }
}

void steal_run::on_lost(int rank) {
  if (over_) return;
  protocol::steal_actions list;
  if (roll_) {
    roll_->lost(rank, list);
    perform(list);
  }
  role_.lost(rank, list);
  perform(list);
}

void steal_run::on_left(int rank) {
  if (over_) return;
  protocol::steal_actions list;
  auto const text = fmt::format(
      "rank {} has ended without making this skeleton call: all ranks must make the same calls", rank);
  if (roll_)
    roll_->abort(text, list);
  else
    list.emplace_back(protocol::fail{protocol::fail::reason::protocol, text});
  perform(list);
}

void steal_run::on_tick(double t) {
  if (over_) return;
  protocol::steal_actions list;
  role_.tick(list);
  perform(list);
  // The root hears that this rank moves: for its watchdog, and to show progress.
  if (auto const n = own_tasks(); n != tasks_told_) {
    tasks_told_ = n;
    last_moved_ = t;
    if (!is_root()) {
      act::send s{root_, {.kind = loan_message_kind::hello, .number = role_.call_hash(), .ids = {n}}, 0};
      send(s);
    }
  }
  check_stop();
  if (display_) show_progress(false);
  watch(t);
}

void steal_run::check_stop() {
  if (over_ || stop_sent_) return;
  bool const late = options_.time_limit_seconds && now() - start_ >= *options_.time_limit_seconds;
  if (!late && !options_.stop.stop_requested() && !engine_.stop_requested().load()) return;
  stop_sent_ = true;
  protocol::steal_actions list;
  role_.please_stop(list);
  perform(list);
}

report run_ring_steal(context& ctx, steal_work& work, ring_steal_options const& options,
                      merged_result& total) {
  steal_run run(ctx, work, options, total);
  return run.execute();
}

}  // namespace skel::detail
