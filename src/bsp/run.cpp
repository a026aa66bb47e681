#include "run.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"
#include "skel/storage/key.hpp"

namespace skel::detail {

using role::bsp_message;
using role::call_message;
static_assert(bundle_room == transport::packet::head_room);

namespace {

bool says_stopped(bsp_message const& m) {
  auto const* const call = std::get_if<call_message>(&m);
  return call != nullptr && std::holds_alternative<role::stopped>(*call);
}

bool carries_messages(bsp_message const& m) {
  auto const* const t = std::get_if<role::bsp::tally>(&m);
  return std::holds_alternative<role::bsp::bundle>(m) || (t != nullptr && t->round == 0);
}

// Parts that were sealed with different keys could not be restored together.
std::uint64_t hash_of_key(std::string const& file) {
  auto const key = storage::key::read(file);
  xxh3_hasher hash;
  hash.update(key.bytes());
  return hash.value();
}

}  // namespace

bsp_run::bsp_run(context& ctx, bsp_work& work, bsp_options const& options, bool again)
    : peer_run(ctx, call_options_of(options, "bsp"), "bsp"),
      work_(work),
      options_(options),
      loops_(threads_) {
  compute_threads_ = 1;  // the others are for the loops of a superstep
  poll_seconds_ = 20e-6;
  call_.add("checkpoint", options.checkpoint.has_value())
      .add_types("types", work.types())
      .add_types("program", work.function());
  if (options.checkpoint && !options.checkpoint->key_file.empty())
    call_.add_hidden("key of the checkpoints", hash_of_key(options.checkpoint->key_file));
  member_ = role::bsp_member({rank_, root_, call_.hash(), work.has_neighbours()});
  if (options_.checkpoint) {
    call_description what("bsp");
    what.add("label", options_.label).add_hidden("types", hash_text(work.types()));
    add_values(what, "program", work);
    store_ = std::make_unique<bsp_store>(engine_, *options_.checkpoint, std::move(what));
  }
  if (!is_root()) return;
  root_role_.emplace(conduct(again));
  roll_.emplace(all_ranks(), call_.hash());
}

bsp_run::~bsp_run() = default;

role::bsp_root_config bsp_run::conduct(bool again) {
  role::bsp_root_config c{.self = rank_,
                          .ranks = all_ranks(),
                          .splits = work_.splits(),
                          .neighbours = work_.has_neighbours(),
                          .max_losses = options_.max_losses_per_task,
                          .saves = store_ != nullptr};
  if (!store_) return c;
  auto const found = store_->open(again);
  for (auto const& g : found) c.usable.push_back({g.generation, g.parts});
  auto const parts = found.empty() ? 0 : static_cast<int>(found.front().parts);
  if (parts > 0 && parts != ctx_.size() && !work_.splits())
    throw usage_error(
        detail::format("the checkpoint is of {} ranks, and the program does not say how its state is split: "
                       "expected {} ranks",
                       parts, parts));
  c.stamp = store_->newest().stamp;
  c.newest = store_->newest().generation;
  return c;
}

void bsp_run::begin(std::unique_lock<std::mutex>& /*lock*/) {
  role::bsp_actions list;
  member_.begin(list);
  if (root_role_) root_role_->begin(list);
  perform(list);
}

void bsp_run::on_lost(int rank) {
  if (over_) return;
  role::bsp_actions list;
  if (roll_) {
    call_roll(&role::roll_call::lost, rank);
    root_role_->lost(rank, list);
    if (store_) store_->lost_rank();
  }
  member_.lost(rank, list);
  perform(list);
}

// --- messages

void bsp_run::send(int to, bsp_message m) {
  if (to == rank_) {
    to_self_.push(std::move(m));
    return;
  }
  double const begin = span_begin();
  post(to, m, payload_of(to, m), begin);
}

transport::packet bsp_run::payload_of(int to, bsp_message const& m) {
  if (carries_messages(m))  // once to each rank
    return transport::packet::with_head_room(std::exchange(outgoing_.at(*member_.place_of(to)), {}));
  transport::packet body;
  if (std::holds_alternative<role::bsp::saved>(m)) {
    auto const& c = store_->costs();
    bytes::put_raw(body.body(), cost{c.blocked_seconds, c.serialise_seconds, c.code_seconds,
                                     c.transfer_seconds, c.write_seconds, c.sync_seconds});
  } else if (says_stopped(m)) {
    pack_stats(own_stats(), body.body());
  }
  return body;
}

void bsp_run::deliver_own() {
  to_self_.deliver([&](bsp_message const& m) { deliver(rank_, m, nullptr); });
}

void bsp_run::receive(int from, std::span<std::byte const> body, transport::packet& whole) {
  if (over_) return;
  moved_ = true;
  auto const m = role::decode<bsp_message>(body);
  if (another_call(from, m)) return;
  if (is_root() && says_stopped(m)) add_stats(unpack_stats(from, body));
  whole.drop_front(whole.size() - body.size());
  deliver(from, m, &whole);
}

void bsp_run::deliver(int from, bsp_message const& m, transport::packet* payload) {
  if (auto const* call = std::get_if<call_message>(&m); call != nullptr && for_roll_call(*call)) {
    if (!is_root()) return;
    if (std::holds_alternative<role::please_stop>(*call)) {
      role::bsp_actions list;
      root_role_->please_stop(list);
      perform(list);
    } else {
      call_roll(&role::roll_call::on, from, *call);
    }
    return;
  }
  if (is_root() && std::holds_alternative<role::bsp::saved>(m) && payload != nullptr) {
    auto bytes = payload->bytes();
    costs_of_[from] = bytes::get_raw<cost>(bytes);
  }
  auto list = std::move(spare_actions_);
  role::route(from, m, member_, root_role_ ? &*root_role_ : nullptr, list);
  perform(list, payload);
}

void bsp_run::perform(role::bsp_actions& list, transport::packet* payload) {
  namespace act = role::bsp;
  auto actions = std::move(list);
  for (auto& a : actions) {
    if (auto* const s = std::get_if<act::send>(&a)) {
      send(s->to, std::move(s->what));
    } else if (auto const* k = std::get_if<act::keep>(&a)) {
      auto messages =
          k->from == rank_
              ? transport::packet::with_head_room(std::exchange(outgoing_.at(member_.place()), {}))
              : std::move(*payload);
      bundles_of(k->epoch, k->step).push_back({k->from, std::move(messages)});
    } else if (auto const* x = std::get_if<act::compute>(&a)) {
      jobs_.push_back(*x);
    } else if (auto const* w = std::get_if<act::save>(&a)) {
      jobs_.push_back(*w);
    } else if (auto const* r = std::get_if<act::restore>(&a)) {
      jobs_.push_back(*r);
    } else if (auto const* f = std::get_if<act::forget>(&a)) {
      std::erase_if(bundles_, [&](auto const& b) { return b.first.first < f->epoch; });
    } else if (std::holds_alternative<role::drain>(a)) {
      draining_ = true;
      jobs_.clear();
      if (root_role_) root_role_->stop();
    } else if (!perform_common(a) && root_role_) {
      perform_for_root(a);
    }
  }
  actions.clear();
  spare_actions_ = std::move(actions);
  deliver_own();
}

std::vector<bsp_run::arrival>& bsp_run::bundles_of(std::uint64_t epoch, std::uint64_t step) {
  if (spare_bundles_.empty()) return bundles_[{epoch, step}];
  spare_bundles_.key() = {epoch, step};
  auto added = bundles_.insert(std::move(spare_bundles_));
  spare_bundles_ = std::move(added.node);
  return added.position->second;
}

void bsp_run::perform_for_root(role::bsp_action const& action) {
  namespace act = role::bsp;
  if (auto const* done = std::get_if<act::complete>(&action)) {
    call_roll(&role::roll_call::done, done->steps);
  } else if (auto const* a = std::get_if<act::announce>(&action)) {
    store_->begun({a->generation, store_->newest().stamp, 0}, now());
    member_.announce(a->generation);
  } else if (auto const* n = std::get_if<act::no_more>(&action)) {
    role::bsp_actions list;
    member_.no_more(n->epoch, list);
    perform(list);
  } else if (auto const* c = std::get_if<act::commit>(&action)) {
    store_->commit({c->generation, store_->newest().stamp, c->parts});
  } else if (std::holds_alternative<act::stop_early>(action)) {
    call_roll(&role::roll_call::stop_early);
  } else if (std::holds_alternative<act::abandon>(action)) {
    ++store_->costs().failed;
  } else if (auto const* f = std::get_if<act::fall_back>(&action)) {
    store_->fall_back(f->bad, f->instead);
  } else if (auto const* b = std::get_if<act::blame>(&action)) {
    call_roll(&role::roll_call::task_failed, b->step, b->rank, b->text);
  } else if (auto const* r = std::get_if<act::refuse>(&action)) {
    give_up(std::make_exception_ptr(usage_error(r->text)));
    abort(r->text);
  }
}

// The user's code threw: the run fails as if its latest superstep had thrown.
void bsp_run::fail(std::string text) {
  role::bsp_actions list;
  member_.failed(std::move(text), list);
  perform(list);
}

// --- time

void bsp_run::on_tick(double t) {
  if (over_) return;
  if (std::exchange(moved_, false)) last_moved_ = t;
  poll_store();
  if (root_role_) {
    role::bsp_actions list;
    root_role_->tick(list);
    perform(list);
  }
  after_tick(t);
}

void bsp_run::please_stop() {
  role::bsp_actions list;
  member_.please_stop(list);
  perform(list);
}

// --- report and progress

// Identifies the call and its last epoch.
std::uint64_t bsp_run::hash_of_run() const {
  std::uint64_t const numbers[] = {key_.context, key_.number, member_.epoch()};
  xxh3_hasher hash;
  hash.update(std::as_bytes(std::span(numbers)));
  return hash.value();
}

void bsp_run::describe(report& r) const {
  r.skeleton = "bsp";
  r.schedule = "supersteps";
  r.results = "in_parts";
  r.tasks = member_.step();
  r.lost_ranks = lost_ranks();
  if (auto const place = member_.place_of(rank_))
    r.part = part_report{static_cast<int>(*place), member_.members(), hash_of_run()};
  auto const restored = store_ ? store_->costs().restored_tasks : 0;
  auto const needed = member_.step() - std::min(restored, member_.step());
  bool const restarted = root_role_ && root_role_->epoch() > 1;
  r.tasks_handed_out_again = restarted ? supersteps_ - std::min(supersteps_, needed) : 0;
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
  static_cast<void>(store_->poll_commit());
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

void bsp_run::end_store(bool complete) {
  if (store_ && complete) store_->complete();
}

report run_bsp(context& ctx, bsp_work& work, bsp_options const& options, bool again) {
  bsp_run run(ctx, work, options, again);
  auto r = run.execute();
  run.end_store(!r.stopped_early);
  r.checkpoint = run.checkpoint_costs();
  return r;
}

}  // namespace skel::detail
