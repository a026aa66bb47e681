#include "bsp_run.hpp"

#include <algorithm>
#include <utility>

#include "skel/detail/farm_work.hpp"
#include "skel/error.hpp"
#include "skel/protocol/bytes.hpp"
#include "user_code.hpp"
#include "values/format.hpp"

namespace skel::detail {

using protocol::peer_message;
using kind = protocol::peer_message_kind;

namespace {
constexpr double patience_with_commit = 2;  // seconds, after a loss
}  // namespace

bsp_run::bsp_run(context& ctx, bsp_work& work, bsp_options const& options)
    : peer_run(ctx, call_options_of(options, "bsp")),
      work_(work),
      options_(options),
      hash_(hash_text(detail::format("bsp|{}|{}", work.type_hash(), options.checkpoint.has_value()))),
      member_(rank_, root_) {
  threads_ = 1;  // a superstep may use more by itself
  if (options_.checkpoint)
    store_ = std::make_unique<bsp_store>(engine_, *options_.checkpoint, work.type_hash());
  if (!is_root()) return;
  if (store_) open_store();
  roll_.emplace(ctx.team(), hash_);
  conductor_.emplace(ctx.team(), store_ ? store_->stamp() : 0);
}

bsp_run::~bsp_run() = default;

void bsp_run::open_store() {
  store_->open();
  auto const parts = store_->committed() > 0 ? static_cast<int>(store_->parts_of(store_->committed())) : 0;
  if (parts > 0 && parts != ctx_.size() && !work_.splits())
    throw usage_error(detail::format(
        "the checkpoint is of {} ranks, and the program does not say how its state is split: start so many",
        parts));
}

void bsp_run::begin(std::unique_lock<std::mutex>& /*lock*/) {
  send(root_, {.kind = kind::hello, .number = hash_});
  deliver_own();
  if (conductor_) restart(store_ ? store_->committed() : 0);
}

// --- epochs

void bsp_run::restart(std::uint64_t generation) {
  saving_.reset();
  ++restarts_;
  protocol::peer_messages told;
  conductor_->restart(generation, told);
  send_all(told);
}

void bsp_run::on_lost(int rank) {
  if (over_) return;
  if (roll_) {
    call_roll(&protocol::roll_call::lost, rank);
    if (!conductor_->lost(rank) || roll_->stopping()) return;
    if (!lost_member_) restart_by_ = now() + patience_with_commit;
    lost_member_ = rank;
    restart_after_loss();
  } else if (rank == root_) {
    fail_with({protocol::fail::reason::lost_root, {}});
  }
}

// A commit that is under way is worth waiting for, but not with the lock: it may need messages.
void bsp_run::restart_after_loss() {
  if (!lost_member_ || over_) return;
  if (store_ && store_->committing() && now() < restart_by_) return;
  auto const rank = *std::exchange(lost_member_, std::nullopt);
  if (roll_->stopping()) return;
  auto const generation = store_ ? store_->committed() : 0;
  if (generation > 0 && !work_.splits())
    call_roll(&protocol::roll_call::on, root_,
              peer_message{.kind = kind::part_lost, .number = static_cast<std::uint64_t>(rank)});
  else
    restart(generation);
}

void bsp_run::unreadable(std::uint64_t epoch, std::string const& text) {
  send(root_, {.kind = kind::unreadable, .number = epoch, .text = text});
  deliver_own();
}

// A generation that looked well cannot be had after all: the one before, on all ranks.
void bsp_run::on_unreadable(std::uint64_t epoch, std::string const& text) {
  if (epoch != conductor_->epoch() || roll_->stopping()) return;
  auto const older = store_->other_than(conductor_->generation());
  if (older == 0 && options_.checkpoint->resume && supersteps_ == 0) {
    give_up(std::make_exception_ptr(usage_error(text)));
    abort(text);
  } else {
    restart(older);
  }
}

// --- messages

void bsp_run::send(int to, peer_message m) {
  if (to == rank_) {
    to_self_.push(std::move(m));
    return;
  }
  double const begin = span_begin();
  transport::packet body;
  if (m.kind == kind::bundle) {
    auto const& members = member_.members();
    auto const at = std::find(members.begin(), members.end(), to) - members.begin();
    auto const& bytes = outgoing_.at(static_cast<std::size_t>(at));
    body.body().insert(body.body().end(), bytes.begin(), bytes.end());
  } else if (m.kind == kind::saved) {
    auto const& c = store_->costs();
    protocol::put_raw(body.body(), cost{c.blocked_seconds, c.serialise_seconds, c.code_seconds,
                                        c.transfer_seconds, c.write_seconds, c.sync_seconds});
  } else if (m.kind == kind::stopped) {
    pack_stats(own_stats(), body.body());
  }
  post(to, m, std::move(body), begin);
}

void bsp_run::deliver_own() {
  to_self_.deliver([&](peer_message const& m) { deliver(rank_, m, {}); });
}

void bsp_run::receive(int from, std::span<std::byte const> body, transport::packet& /*whole*/) {
  if (over_) return;
  last_moved_ = now();
  auto const m = protocol::decode_peer_message(body);
  if (is_root() && m.kind == kind::stopped) add_stats(unpack_stats(from, body));
  deliver(from, m, body);
}

void bsp_run::deliver(int from, peer_message const& m, std::span<std::byte const> payload) {
  if (is_root()) {
    call_roll(&protocol::roll_call::on, from, m);
    if (for_roll_call(m.kind)) return;
    if (m.kind == kind::saved) return on_saved(from, m, payload);
    if (m.kind == kind::unreadable) return on_unreadable(m.number, m.text);
    if (m.kind == kind::bundle) conductor_->heard(from, m.number);
  }
  switch (m.kind) {
    case kind::stop:
      stop_heard_ = draining_ = true;
      check_quiet();
      break;
    case kind::finish:
      end_with(m.result.value_or(protocol::outcome{}));
      break;
    case kind::abort:
      fail_with({protocol::fail::reason::protocol, m.text});
      break;
    default: {
      protocol::bsp_actions list;
      member_.on(from, m, list);
      perform(list, {payload.begin(), payload.end()});
    }
  }
}

void bsp_run::perform(protocol::bsp_actions& list, std::vector<std::byte> payload) {
  namespace act = protocol::bsp_action;
  for (auto& a : std::exchange(list, {})) {
    if (auto* const s = std::get_if<act::send>(&a)) {
      send(s->to, std::move(s->what));
    } else if (auto const* k = std::get_if<act::keep>(&a)) {
      if (k->from == rank_)
        bundles_[{k->epoch, k->step}][rank_] = std::move(outgoing_.at(*member_.place()));
      else
        bundles_[{k->epoch, k->step}][k->from] = std::exchange(payload, {});
    } else if (auto const* d = std::get_if<act::drop_before>(&a)) {
      std::erase_if(bundles_, [&](auto const& b) { return b.first.first < d->epoch; });
    } else if (roll_) {  // complete
      call_roll(&protocol::roll_call::done, member_.step());
    }
  }
  deliver_own();
}

// Code of the user's threw: the run fails as if its latest superstep had.
void bsp_run::fail(std::string text) {
  draining_ = true;
  send(root_, {.kind = kind::failed, .number = member_.step(), .text = std::move(text)});
  deliver_own();
}

// --- time

void bsp_run::on_tick(double t) {
  if (over_) return;
  poll_store();
  if (conductor_ && !roll_->stopping()) {
    protocol::peer_messages told;
    conductor_->tick(told);
    send_all(told);
  }
  after_tick(t);
}

void bsp_run::please_stop() {
  if (roll_)
    call_roll(&protocol::roll_call::stop_early);
  else
    send(root_, {.kind = kind::please_stop});
}

// --- what it says of itself

void bsp_run::describe(report& r) const {
  r.skeleton = "bsp";
  r.schedule = "supersteps";
  r.results = "in_parts";
  r.tasks = member_.step();
  r.lost_ranks = lost_ranks();
  auto const restored = store_ ? store_->costs().restored_tasks : 0;
  auto const needed = member_.step() - std::min(restored, member_.step());
  r.tasks_handed_out_again = restarts_ > 1 ? supersteps_ - std::min(supersteps_, needed) : 0;
}

void bsp_run::describe(observe::progress_state& s, bool /*last*/) const {
  s.done = member_.step();
  s.lost_ranks = static_cast<int>(lost_ranks().size());
}

std::string bsp_run::state() const {
  return detail::format("rank {}: bsp {} (context {}): epoch {}, superstep {}, {} members{}{}", rank_,
                        key_.number, key_.context, member_.epoch(), member_.step(), member_.members().size(),
                        running_ ? ", computing" : "", waits_to_stop());
}

std::optional<checkpoint_report> bsp_run::checkpoint_costs() {
  if (!store_) return {};
  store_->wait();
  static_cast<void>(store_->poll());
  static_cast<void>(store_->committed());
  auto all = store_->costs();
  for (auto const& [rank, c] : costs_of_) {
    all.blocked_seconds = std::max(all.blocked_seconds, c.blocked);
    all.serialise_seconds += c.serialise;
    all.code_seconds += c.code;
    all.transfer_seconds += c.transfer;
    all.write_seconds += c.write;
    all.sync_seconds += c.sync;
  }
  return all;
}

report run_bsp(context& ctx, bsp_work& work, bsp_options const& options) {
  bsp_run run(ctx, work, options);
  auto r = run.execute();
  r.checkpoint = run.checkpoint_costs();
  return r;
}

}  // namespace skel::detail
