#include "farm_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "power_probe.hpp"
#include "skel/error.hpp"
#include "skel/protocol/bytes.hpp"
#include "skel/schedule/deal.hpp"

namespace skel::detail {

using protocol::message;
using protocol::message_kind;

namespace {

constexpr std::uint64_t default_window = 65536;
constexpr std::uint64_t least_first_grant = 64;
constexpr std::size_t first_grant_bytes = std::size_t{256} * 1024;
constexpr std::uint64_t most_supply = 16384;  // tasks pulled ahead of their being given

bool carries_tasks(message_kind kind) { return kind == message_kind::grant || kind == message_kind::give; }

// Whether a message shows that the run goes on, for the watchdog. What impatient roles say again does not.
bool moves_the_run(message_kind kind) {
  return carries_tasks(kind) || kind == message_kind::results || kind == message_kind::failed ||
         kind == message_kind::finish;
}

bool for_ledger(message_kind kind) {
  switch (kind) {
    case message_kind::hello:
    case message_kind::ask:
    case message_kind::results:
    case message_kind::failed:
    case message_kind::stock:
    case message_kind::please_stop:
    case message_kind::stopped:
      return true;
    default:
      return false;
  }
}

}  // namespace

farm_run::farm_run(context& ctx, farm_work& work, farm_policy policy, farm_options const& options)
    : ctx_(ctx),
      engine_(ctx.engine()),
      work_(work),
      policy_(std::move(policy)),
      options_(options),
      traits_(work.traits()),
      rank_(ctx.rank()),
      threads_(static_cast<unsigned>(ctx.threads())),
      keeps_local_(ctx.is_root() || traits_.merged),
      start_(now()),
      sink_(work, traits_.ordered, traits_.merged),
      state_(threads_),
      heard_(static_cast<std::size_t>(ctx.size())) {
  if (traits_.payload) policy_ = for_stream(std::move(policy_));
  check_choices();
  key_ = {ctx.id(), ctx.next_run()};
  last_moved_ = start_;
  if (options_.window == 0) options_.window = traits_.window;
  bool const bounded =
      asks_root(policy_) && policy_.start == start_with::nothing && !options_.results.concentrated;
  if (options_.window == 0 && bounded) options_.window = default_window;

  std::vector<int> workers = ctx.team();
  bool const serves = options_.root == root_role::serves && ctx.size() > 1;
  if (serves) std::erase(workers, root_);
  auto const at = std::find(workers.begin(), workers.end(), rank_);
  computes_ = at != workers.end();
  if (!computes_) threads_ = 1;

  std::uint64_t const call_hash = hash_text(
      fmt::format("farm|{}|{}|{}|{}|{}|{}|{}|{}", to_string(policy_), policy_.threshold.value_or(~0ULL),
                  to_string(options_.results), static_cast<int>(options_.root), traits_.tasks.value_or(0),
                  traits_.payload, traits_.ordered * 2 + traits_.merged, traits_.type_hash));
  protocol::worker_config w;
  w.self = rank_;
  w.root = root_;
  w.call_hash = call_hash;
  w.threads = static_cast<int>(threads_);
  w.asks = asks_root(policy_);
  w.computes = computes_;
  w.results = options_.results;
  w.threshold = policy_.threshold;
  w.early = policy_.early;
  if (policy_.more == more_from::ring && workers.size() > 1)
    w.ring = std::make_shared<std::vector<int> const>(workers);
  w.take = policy_.take;
  w.order = policy_.order;
  w.copies = policy_.copies;
  if (computes_ && traits_.tasks) {
    auto const index = static_cast<int>(at - workers.begin());
    auto const count = static_cast<int>(workers.size());
    if (policy_.start == start_with::contiguous) w.share = {contiguous_share(*traits_.tasks, count, index)};
    if (policy_.start == start_with::interleaved) w.share = {interleaved_share(*traits_.tasks, count, index)};
    bool const deals_by_power = policy_.start == start_with::weighted && policy_.power.empty();
    if ((deals_by_power || policy_.copies) && count > 1) {
      auto const known = engine_.wires().power();
      w.power = known ? *known : measured_power();
    }
  }
  worker_ = protocol::worker(std::move(w));
  if (is_root()) {
    protocol::ledger_config l;
    l.root = root_;
    l.ranks = ctx.team();
    l.workers = workers;
    l.tasks = traits_.tasks;
    l.policy = policy_;
    l.results = options_.results;
    l.ordered = traits_.ordered;
    l.merged = traits_.merged;
    l.window = options_.window;
    l.first_grant = std::max<std::uint64_t>(
        least_first_grant, first_grant_bytes / std::max<std::size_t>(1, traits_.result_bytes));
    l.call_hash = call_hash;
    ledger_.emplace(std::move(l));
    auto const mode = engine_.options().progress;
    if (mode != observe::progress_mode::never)
      display_ =
          std::make_unique<observe::progress_display>(options_.label.empty() ? "farm" : options_.label, mode);
  }
  if (engine_.options().trace) trace_ = std::make_unique<observe::trace_buffer>();
}

farm_run::~farm_run() = default;

// Promises that exclude each other; every rank finds the same, before anything is sent.
void farm_run::check_choices() const {
  policy_.check();
  bool const dealt = policy_.start != start_with::nothing;
  bool const window = options_.window > 0 || traits_.window > 0;
  if (traits_.payload && dealt)
    throw usage_error("schedule " + policy_.name +
                      " deals tasks beforehand, but an on_root source is a stream whose end "
                      "nobody knows: use first-come or guided, or a replicated list");
  if (traits_.payload && options_.results.concentrated)
    throw usage_error(
        "concentrated results keep everything until the end, but an on_root source promises bounded memory: "
        "use streamed results, or a replicated list");
  if (options_.results.concentrated && window)
    throw usage_error(
        "concentrated results arrive at the end, but a window of open tasks needs them as they come: use "
        "streamed results, or no window");
  if (window && dealt)
    throw usage_error("schedule " + policy_.name +
                      " deals tasks beforehand, so no window can bound them: use first-come "
                      "or guided, or no window");
  if (policy_.copies && traits_.payload)
    throw usage_error(
        "schedule " + policy_.name +
        " with copies needs tasks that every rank knows, but those of an on_root source travel: use a "
        "replicated list, or no copies");
  if (policy_.copies && traits_.merged)
    throw usage_error(
        "schedule " + policy_.name +
        " with copies gives some results twice, and merged results cannot be taken apart: use another "
        "sink, or no copies");
  if (!policy_.power.empty() && policy_.power.size() != static_cast<std::size_t>(ctx_.size()))
    throw usage_error(fmt::format("schedule {}: {} relative powers were given for {} ranks", policy_.name,
                                  policy_.power.size(), ctx_.size()));
}

// --- actions and messages
// ------------------------------------------------------------------------------------------

void farm_run::perform(protocol::actions& list, thread_state* thread) {
  for (auto& a : list) {
    if (auto* const s = std::get_if<protocol::send>(&a)) {
      send_to(s->to, std::move(s->what));
    } else if (auto* const e = std::get_if<protocol::execute>(&a)) {
      thread->todo = e->range;
      fetch_payloads(*thread);  // now: another rank may be first with them, and they are forgotten
    } else if (auto* const r = std::get_if<protocol::record>(&a)) {
      append(accepted_, r->range);
    } else if (auto* const f = std::get_if<protocol::forget>(&a)) {
      if (traits_.payload) work_.forget(f->range);
      if (ledger_->handed_out_again() > 0 || policy_.copies)
        worker_.drop(f->range);  // what another rank was first with
    } else if (auto* const end = std::get_if<protocol::end>(&a)) {
      outcome_ = end->how;
      over_ = true;
      engine_.work_arrived().notify_all();
    } else if (auto* const failure = std::get_if<protocol::fail>(&a)) {
      if (failure->why == protocol::fail::reason::lost_root)
        give_up(
            std::make_exception_ptr(lost_rank_error(root_, fmt::format("lost the root (rank {})", root_))));
      else
        give_up(std::make_exception_ptr(protocol_error(failure->text)));
    }
  }
  list.clear();
  deliver_own();
}

void farm_run::give_up(std::exception_ptr error) {
  if (!error_) error_ = std::move(error);
  over_ = true;
  draining_ = true;
  engine_.work_arrived().notify_all();
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
  double const begin = trace_ ? now() : 0;
  transport::packet body;
  if (m.kind == message_kind::results) {
    task_id const first = held_.front().ranges.front().first;
    try {
      auto batch = take_held();
      m.ranges = std::move(batch.ranges);
      body = std::move(batch.packed);
    } catch (std::exception const& e) {  // the user's merge: these tasks have no result
      held_.clear();
      m = {.kind = message_kind::failed, .number = first, .text = e.what()};
    }
  } else if (carries_tasks(m.kind) && traits_.payload) {
    pack_payloads(m.ranges, body.body());
  } else if (m.kind == message_kind::stopped) {
    auto const stats = packed_stats();
    body.body().insert(body.body().end(), stats.begin(), stats.end());
  }
  std::vector<std::byte> head;
  head.reserve(64);
  protocol::encode(m, head);
  body.prepend(head);
  auto const size = body.size();
  engine_.send(to, key_, std::move(body));
  if (trace_) span(threads_, observe::activity::send, begin, now(), static_cast<std::uint64_t>(to), size);
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
  protocol::actions list;
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

void farm_run::on_message(int from, std::span<std::byte const> body, transport::packet& whole) {
  double const begin = trace_ ? now() : 0;
  if (!heard_[static_cast<std::size_t>(from)]) {
    heard_[static_cast<std::size_t>(from)] = true;
    last_moved_ = now();
  }
  try {
    auto const size = body.size();
    auto m = protocol::decode(body);
    result_batch batch;
    if (m.kind == message_kind::results) {
      batch.ranges = m.ranges;
      whole.drop_front(size - body.size());
      batch.packed = std::move(whole);
    } else if (carries_tasks(m.kind) && traits_.payload) {
      if (!is_root()) store_payloads(m, body, whole);  // the root has them all
    } else if (m.kind == message_kind::stopped && is_root()) {
      unpack_stats(from, body);
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
    if (trace_)
      span(threads_, observe::activity::receive, begin, now(), static_cast<std::uint64_t>(from), size);
  } catch (protocol_error const& e) {
    give_up(std::make_exception_ptr(protocol_error(fmt::format("message from rank {}: {}", from, e.what()))));
  }
}

void farm_run::on_lost(int rank) {
  protocol::actions list;
  if (ledger_) lost_ranks_ = static_cast<int>(ledger_->lost_ranks().size());
  if (ledger_) ledger_->lost(rank, list);
  perform(list, nullptr);
  worker_.lost(rank, list);
  perform(list, nullptr);
}

void farm_run::on_left(int rank) {
  if (over_) return;
  protocol::actions list;
  auto const text = fmt::format(
      "rank {} has ended without making this skeleton call: all ranks must make the same calls", rank);
  if (ledger_)
    ledger_->abort(text, list);
  else
    list.push_back(protocol::fail{protocol::fail::reason::protocol, text});
  perform(list, nullptr);
}

void farm_run::on_tick(double t) {
  protocol::actions list;
  if (ledger_) ledger_->tick(list);
  perform(list, nullptr);
  worker_.tick(list);
  perform(list, nullptr);
  check_stop();
  watch(t);
}

// --- payloads
// ------------------------------------------------------------------------------------------------------

void farm_run::store_payloads(message const& m, std::span<std::byte const> bytes, transport::packet& whole) {
  auto const offset_of = [base = whole.bytes().data()](std::span<std::byte const> s) {
    return static_cast<std::size_t>(s.data() - base);
  };
  struct piece {
    task_id id;
    std::size_t offset, size;
  };
  std::vector<piece> pieces;
  for (auto const& r : m.ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) {
      auto const task = protocol::get_bytes(bytes, protocol::get_varint(bytes));
      pieces.push_back({r[i], offset_of(task), task.size()});
    }
  auto const all = whole.bytes();
  auto const kept = std::make_shared<std::vector<std::byte> const>(all.begin(), all.end());
  for (auto const& p : pieces) payloads_[p.id] = {kept, p.offset, p.size};
}

void farm_run::pack_payloads(range_list const& ranges, std::vector<std::byte>& out) {
  std::vector<std::byte> packed;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) {
      std::span<std::byte const> task;
      decltype(payloads_)::node_type node;  // a thief gets it as it came
      if (is_root()) {
        packed.clear();
        work_.pack_task(r[i], packed);
        task = packed;
      } else {
        node = payloads_.extract(r[i]);
        auto const& p = node.mapped();
        task = std::span(*p.bytes).subspan(p.offset, p.size);
      }
      protocol::put_varint(out, task.size());
      out.insert(out.end(), task.begin(), task.end());
    }
}

void farm_run::fetch_payloads(thread_state& t) {
  t.payloads.clear();
  if (!traits_.payload) return;
  for (std::uint64_t i = 0; i < t.todo->count; ++i) {
    task_id const id = (*t.todo)[i];
    if (is_root()) {
      t.payloads.push_back(work_.payload_of(id));
      continue;
    }
    auto const node = payloads_.extract(id);
    auto const& p = node.mapped();
    t.payloads.push_back({p.bytes, nullptr, std::span(*p.bytes).subspan(p.offset, p.size)});
  }
}

void farm_run::supply() {
  if (!is_root() || !traits_.payload) return;
  std::unique_lock const source_lock(source_mutex_, std::try_to_lock);
  if (!source_lock || source_ended_) return;
  std::uint64_t const ahead = std::min(options_.window, most_supply);
  std::uint64_t pooled = 0;
  {
    std::lock_guard const lock(engine_.mutex());
    if (over_ || draining_) return;
    pooled = ledger_->pooled();
  }
  if (pooled * 2 > ahead) return;
  protocol::actions list;
  engine_.rest_helper(false);  // the source may take its time
  try {
    bool ended = false;
    std::uint64_t const n = work_.pull(ahead - pooled, ended);
    std::lock_guard const lock(engine_.mutex());
    work_.accept_pulled();
    supplied_ += n;
    source_ended_ = ended;
    ledger_->supplied(supplied_, ended, list);
    perform(list, nullptr);
  } catch (std::exception const& e) {
    fail_source(e.what());
  } catch (...) {
    fail_source("an exception that is no std::exception");
  }
}

void farm_run::fail_source(std::string text) {
  std::lock_guard const lock(engine_.mutex());
  source_ended_ = true;
  protocol::actions list;
  ledger_->source_failed(std::move(text), list);
  perform(list, nullptr);
}

}  // namespace skel::detail
