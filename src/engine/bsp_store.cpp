#include "bsp_store.hpp"

#include <chrono>
#include <utility>

#include "skel/error.hpp"
#include "values/format.hpp"

namespace skel::detail {

bsp_store::bsp_store(checkpoint_options const& options, std::uint64_t type_hash, bool quiet)
    : options_(options),
      quiet_(quiet),
      store_(store_options(options, detail::format("bsp|{}", type_hash)),
             [quiet](std::string const& problem) {
               if (!quiet) warn_of_store(problem);
             }) {}

bsp_store::~bsp_store() { wait(); }

void bsp_store::wait() {
  if (writing_.valid()) writing_.wait();
  if (committing_.valid()) committing_.wait();
}

void bsp_store::write(storage::generation_plan const& plan, std::uint32_t part,
                      std::vector<std::byte> bytes) {
  writing_ = std::async(std::launch::async, [this, plan, part, kept = std::move(bytes)]() mutable {
    done d;
    d.what.generation = plan.generation;
    d.part = std::move(kept);
    try {
      d.cost = store_.prepare(plan, part, "rank", d.part);
    } catch (std::exception const& bad) {
      d.what.error = bad.what();
    }
    return d;
  });
}

std::optional<bsp_store::written> bsp_store::poll() {
  if (!writing_.valid() || writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return {};
  auto d = writing_.get();
  costs_.code_seconds += d.cost.code;
  costs_.write_seconds += d.cost.write;
  costs_.sync_seconds += d.cost.sync;
  costs_.bytes = d.part.size();
  spare_ = std::move(d.part);
  if (!d.what.error.empty() && !quiet_) warn_of_store(d.what.error + " (the run goes on)");
  return std::move(d.what);
}

storage::stored_generation bsp_store::find(std::uint64_t generation) const {
  for (auto& g : store_.catalogue())
    if (g.plan.generation == generation && g.identity_hash == store_.options().identity.hash()) return g;
  throw error(detail::format("there is no generation {} in {}", generation, join(options_.store, ", ")));
}

std::vector<std::byte> bsp_store::read(std::uint64_t generation, std::uint32_t part) const {
  return store_.read(find(generation), part);
}

std::uint32_t bsp_store::parts_of(std::uint64_t generation) const { return find(generation).plan.parts; }

// --- the root

void bsp_store::open() {
  ask_at_start(store_, quiet_, [&](storage::repository const& store) {
    auto const where = join(options_.store, ", ");
    store.check_at_start();
    if (options_.resume) {
      auto const all = store.candidates();
      if (all.empty()) throw usage_error("there is no checkpoint to resume from in " + where);
      committed_ = all[0].plan.generation;
      store.note_attempt(all[0].plan);
    } else if (!store.catalogue().empty()) {
      throw usage_error("there is a checkpoint in " + where +
                        " already: go on with it (--resume), or empty the directories");
    }
    latest_plan_ = store.next(1);
  });
  costs_.restored_generation = committed_;
  --latest_plan_.generation;
}

std::uint64_t bsp_store::other_than(std::uint64_t bad) {
  bad_.insert(bad);
  for (auto const& g : store_.candidates())
    if (!bad_.contains(g.plan.generation)) return committed_ = g.plan.generation;
  return committed_ = 0;
}

bool bsp_store::due(double now) {
  if (latest_ == 0) latest_ = now;
  return now - latest_ >= options_.every_seconds && !committing_.valid();
}

storage::generation_plan bsp_store::plan(std::uint32_t parts, double now) {
  latest_ = now;
  ++latest_plan_.generation;
  latest_plan_.parts = parts;
  return latest_plan_;
}

void bsp_store::commit(storage::generation_plan const& plan) {
  committing_ = std::async(std::launch::async, [this, plan] {
    written w{plan.generation, {}};
    try {
      store_.commit(plan);
      store_.remove_old(plan);
    } catch (std::exception const& bad) {
      w.error = bad.what();
    }
    return w;
  });
}

void bsp_store::wait_for_commit() const {
  if (committing_.valid()) committing_.wait_for(std::chrono::seconds(2));
}

std::uint64_t bsp_store::committed() {
  if (committing_.valid() && committing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    auto const w = committing_.get();
    if (w.error.empty()) {
      committed_ = w.generation;
      ++costs_.saved;
    } else {
      ++costs_.failed;
      if (!quiet_) warn_of_store(w.error + " (the run goes on)");
    }
  }
  return committed_;
}

}  // namespace skel::detail
