// The supersteps of a bsp call, on one compute thread: load, save and compute.
#include <type_traits>
#include <utility>
#include <variant>

#include "base/format.hpp"
#include "call/user_code.hpp"
#include "run.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

bool bsp_run::find_work(unsigned thread) {
  if (thread != 0) return false;
  if (stop_wanted()) check_stop();
  poll_store();
  if (draining_) {
    check_quiet();
    return false;
  }
  return !jobs_.empty();
}

void bsp_run::check_quiet() {
  if (!draining_ || running_ || over_) return;
  role::bsp_actions list;
  member_.quiet(list);
  perform(list);
}

void bsp_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const next = jobs_.front();
  jobs_.pop_front();
  running_ = true;
  std::visit(
      [&]<class Job>(Job const& j) {
        if (j.epoch == member_.epoch())
          do_job(j, thread, lock);
        else if constexpr (std::is_same_v<Job, save_job>)  // its epoch has ended
          tell_saved(j.generation, false);
      },
      next);
  running_ = false;
  moved_ = true;
  check_quiet();
}

// Restores the state of the epoch, from the store or from the program.
void bsp_run::do_job(restore_job const& j, unsigned /*thread*/, std::unique_lock<std::mutex>& lock) {
  auto const rank = static_cast<int>(j.place);
  auto const size = static_cast<int>(j.members);
  std::optional<std::uint64_t> step;
  std::optional<std::string> no_store;
  auto const read_part = [&](int part) {
    auto bytes = store_->read(j.generation, static_cast<std::uint32_t>(part));
    std::span<std::byte const> in(bytes);
    step = bytes::get_varint(in);
    bytes.erase(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(in.size()));
    return bytes;
  };
  std::vector<int> neighbours;
  lock.unlock();
  auto const bad = thrown_by([&] {
    neighbours = work_.neighbours(rank, size);
    if (j.generation == 0) {
      step = 0;
      return work_.begin(rank, size);
    }
    try {
      work_.load(read_part, static_cast<int>(store_->parts_of(j.generation)), rank, size);
      if (!step) read_part(0);       // split() read no part
    } catch (error const& unread) {  // an error of the store, or bytes that do not hold such a state
      no_store = unread.what();
    }
  });
  lock.lock();
  if (over_) return;
  if (bad) return fail(*bad);
  // The report shows the checkpoint of an earlier run, not the one this run returns to after a
  // loss.
  if (!no_store && is_root() && store_ && j.generation == store_->costs().restored_generation)
    store_->costs().restored_tasks = *step;
  role::bsp_actions list;
  if (no_store)
    member_.unreadable(j.epoch, *no_store, list);
  else
    member_.restored(j.epoch, *step, neighbours, list);
  perform(list);
}

// Takes the bundles for superstep `step`. There are none after a restore: they are part of the state.
// Otherwise there are at least this rank's own messages to itself, possibly empty. A member without messages
// for this rank has sent no bundle.
void bsp_run::take_bundles(std::uint64_t epoch, std::uint64_t step) {
  came_.clear();
  came_from_.clear();
  auto const at = bundles_.find({epoch, step - 1});
  if (at == bundles_.end()) return;
  came_.swap(at->second);
  spare_bundles_ = bundles_.extract(at);
  came_from_.resize(member_.members().size());
  for (auto const& b : came_)
    if (auto const place = member_.place_of(b.from)) came_from_[*place] = b.messages.bytes();
}

void bsp_run::receive_bundles() {
  if (!came_from_.empty()) work_.receive(came_from_);
}

void bsp_run::do_job(compute_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const members = static_cast<int>(member_.members().size());
  auto const place = static_cast<int>(member_.place());
  take_bundles(j.epoch, j.step);
  auto list = std::move(spare_actions_);
  if (root_role_) {
    root_role_->begins(j.epoch, j.step, store_ && store_->due(now()), list);
    if (!list.empty()) perform(list);
  }
  outgoing_.resize(member_.members().size());
  for (auto& bundle : outgoing_) bundle.clear();
  auto made = std::move(outgoing_);
  bool more = false;
  double const begin = clocks_[thread].found;
  lock.unlock();
  auto const bad = thrown_by([&] {
    receive_bundles();
    more = work_.superstep(j.step, place, members, made, loops_);
  });
  double const end = now();
  lock.lock();
  clocks_[thread].busy += end - begin;
  if (!engine_.owns_time()) clocks_.back().busy += loops_.take_seconds();
  ++clocks_[thread].tasks;
  ++supersteps_;
  span(thread, observe::activity::compute, begin, end, j.step, 1);
  if (over_ || draining_) return;
  if (bad) return fail(*bad);
  if (j.epoch != member_.epoch()) return;
  outgoing_ = std::move(made);
  if (root_role_) root_role_->on(rank_, role::bsp::bundle{j.epoch, j.step, more}, list);
  messages_for_.clear();
  for (std::uint32_t to = 0; to < outgoing_.size(); ++to)
    if (!outgoing_[to].empty()) messages_for_.push_back(to);
  member_.computed(j.epoch, more, messages_for_, list);
  perform(list);
  came_.clear();  // after its messages have been sent: others wait for them
}

// --- checkpoints

// Saves the state and messages before the next superstep. Only packing delays the computation.
void bsp_run::do_job(save_job const& j, unsigned thread, std::unique_lock<std::mutex>& lock) {
  take_bundles(j.epoch, j.step);
  deferred_bytes part;
  part.packed = store_->buffer();
  part.packed.clear();
  double const begin = now();
  lock.unlock();
  auto const bad = thrown_by([&] { receive_bundles(); });
  double const packing = now();
  if (!bad) {
    bytes::put_varint(part.packed, j.step);
    packing_may_wait const here(part);
    work_.pack_part(part.packed);
  }
  double const end = now();
  lock.lock();
  clocks_[thread].busy += end - begin;
  span(thread, observe::activity::compute, begin, end, j.step, 0);
  if (over_ || draining_) return;
  if (bad) return fail(*bad);
  if (j.epoch != member_.epoch()) return tell_saved(j.generation, false);
  auto& costs = store_->costs();
  costs.serialise_seconds += end - packing;
  costs.blocked_seconds += end - packing;
  store_->write({j.generation, j.stamp, j.parts}, j.place, std::move(part));
}

void bsp_run::tell_saved(std::uint64_t generation, bool well) {
  role::bsp_actions list;
  member_.saved(generation, well, list);
  perform(list);
}

void bsp_run::poll_store() {
  if (!store_) return;
  if (auto const w = store_->poll()) tell_saved(w->generation, w->error.empty());
  if (!root_role_) return;
  if (auto const w = store_->poll_commit()) {
    role::bsp_actions list;
    root_role_->committed(w->generation, w->error.empty(), list);
    perform(list);
  }
}

}  // namespace skel::detail
