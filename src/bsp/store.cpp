#include "store.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "base/format.hpp"
#include "call/timed.hpp"
#include "call/user_code.hpp"
#include "engine/engine.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

// The log of a bsp call: the stamps of its generations, one for each run; complete_mark when it has its
// result.
constexpr std::uint64_t complete_mark = 0;

std::vector<std::byte> logged(std::uint64_t stamp) {
  std::vector<std::byte> out;
  bytes::put_raw(out, stamp);
  return out;
}

}  // namespace

bsp_store::bsp_store(engine& of, checkpoint_options const& options, call_description what)
    : call_store(of, options, store_content::parts,
                 [this](auto const& plan) { return log_ && log_->is_of_another_call(plan.stamp); }),
      what_(std::move(what)) {}

// The next attempt restores in this memory.
bsp_store::~bsp_store() {
  wait();
  if (!engine_.disks().isolated()) return;
  if (writing_.valid()) packed_ = std::move(writing_.get().part.packed);
  engine_.wires().recycle(std::move(packed_));
}

void bsp_store::wait() {
  if (writing_.valid()) writing_.wait();
  if (committing_.valid()) committing_.wait();
  for (auto const& n : noting_) n.wait();
}

void bsp_store::write(storage::generation_plan const& plan, std::uint32_t part, deferred_bytes bytes) {
  done d{{plan.generation, {}}, plan, std::move(bytes), std::exchange(complete_, {})};
  auto past = interval_.history(false);
  writing_ = std::async(std::launch::async, [this, part, past, d = std::move(d)]() mutable {
    double taken = 0;
    auto const bad = thrown_by([&] {
      timed const all_of_it(taken);
      std::span<std::byte const> all(d.part.packed);
      // Without the root, which would have committed it, it serves nothing, and the next attempt waits.
      auto const content = [&](storage::byte_sink const& to) {
        constexpr std::size_t most = std::size_t{1} << 20;
        for (std::size_t at = 0; at < all.size(); at += most) {
          if (engine_.disks().isolated()) throw error("rank 0 is lost");
          to(all.subspan(at, std::min(most, all.size() - at)));
        }
      };
      if (!d.part.deferred.empty()) {
        timed const t(d.complete_seconds);
        d.part.complete(d.complete);
        all = d.complete;
      }
      d.bytes = all.size();
      d.what.cost = store_.prepare(d.plan, part, "rank", all.size(), content);
      if (d.plan.parts == 1) d.what.cost += commit_and_clear(store_, d.plan, past);
    });
    d.part.deferred.clear();
    d.what.error = bad.value_or("");
    if (bad) d.what.cost.write = taken;
    return std::move(d);
  });
}

std::optional<bsp_store::written> bsp_store::poll() {
  auto d = outcome_of(writing_);
  if (!d) return {};
  auto const& cost = d->what.cost;
  add_cost(cost);
  costs_.serialise_seconds += d->complete_seconds;
  costs_.bytes = d->bytes;
  costs_.written_bytes += d->bytes;
  packed_ = std::move(d->part.packed);
  complete_ = std::move(d->complete);
  double const taken = d->complete_seconds + cost.code + cost.write;
  if (!d->what.error.empty()) {
    interval_.not_saved(taken);
    if (!std::exchange(has_failed_, true)) report_(d->what.error + " (the run goes on)");
  } else {
    interval_.saved(taken);
    if (d->plan.parts == 1) ++costs_.saved;
  }
  return std::move(d->what);
}

storage::stored_generation const& bsp_store::find(std::uint64_t generation, std::uint64_t stamp) {
  auto const is_it = [&](auto const& g) { return g.plan.generation == generation && g.plan.stamp == stamp; };
  if (found_ && is_it(*found_)) return *found_;
  for (auto& g : store_.catalogue())
    if (is_it(g) && g.identity_hash == store_.options().identity.hash()) return found_.emplace(std::move(g));
  throw error(detail::format("no generation {} in {}", generation, join(options_.store, ", ")));
}

std::vector<std::byte> bsp_store::read(std::uint64_t generation, std::uint64_t stamp, std::uint32_t part,
                                       std::vector<std::byte> memory) {
  return store_.read(find(generation, stamp), part, std::move(memory));
}

std::uint32_t bsp_store::parts_of(std::uint64_t generation, std::uint64_t stamp) {
  return find(generation, stamp).plan.parts;
}

void bsp_store::restored(std::uint64_t step, double taken) {
  costs_.restore_seconds += taken;
  if (log_ && in_later_attempt())
    report_(detail::format("the state before superstep {} was restored in {:.2g} s", step, taken));
}

