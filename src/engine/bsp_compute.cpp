// The supersteps of a bsp call, on one compute thread: load, save, compute.
#include <algorithm>
#include <utility>

#include "bsp_run.hpp"
#include "skel/error.hpp"
#include "skel/protocol/bytes.hpp"
#include "user_code.hpp"
#include "values/format.hpp"

namespace skel::detail {

using kind = protocol::peer_message_kind;

bool bsp_run::find_work(unsigned thread) {
  if (thread != 0) return false;
  if (stop_wanted()) check_stop();
  poll_store();
  if (draining_) {
    check_quiet();
    return false;
  }
  return member_.has_job();
}

void bsp_run::check_quiet() {
  if (!stop_heard_ || running_ || told_stopped_ || over_) return;
  told_stopped_ = true;
  send(root_, {.kind = kind::stopped});
  deliver_own();
}

void bsp_run::compute(unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const j = member_.take_job();
  running_ = true;
  if (j->what == job::kind::load)
    load(*j, lock);
  else
    run(*j, thread, lock);
  running_ = false;
  last_moved_ = now();
  check_quiet();
}

// The state of the epoch: from the store, or from the program.
void bsp_run::load(job const& j, std::unique_lock<std::mutex>& lock) {
  auto const rank = static_cast<int>(*member_.place());
  auto const size = static_cast<int>(member_.members().size());
  std::uint64_t step = 0;
  std::optional<std::string> no_store;
  lock.unlock();
  auto const bad = thrown_by([&] {
    if (j.generation == 0) return work_.begin(rank, size);
    try {
      auto const parts = static_cast<int>(store_->parts_of(j.generation));
      work_.load(
          [&](int part) {
            auto bytes = store_->read(j.generation, static_cast<std::uint32_t>(part));
            std::span<std::byte const> in(bytes);
            step = protocol::get_varint(in);
            bytes.erase(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(in.size()));
            return bytes;
          },
          parts, rank, size);
    } catch (error const& unread) {  // of the store, or of bytes that are not such a state
      no_store = unread.what();
    }
  });
  lock.lock();
  if (over_) return;
  if (bad) return fail(*bad);
  if (no_store) return unreadable(j.epoch, *no_store);
  // The report says what an earlier run has saved, not what this one goes back to after a loss.
  if (is_root() && store_ && j.generation == store_->costs().restored_generation)
    store_->costs().restored_tasks = step;
  protocol::bsp_actions list;
  member_.loaded(j.epoch, step, list);
  perform(list);
}

void bsp_run::run(job const& j, unsigned thread, std::unique_lock<std::mutex>& lock) {
  auto const members = member_.members();
  auto const place = *member_.place();
  auto came = bundles_.extract({j.epoch, j.step - 1});  // none after load(): they are part of the state
  std::uint64_t save_after = 0;
  if (conductor_ && store_ && !saving_ && !lost_member_ && store_->due(now())) {
    saving_ = store_->plan(static_cast<std::uint32_t>(members.size()), now());
    conductor_->save(saving_->generation);
    save_after = saving_->generation;
  }
  std::vector<std::vector<std::byte>> made(members.size());
  bool more = false;
  double const begin = now();
  lock.unlock();
  auto const bad = thrown_by([&] {
    if (!came.empty()) {
      std::vector<std::span<std::byte const>> bundles;
      bundles.reserve(members.size());
      for (int const r : members) bundles.emplace_back(came.mapped().at(r));
      work_.receive(bundles);
    }
    if (j.generation > 0)
      not_of_the_user(
          [&] { save(j, static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(members.size())); });
    more = work_.superstep(j.step, static_cast<int>(place), static_cast<int>(members.size()), made);
  });
  double const end = now();
  lock.lock();
  clocks_[thread].busy += end - begin;
  ++clocks_[thread].tasks;
  ++supersteps_;
  span(thread, observe::activity::compute, begin, end, j.step, 1);
  if (over_ || draining_) return;
  if (bad) return fail(*bad);
  if (j.epoch != member_.epoch()) return;
  outgoing_ = std::move(made);
  protocol::bsp_actions list;
  member_.computed(j.epoch, more, save_after, list);
  perform(list);
}

// State and messages of the superstep that begins. Only the packing holds the computation up.
void bsp_run::save(job const& j, std::uint32_t place, std::uint32_t parts) {
  double const begin = now();
  deferred_bytes part;
  {
    std::lock_guard const lock(engine_.mutex());
    part.packed = store_->buffer();
  }
  part.packed.clear();
  protocol::put_varint(part.packed, j.step);
  {
    packing_may_wait const here(part);
    work_.pack_part(part.packed);
  }
  double const end = now();
  std::lock_guard const lock(engine_.mutex());
  if (j.epoch != member_.epoch()) return;
  auto& costs = store_->costs();
  costs.serialise_seconds += end - begin;
  costs.blocked_seconds += end - begin;
  saving_epoch_ = j.epoch;
  if (store_->writing())  // of an epoch that has ended: the root begins none before all have written
    tell_saved(j.generation, false);
  else
    store_->write({j.generation, member_.stamp(), parts}, place, std::move(part));
}

// --- checkpoints

void bsp_run::poll_store() {
  if (!store_) return;
  if (auto const w = store_->poll()) tell_saved(w->generation, w->error.empty());
  if (is_root()) static_cast<void>(store_->committed());
  restart_after_loss();
}

void bsp_run::tell_saved(std::uint64_t generation, bool well) {
  send(root_, {.kind = kind::saved, .number = saving_epoch_, .ids = {generation, well ? 1U : 0U}});
  deliver_own();
}

void bsp_run::on_saved(int from, protocol::peer_message const& m, std::span<std::byte const> body) {
  if (m.ids.size() != 2) throw protocol_error("a part that was saved as no generation");
  if (!body.empty()) costs_of_[from] = protocol::get_raw<cost>(body);
  if (m.ids[1] == 0) {
    if (!saving_ || m.ids[0] != saving_->generation) return;
    saving_.reset();
    conductor_->give_up_saving();
    ++store_->costs().failed;
    return;
  }
  if (!conductor_->saved(from, m.number, m.ids[0])) return;
  conductor_->give_up_saving();
  store_->commit(*std::exchange(saving_, std::nullopt));
}

}  // namespace skel::detail
