#include "run.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "engine/context_access.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"
#include "skel/storage/key.hpp"

namespace skel::detail {

using role::bsp_message;
static_assert(bundle_room == transport::packet::head_room);

namespace {

// Parts that were sealed with different keys could not be restored together.
std::uint64_t hash_of_key(std::string const& file) {
  auto const key = storage::key::read(file);
  xxh3_hasher hash;
  hash.update(key.bytes());
  return hash.value();
}

}  // namespace

bsp_run::bsp_run(context& ctx, bsp_work& work, bsp_options const& options, bool again)
    : protocol_run(ctx, call_options_of(options, "bsp"), "bsp"),
      work_(work),
      options_(options),
      loops_(threads_) {
  compute_threads_ = 1;  // the others are for the loops of a superstep
  waiting_.set_poll_seconds(20e-6);
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
  root_role_.emplace(root_config(again));
  roll_.emplace(all_ranks(), call_.hash());
}

bsp_run::~bsp_run() = default;

role::bsp_root_config bsp_run::root_config(bool again) {
  role::bsp_root_config c{.self = rank_,
                          .ranks = all_ranks(),
                          .splits = work_.splits(),
                          .neighbours = work_.has_neighbours(),
                          .max_losses = options_.max_losses_per_task,
                          .saves = store_ != nullptr};
  if (!store_) return c;
  auto const parts = work_.splits() ? std::nullopt : std::optional(static_cast<std::uint32_t>(all_ranks()));
  for (auto const& g : store_->open(again, parts)) c.usable.push_back({g.generation, g.parts, {}, g.stamp});
  c.begins_anew = store_->in_later_attempt();  // known since it was opened
  c.stamp = store_->stamp();
  c.newest = store_->newest();
  return c;
}

void bsp_run::begin(std::unique_lock<std::mutex>& /*lock*/) {
  auto list = empty_list();
  member_.begin(list);
  if (root_role_) root_role_->begin(list);
  perform(list);
}

// --- messages

transport::packet bsp_run::pack(int to, bsp_message& m) {
  if (std::visit([](auto const& own) { return role::bsp::carries_messages(own); }, m))
    return mail_.take(*member_.epoch().place_of(to));  // once to each rank
  transport::packet body;
  if (std::holds_alternative<role::bsp::saved>(m)) store_->pack_costs(body.body());
  return body;
}

transport::packet bsp_run::unpack(int from, bsp_message& m, std::span<std::byte const> body,
                                  transport::packet& whole) {
  moved_ = true;
  if (is_root() && std::holds_alternative<role::bsp::saved>(m)) store_->add_costs(from, body);
  whole.drop_front(whole.size() - body.size());
  return std::move(whole);
}

void bsp_run::on_lost(int rank, bool killed) {
  protocol_run::on_lost(rank, killed);
  if (is_root() && store_ && !over_ && counted_.insert(rank).second) store_->lost_rank();
}

void bsp_run::on_tick(double t) {
  if (over_) return;
  if (std::exchange(moved_, false)) last_moved_ = t;
  poll_store();
  protocol_run::on_tick(t);
}

// The others wait for the end of this rank, which therefore must not wait for another call.
bool bsp_run::vacate(bool leaves) {
  if (over_ || !store_ || !work_.splits() || !context_access::is_observed(entry_.ctx)) return false;
  bool const alone = engine_.calls().runs().size() == 1;
  tell(member_, &member::retire, leaves && alone);
  return alone && member_.vacant();
}

// --- actions

void bsp_run::drained(bool /*early*/) { jobs_.clear(); }

void bsp_run::act(role::bsp::keep const& a, cargo* with) {
  if (a.from == rank_)
    mail_.keep(a.epoch, a.step, a.from, mail_.take(member_.epoch().place));
  else
    mail_.keep(a.epoch, a.step, a.from, std::move(*with));
}

void bsp_run::act(role::bsp::announce const& a, cargo* /*with*/) {
  store_->begun(now());
  member_.announce(a.generation);
}

void bsp_run::act(role::bsp::refuse const& a, cargo* /*with*/) {
  give_up(std::make_exception_ptr(usage_error(a.text)));
  call_roll(&role::roll_call::abort, a.text);
}

// --- the compute thread

bool bsp_run::find_work(unsigned thread) {
  if (thread != 0) return false;
  poll_store();
  if (draining_) {
    check_quiet();
    return false;
  }
  return !jobs_.empty();
}

void bsp_run::check_quiet() {
  if (!draining_ || running_ || over_) return;
  tell(member_, &member::quiet);
}

void bsp_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const next = jobs_.front();
  jobs_.pop_front();
  running_ = true;
  std::visit(
      [&]<class Job>(Job const& j) {
        if (j.epoch == member_.epoch().number)
          do_job(j, thread, lock);
        else if constexpr (std::is_same_v<Job, role::bsp::save>)  // its epoch has ended
          tell(member_, &member::saved, j.generation, false);
      },
      next);
  running_ = false;
  moved_ = true;
  check_quiet();
}