// --- the root

std::vector<storage::generation_plan> bsp_store::open(bool again, std::optional<std::uint32_t> parts) {
  log_.emplace(engine_, options_, what_);
  std::ignore = log_->open(again);
  auto& stamps = log_->stamps();
  ask_at_start([&](storage::repository const& store) {
    std::vector<storage::stored_generation> all;
    if (!stamps.empty()) all = read_back([&] { return store.candidates(); }, again);
    std::erase_if(all, [&](auto const& g) { return !stamps.contains(g.plan.stamp); });
    auto const fits = [&](auto const& g) { return !parts || g.plan.parts == *parts; };
    if (!all.empty() && !fits(all[0]) && !in_later_attempt())
      throw usage_error(detail::format(
          "the checkpoint is of {} ranks, and the program does not say how its state is split: "
          "expected {} ranks",
          all[0].plan.parts, all[0].plan.parts));
    if (in_later_attempt() && std::erase_if(all, std::not_fn(fits)) > 0 && all.empty())
      report_("the program does not say how its state is split for fewer ranks: the call starts anew");
    for (auto const& g : all) at_start_.push_back(g.plan);
    if (!all.empty()) {
      costs_.restored_generation = all[0].plan.generation;
      store.note_attempt(all[0].plan);
      if (all[0].history) interval_.resumed(*all[0].history);
    }
    stamp_ = store.next(1).stamp;
  });
  stamps.insert(stamp_);
  log_->begin_saving(logged(stamp_), stamps.contains(complete_mark));  // no part is being written now
  newest_ = store_.next(1).generation - 1;
  return at_start_;
}

void bsp_store::complete() {
  if (!log_ || log_->stamps().contains(complete_mark)) return;  // an earlier run had the result
  wait();
  log_->begin_saving(logged(complete_mark));
}

void bsp_store::act(role::bsp::fall_back const& a) {
  auto const from = a.instead > 0 ? detail::format("generation {}", a.instead) : std::string("the beginning");
  report_(detail::format("generation {} cannot be read; the run resumes from {}", a.bad, from));
  if (costs_.restored_generation != a.bad) return;
  costs_.restored_generation = a.instead;
  for (auto const& plan : at_start_)
    if (plan.generation == a.instead)
      noting_.push_back(std::async(std::launch::async, [this, plan] { store_.note_attempt(plan); }));
}

void bsp_store::pack_costs(std::vector<std::byte>& out) const {
  bytes::put_raw(out, seconds{costs_.blocked_seconds, costs_.serialise_seconds, costs_.code_seconds,
                              costs_.transfer_seconds, costs_.write_seconds, costs_.sync_seconds});
}

void bsp_store::add_costs(int rank, std::span<std::byte const> in) {
  costs_of_[rank] = bytes::get_raw<seconds>(in);
}

checkpoint_report bsp_store::costs_of_all() {
  wait();
  static_cast<void>(poll());
  static_cast<void>(poll_commit());
  auto all = costs_;
  for (auto const& [rank, c] : costs_of_) {
    auto const [blocked, serialise, code, transfer, write, sync] = c;
    all.blocked_seconds = std::max(all.blocked_seconds, blocked);
    all.serialise_seconds += serialise;
    all.code_seconds += code;
    all.transfer_seconds += transfer;
    all.write_seconds += write;
    all.sync_seconds += sync;
  }
  return all;
}

bool bsp_store::due(double now) {
  if (latest_ == 0) latest_ = start_ = now;
  interval_.ran(now - start_);
  return now - latest_ >= interval_.seconds();
}

void bsp_store::act(role::bsp::commit const& a) {
  storage::generation_plan const plan{a.generation, stamp_, a.parts};
  if (plan.parts == 1) {  // commits it together with its part
    committed_ = written{plan.generation, {}};
    return;
  }
  committing_ = std::async(std::launch::async, [this, plan, history = interval_.history(false)] {
    written w{plan.generation, {}};
    w.error = thrown_by([&] { w.cost = commit_and_clear(store_, plan, history); }).value_or("");
    return w;
  });
}

std::optional<bsp_store::written> bsp_store::poll_commit() {
  if (committed_) return std::exchange(committed_, std::nullopt);
  auto w = outcome_of(committing_);
  if (!w) return {};
  add_cost(w->cost);
  ++(w->error.empty() ? costs_.saved : costs_.failed);
  if (!w->error.empty()) report_(w->error + " (the run goes on)");
  return w;
}

}  // namespace skel::detail
