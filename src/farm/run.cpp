#include "run.hpp"

#include <utility>

#include "call/user_code.hpp"

namespace skel::detail {

using role::message;
using role::message_kind;

namespace {

// Whether a message shows that the run goes on, for the watchdog. What impatient roles say again does not.
bool moves_the_run(message_kind kind) {
  return carries_tasks(kind) || kind == message_kind::results || kind == message_kind::failed ||
         kind == message_kind::finish;
}

}  // namespace

void farm_run::begin(std::unique_lock<std::mutex>& lock) {
  if (traits_.in_place && is_root()) {
    lock.unlock();
    // Where there is no memory for the results the sink says so, as it meets the first that has no place.
    if (thrown_by([&] { work_.make_places(); })) traits_.in_place = false;
    lock.lock();
  }
  role::actions list;
  restore();
  if (ledger_) ledger_->begin(list);
  perform(list, nullptr);
  worker_.begin(list);
  perform(list, nullptr);
}

// --- actions and messages

void farm_run::perform(role::actions& list, thread_state* thread) {
  for (auto& a : list) {
    if (auto* const s = std::get_if<role::send>(&a)) {
      send_to(s->to, std::move(s->what));
    } else if (auto* const e = std::get_if<role::execute>(&a)) {
      thread->todo = e->range;
      fetch_payloads(*thread);  // now: another rank may be first with them, and they are forgotten
    } else if (auto* const r = std::get_if<role::record>(&a)) {
      append(accepted_, r->range);
    } else if (auto* const f = std::get_if<role::forget>(&a)) {
      if (traits_.payload) work_.forget(f->range);
      if (ledger_->handed_out_again() > 0 || policy_.copies)
        worker_.drop(f->range);  // what another rank was first with
    } else if (auto const* const end = std::get_if<role::end>(&a)) {
      end_with(end->how);
    } else if (auto const* const failure = std::get_if<role::fail>(&a)) {
      fail_with(*failure);
    }
  }
  list.clear();
  deliver_own();
}

// All that is held, as one batch: what a results message carries.
result_batch farm_run::take_held() {
  result_batch all = std::move(held_.front());
  held_.pop_front();
  for (auto& b : std::exchange(held_, {})) {
    all.ranges.insert(all.ranges.end(), b.ranges.begin(), b.ranges.end());
    if (b.local) {
      work_.merge(*all.local, *b.local);
    } else {
      auto const bytes = b.packed.bytes();
      all.packed.body().insert(all.packed.body().end(), bytes.begin(), bytes.end());
    }
  }
  if (all.local) work_.pack_merged(*all.local, all.packed.body());
  return all;
}

void farm_run::send_to(int to, message m) {
  if (to == rank_) {
    if (m.kind != message_kind::results) {
      to_self_.push_back({std::move(m), {}});
      return;
    }
    // One message per batch: they stay objects, which cannot be joined.
    for (auto& b : std::exchange(held_, {})) {
      message part{.kind = message_kind::results, .ranges = b.ranges};
      to_self_.push_back({std::move(part), std::move(b)});
    }
    to_self_.back().what.number = m.number;
    return;
  }
  double const begin = span_begin();
  transport::packet body;
  if (m.kind == message_kind::results) {
    task_id const first = held_.front().ranges.front().first;
    auto const bad = thrown_by([&] {
      auto batch = take_held();
      m.ranges = std::move(batch.ranges);
      body = std::move(batch.packed);
    });
    if (bad) {  // the user's merge: these tasks have no result
      held_.clear();
      m = {.kind = message_kind::failed, .number = first, .text = *bad};
    }
  } else if (carries_tasks(m.kind) && traits_.payload) {
    pack_payloads(m.ranges, body.body());
  } else if (m.kind == message_kind::stopped) {
    pack_stats(own_stats(), body.body());
  }
  post(to, m, std::move(body), begin);
}

void farm_run::deliver_own() {
  if (delivering_) return;
  delivering_ = true;
  while (!to_self_.empty()) {
    auto own = std::move(to_self_.front());
    to_self_.pop_front();
    deliver(rank_, own.what, &own.batch, nullptr);
  }
  delivering_ = false;
}

void farm_run::deliver(int from, message const& m, result_batch* batch, thread_state* thread) {
  role::actions list;
  if (moves_the_run(m.kind)) last_moved_ = now();
  if (is_root() && (for_ledger(m.kind) || (m.kind == message_kind::abort && from != rank_))) {
    accepted_.clear();
    ledger_->on(from, m, list);
    auto const keep = std::exchange(delivering_, true);
    perform(list, thread);
    delivering_ = keep;
    if (m.kind == message_kind::results && !accepted_.empty() && batch != nullptr) {
      sink_.push(std::move(*batch), accepted_);
      accepted_.clear();
    }
  } else {
    if (m.kind == message_kind::abort && !over_ && m.text.starts_with(watchdog_text)) say_state(m.text);
    if (m.kind == message_kind::stop) {
      draining_ = true;
      held_.clear();
      payloads_.clear();
    }
    worker_.on(from, m, list);
    auto const keep = std::exchange(delivering_, true);
    perform(list, thread);
    delivering_ = keep;
    if (threads_ > 1 && worker_.has_work()) engine_.work_arrived().notify_all();
  }
}

void farm_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (!heard_[static_cast<std::size_t>(from)]) {
    heard_[static_cast<std::size_t>(from)] = true;
    last_moved_ = now();
  }
  auto const size = body.size();
  auto m = role::decode(body);
  if (is_root() && m.kind == message_kind::hello && of_another_call(from, m.number)) return;
  result_batch batch;
  if (m.kind == message_kind::results) {
    batch.ranges = m.ranges;
    whole.drop_front(size - body.size());
    batch.packed = std::move(whole);
  } else if (carries_tasks(m.kind) && traits_.payload) {
    if (!is_root()) store_payloads(m, body, whole);  // the root has them all
  } else if (m.kind == message_kind::stopped && is_root()) {
    add_stats(unpack_stats(from, body));
  } else if (m.kind == message_kind::stock && is_root()) {
    if (auto const i = static_cast<std::size_t>(from); i < finished_.size() && finished_[i] != m.extra) {
      finished_[i] = m.extra;
      last_moved_ = now();
    }
  }
  if (m.kind == message_kind::give && ledger_) m.ranges = ledger_->not_recorded(m.ranges);
  deliver(from, m, &batch, nullptr);
  deliver_own();
  if (m.kind == message_kind::stopped && ledger_) {
    if (auto const left = ledger_->not_stopped().size(); left != not_stopped_) last_moved_ = now();
    not_stopped_ = ledger_->not_stopped().size();
  }
}

void farm_run::on_lost(int rank) {
  role::actions list;
  if (ledger_) lost_ranks_ = static_cast<int>(ledger_->lost_ranks().size());
  if (ledger_) ledger_->lost(rank, list);
  perform(list, nullptr);
  worker_.lost(rank, list);
  perform(list, nullptr);
}

void farm_run::abort(std::string const& text) {
  role::actions list;
  ledger_->abort(text, list);
  perform(list, nullptr);
}

void farm_run::please_stop() {
  role::actions list;
  if (ledger_)
    ledger_->stop_early(list);
  else
    worker_.please_stop(list);
  perform(list, nullptr);
}

void farm_run::on_tick(double t) {
  role::actions list;
  if (ledger_) ledger_->tick(list);
  perform(list, nullptr);
  worker_.tick(list);
  perform(list, nullptr);
  check_stop();
  watch(t);
}

}  // namespace skel::detail