// Restores the state of the epoch, from the store or from the program.
void bsp_run::do_job(role::bsp::restore const& j, unsigned /*thread*/, std::unique_lock<std::mutex>& lock) {
  auto const rank = static_cast<int>(j.place);
  auto const size = static_cast<int>(j.members);
  std::optional<std::uint64_t> step;
  std::optional<std::string> no_store;
  std::vector<std::byte> latest_part;
  if (j.generation != 0) latest_part = engine_.wires().buffer();
  auto const read_part = [&](int part) {
    latest_part =
        store_->read(j.generation, j.stamp, static_cast<std::uint32_t>(part), std::move(latest_part));
    std::span<std::byte const> in(latest_part);
    step = bytes::get_varint(in);
    return in;
  };
  std::vector<int> neighbours;
  double const begin = now();
  lock.unlock();
  auto const bad = thrown_by([&] {
    neighbours = work_.neighbours(rank, size);
    if (j.generation == 0) {
      step = 0;
      return work_.begin(rank, size);
    }
    try {
      work_.load(read_part, static_cast<int>(store_->parts_of(j.generation, j.stamp)), rank, size);
      if (!step) read_part(0);       // split() read no part
    } catch (error const& unread) {  // an error of the store, or bytes that do not hold such a state
      no_store = unread.what();
    }
  });
  lock.lock();
  if (j.generation != 0) store_->give_buffer(std::move(latest_part));
  if (over_) return;
  if (bad) return fail(*bad);
  // The report shows the checkpoint of an earlier run, not the one this run returns to after a
  // loss.
  if (!no_store && is_root() && store_ && j.generation == store_->costs().restored_generation)
    store_->costs().restored_tasks = *step;
  if (!no_store && store_ && j.generation != 0) store_->restored(*step, now() - begin);
  if (no_store)
    tell(member_, &member::unreadable, j.epoch, *no_store);
  else
    tell(member_, &member::restored, j.epoch, *step, neighbours);
}

void bsp_run::do_job(role::bsp::compute const& j, unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const members = static_cast<int>(member_.epoch().members.size());
  auto const place = static_cast<int>(member_.epoch().place);
  mail_.open(j.epoch, j.step, member_.epoch());
  auto list = empty_list();
  if (root_role_) root_role_->begins(j.epoch, j.step, store_ && store_->due(now()), list);
  if (!list.empty()) perform(list);
  auto& made = mail_.empty(member_.epoch().members.size());
  bool more = false;
  double const begin = measures_[thread].found;
  lock.unlock();
  auto const bad = thrown_by([&] {
    if (!mail_.opened().empty()) work_.receive(mail_.opened());
    more = work_.superstep(j.step, place, members, made, loops_);
  });
  double const end = now();
  lock.lock();
  measures_[thread].busy += end - begin;
  if (!engine_.owns_time()) measures_.last().busy += loops_.take_seconds();
  ++measures_[thread].tasks;
  ++supersteps_;
  measures_.span(thread, observe::activity::compute, begin, end, j.step, 1);
  if (over_ || draining_) return;
  if (bad) return fail(*bad);
  if (j.epoch != member_.epoch().number) return;
  if (root_role_) root_role_->computed({j.epoch, j.step, more}, list);
  member_.computed(j.epoch, more, mail_.addressees(), list);
  perform(list);
  mail_.close();  // after its messages have been sent: others wait for them
}

// --- checkpoints

// Saves the state and messages before the next superstep. Only packing delays the computation.
void bsp_run::do_job(role::bsp::save const& j, unsigned thread, std::unique_lock<std::mutex>& lock) {
  mail_.open(j.epoch, j.step, member_.epoch());
  deferred_bytes part;
  part.packed = store_->buffer();
  part.packed.clear();
  double const begin = now();
  lock.unlock();
  double packing = begin;
  auto const bad = thrown_by([&] {
    if (!mail_.opened().empty()) work_.receive(mail_.opened());
    packing = now();
    bytes::put_varint(part.packed, j.step);
    packing_may_wait const here(part);
    work_.pack_part(part.packed);
  });
  double const end = now();
  lock.lock();
  measures_[thread].busy += end - begin;
  measures_.span(thread, observe::activity::compute, begin, end, j.step, 0);
  if (over_ || draining_) return;
  if (bad) return fail(*bad);
  if (j.epoch != member_.epoch().number) return tell(member_, &member::saved, j.generation, false);
  auto& costs = store_->costs();
  costs.serialise_seconds += end - packing;
  costs.blocked_seconds += end - packing;
  store_->write({j.generation, j.stamp, j.parts}, j.place, std::move(part));
}

void bsp_run::poll_store() {
  if (!store_) return;
  if (auto const w = store_->poll()) tell(member_, &member::saved, w->generation, w->error.empty());
  if (!root_role_) return;
  if (auto const w = store_->poll_commit())
    tell(*root_role_, &root_role::committed, w->generation, w->error.empty());
}

// --- report and progress

void bsp_run::describe(report& r) const {
  r.skeleton = "bsp";
  r.schedule = "supersteps";
  r.results = "in_parts";
  r.tasks = member_.step();
  r.lost_ranks = lost_ranks();
  auto const& epoch = member_.epoch();
  if (auto const place = epoch.place_of(rank_)) {
    std::uint64_t const numbers[] = {entry_.key.context, entry_.key.number, epoch.number};
    xxh3_hasher hash;
    hash.update(std::as_bytes(std::span(numbers)));
    r.part = part_report{static_cast<int>(*place), epoch.members, hash.value()};
  }
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
                        entry_.key.number, entry_.key.context, member_.epoch().number, member_.step(),
                        member_.epoch().members.size(), running_ ? ", computing" : "", waits_to_stop());
}

void bsp_run::close_store(report& r) {
  if (!store_) return;
  if (!r.stopped_early) store_->complete();
  r.checkpoint = store_->costs_of_all();
}

report run_bsp(context& ctx, bsp_work& work, bsp_options const& options, bool again) {
  bsp_run run(ctx, work, options, again);
  auto r = run.execute();
  run.close_store(r);
  run.throw_if_left();
  return r;
}

}  // namespace skel::detail
