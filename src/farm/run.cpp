#include "run.hpp"

#include <utility>

#include "call/user_code.hpp"

namespace skel::detail {

using role::call_message;
using role::farm_message;

namespace {

// Whether a message shows that the run goes on, for the watchdog. What impatient roles say again does not.
bool moves_the_run(farm_message const& m) {
  auto const* const call = std::get_if<call_message>(&m);
  if (call == nullptr) return std::holds_alternative<role::farm::results>(m) || !given_tasks(m).empty();
  return std::holds_alternative<role::failed>(*call) || std::holds_alternative<role::finish>(*call);
}

template <class Own>
bool is_call(farm_message const& m) {
  auto const* const call = std::get_if<call_message>(&m);
  return call != nullptr && std::holds_alternative<Own>(*call);
}

}  // namespace

void farm_run::begin(std::unique_lock<std::mutex>& lock) {
  if (traits_.in_place && is_root()) {
    lock.unlock();
    // Where there is no memory for the results the sink says so, as it meets the first that has no place.
    if (thrown_by([&] { work_.make_places(); })) traits_.in_place = false;
    lock.lock();
  }
  role::farm_actions list;
  restore();
  if (ledger_) ledger_->begin(list);
  perform(list, nullptr);
  worker_.begin(list);
  perform(list, nullptr);
}

// --- actions and messages

void farm_run::perform(role::farm_actions& list, thread_state* thread) {
  for (auto& a : list) perform(a, thread);
  list.clear();
  deliver_own();
}

void farm_run::perform(role::farm_action& action, thread_state* thread) {
  if (auto* const s = std::get_if<role::farm::send>(&action)) {
    send_to(s->to, std::move(s->what));
  } else if (auto* const e = std::get_if<role::farm::execute>(&action)) {
    thread->todo = e->range;
    fetch_payloads(*thread);  // now: another rank may be first with them, and they are forgotten
  } else if (auto* const r = std::get_if<role::farm::record>(&action)) {
    append(accepted_, r->range);
  } else if (auto* const f = std::get_if<role::farm::forget>(&action)) {
    if (traits_.payload) work_.forget(f->range);
    if (ledger_->handed_out_again() > 0 || policy_.copies)
      worker_.drop(f->range);  // another rank was first with them
  } else if (auto* const t = std::get_if<role::tell_root>(&action)) {
    send_to(root_, std::move(t->what));
  } else if (std::holds_alternative<role::drain>(action)) {
    draining_ = true;
    held_.clear();
    payloads_.clear();
  } else if (auto const* const end = std::get_if<role::end>(&action)) {
    end_with(end->how);
  } else if (auto const* const failure = std::get_if<role::fail>(&action)) {
    fail_with(*failure);
  }
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

void farm_run::send_to_self(farm_message m) {
  auto const* const results = std::get_if<role::farm::results>(&m);
  if (results == nullptr) {
    to_self_.push({std::move(m), {}});
    return;
  }
  // One message per batch: they stay objects, which cannot be joined. The last one asks for more.
  auto batches = std::exchange(held_, {});
  for (auto& b : batches)
    to_self_.push({role::farm::results{b.ranges, &b == &batches.back() ? results->wanted : 0}, std::move(b)});
}

void farm_run::send_to(int to, farm_message m) {
  if (to == rank_) {
    send_to_self(std::move(m));
    return;
  }
  double const begin = span_begin();
  transport::packet body;
  if (auto* const results = std::get_if<role::farm::results>(&m)) {
    task_id const first = held_.front().ranges.front().first;
    auto const bad = thrown_by([&] {
      auto batch = take_held();
      results->ranges = std::move(batch.ranges);
      body = std::move(batch.packed);
    });
    if (bad) {  // the user's merge: these tasks have no result
      held_.clear();
      m = call_message(role::failed{first, *bad});
    }
  } else if (traits_.payload && !given_tasks(m).empty()) {
    pack_payloads(given_tasks(m), body.body());
  } else if (is_call<role::stopped>(m)) {
    pack_stats(own_stats(), body.body());
  }
  post(to, m, std::move(body), begin);
}

void farm_run::deliver_own() {
  to_self_.deliver([&](own_message& own) { deliver(rank_, own.what, std::move(own.batch)); });
}

// The one place that decides which role answers a message.
void farm_run::deliver(int from, farm_message const& m, result_batch batch) {
  if (moves_the_run(m)) last_moved_ = now();
  role::farm_actions list;
  if (is_root() && for_ledger(m)) {
    accepted_.clear();
    ledger_->on(from, m, list);
    for (auto& a : list) perform(a, nullptr);
    if (!accepted_.empty()) sink_.push(std::move(batch), accepted_);
    accepted_.clear();
    return;
  }
  if (auto const* const call = std::get_if<call_message>(&m); call != nullptr && from != rank_ && !over_)
    if (auto const* const a = std::get_if<role::abort>(call);
        a != nullptr && a->text.starts_with(watchdog_text))
      say_state(a->text);
  worker_.on(from, m, list);
  for (auto& a : list) perform(a, nullptr);
  if (threads_ > 1 && worker_.has_work()) engine_.work_arrived().notify_all();
}

void farm_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (!heard_[static_cast<std::size_t>(from)]) {
    heard_[static_cast<std::size_t>(from)] = true;
    last_moved_ = now();
  }
  auto const size = body.size();
  auto m = role::decode<farm_message>(body);
  if (auto const* const call = std::get_if<call_message>(&m); call != nullptr && is_root())
    if (auto const* const h = std::get_if<role::hello>(call);
        h != nullptr && of_another_call(from, h->call_hash))
      return;
  result_batch batch;
  bool const stopped = is_root() && is_call<role::stopped>(m);
  if (auto const* const results = std::get_if<role::farm::results>(&m)) {
    batch.ranges = results->ranges;
    whole.drop_front(size - body.size());
    batch.packed = std::move(whole);
  } else if (traits_.payload && !is_root()) {  // the root has them all
    if (!given_tasks(m).empty()) store_payloads(given_tasks(m), body, whole);
  } else if (stopped) {
    add_stats(unpack_stats(from, body));
  } else if (auto const* const stock = std::get_if<role::farm::stock>(&m); stock != nullptr && is_root()) {
    if (auto const i = static_cast<std::size_t>(from);
        i < finished_.size() && finished_[i] != stock->finished) {
      finished_[i] = stock->finished;
      last_moved_ = now();
    }
  }
  if (auto* const give = std::get_if<role::farm::give>(&m); give != nullptr && ledger_)
    give->ranges = ledger_->not_recorded(give->ranges);
  deliver(from, m, std::move(batch));
  deliver_own();
  if (stopped) {
    if (auto const left = ledger_->not_stopped().size(); left != not_stopped_) {
      last_moved_ = now();
      not_stopped_ = left;
    }
  }
}

void farm_run::on_lost(int rank) {
  role::farm_actions list;
  if (ledger_) lost_ranks_ = static_cast<int>(ledger_->lost_ranks().size());
  if (ledger_) ledger_->lost(rank, list);
  perform(list, nullptr);
  worker_.lost(rank, list);
  perform(list, nullptr);
}

void farm_run::abort(std::string const& text) {
  role::farm_actions list;
  ledger_->abort(text, list);
  perform(list, nullptr);
}

void farm_run::please_stop() {
  role::farm_actions list;
  if (ledger_)
    ledger_->stop_early(list);
  else
    worker_.please_stop(list);
  perform(list, nullptr);
}

void farm_run::on_tick(double t) {
  role::farm_actions list;
  if (ledger_) ledger_->tick(list);
  perform(list, nullptr);
  worker_.tick(list);
  perform(list, nullptr);
  check_stop();
  watch(t);
}

}  // namespace skel::detail
