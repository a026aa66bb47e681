// Maintenance of a store: removal of old generations, verification, repair.
#include <algorithm>
#include <set>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "skel/storage/repository.hpp"
#include "storage/part_name.hpp"
#include "storage/paths.hpp"
#include "storage/shard_store.hpp"

namespace skel::storage {

namespace {

// The manifest comes first, so that a generation in removal no longer counts as committed.
std::vector<std::string> paths_of(stored_generation const& g) {
  std::vector<std::string> paths;
  auto const add = [&](stored_object const& o) {
    auto const more = paths_of(o);
    paths.insert(paths.end(), more.begin(), more.end());
  };
  if (g.manifest) add(*g.manifest);
  for (auto const& [number, part] : g.parts) add(part);
  return paths;
}

}  // namespace

bool repository::lies_in(stored_generation const& g, bool remote) const {
  auto const lies = [&](auto const& part) {
    auto const there = std::ranges::count_if(part.second.shards, [&](auto const& shard) {
      auto const at = place_of(options_.places, shard.second);
      return at && options_.places[*at].remote == remote;
    });
    return static_cast<std::size_t>(there) >= part.second.object.code.data_shards();
  };
  for (auto const* b = &g; b != nullptr; b = b->base.get())
    if (!std::ranges::all_of(b->parts, lies)) return false;
  return true;
}

void repository::remove_quietly(std::string const& path) const {
  try {
    files_->remove(path);
  } catch (error const& bad) {
    report_(bad.what());
  }
}

void repository::remove_old(generation_plan const& plan) const {
  auto const all = catalogue(ignore_problem);
  auto const current = std::ranges::find(all, plan, &stored_generation::plan);
  if (current == all.end() || !current->manifest || current->state() == condition::lost)
    throw error(detail::format("generation {} is not committed: older ones are kept", plan.generation));
  auto const id_of = [](stored_generation const& g) { return std::pair(g.plan.generation, g.plan.stamp); };
  std::set<std::pair<std::uint64_t, std::uint64_t>> staying, elsewhere;
  std::set<std::uint64_t> restorable, kept;  // numbers of those kept for themselves, and with their bases
  std::set<bool> kept_in;                    // remote places, local ones
  for (auto const& g : all) {
    if (!is_mine(g)) {  // some of its files may be damaged
      elsewhere.insert(id_of(g));
      kept.insert(g.plan.generation);
      continue;
    }
    bool const useful = g.state() != condition::lost;
    bool only_one = false;
    for (bool const remote : {false, true})
      if (useful && !kept_in.contains(remote) && lies_in(g, remote)) {
        kept_in.insert(remote);
        only_one = true;
      }
    if (g.plan.generation < plan.generation && !(useful && restorable.size() < options_.keep) && !only_one)
      continue;
    staying.insert(id_of(g));
    if (!useful) continue;
    restorable.insert(g.plan.generation);
    for (auto const* b = &g; b != nullptr; b = b->base.get()) {
      staying.insert(id_of(*b));
      kept.insert(b->plan.generation);
    }
  }
  std::vector<std::string> old;
  std::set<std::string> others;
  for (auto const& g : all) {
    auto const paths = paths_of(g);
    if (!is_mine(g))
      others.insert(paths.begin(), paths.end());
    else if (!staying.contains(id_of(g)))
      old.insert(old.end(), paths.begin(), paths.end());
  }
  for (auto const& path : old) remove_quietly(path);
  std::set<std::string> const gone(old.begin(), old.end());
  // Hidden files of dead writers, and unreadable files. Others may be writing objects of other names.
  std::set<std::string> names{"manifest"};
  for (auto const& [number, part] : current->parts) names.insert(part.object.name);
  for (auto const& [path, name] : part_files())
    if (name.generation < plan.generation && names.contains(name.object) &&
        (name.temporary || !kept.contains(name.generation)) && !others.contains(path) && !gone.contains(path))
      remove_quietly(path);
  for (auto const& [path, name] : attempt_files())
    if (name.generation < plan.generation && !elsewhere.contains({name.generation, name.stamp}))
      remove_quietly(path);
}

stored_generation repository::verify(stored_generation const& what, count_bytes const& progress) const {
  auto const from = store(report_);
  auto result = what;
  auto const keep_whole = [&](stored_object& o) {
    try {
      o = from.verify(o, progress);
      return true;
    } catch (error const& bad) {
      report_(bad.what());
      return false;
    }
  };
  if (result.manifest && !keep_whole(*result.manifest)) result.manifest.reset();
  for (auto part = result.parts.begin(); part != result.parts.end();)
    part = keep_whole(part->second) ? std::next(part) : result.parts.erase(part);
  return result;
}

std::vector<std::string> repository::tidy(generation_plan const& plan) const {
  auto const all = catalogue(ignore_problem);
  auto const current = std::ranges::find(all, plan, &stored_generation::plan);
  if (current == all.end() || current->state() != condition::whole)
    throw error(detail::format("generation {} is not whole: nothing is removed", plan.generation));
  std::vector<std::string> removed;
  auto const add = [&](std::vector<std::string> const& more) {
    removed.insert(removed.end(), more.begin(), more.end());
  };
  auto from = store(report_);
  auto const others = current->manifest ? shard_store::others::all : shard_store::others::lost;
  for (auto const& [number, part] : current->parts) add(from.tidy(part, others));
  if (current->manifest) add(from.tidy(*current->manifest));
  for (auto const& g : all) {
    bool const same_number =
        g.plan.generation == plan.generation && g.identity_hash == current->identity_hash;
    if (!same_number || g.plan == plan || g.state() != condition::lost) continue;
    add(remove(g));
  }
  return removed;
}

std::vector<std::string> repository::remove(stored_generation const& what) const {
  auto paths = paths_of(what);
  for (auto const& path : paths) remove_quietly(path);
  return paths;
}

std::vector<std::string> repository::repair(stored_generation const& what,
                                            stored_generation const& whole) const {
  if (whole.state() == condition::lost)
    throw error(detail::format("generation {} is lost: it cannot be repaired", what.plan.generation));
  std::vector<std::string> paths;
  auto const add = [&](std::vector<std::string> const& more) {
    paths.insert(paths.end(), more.begin(), more.end());
  };
  auto const rewrite = [&, from = store(report_)](stored_object const& found, stored_object const& good) {
    auto const part = found.object.belongs_to.part;
    add(from.repair(found, good, {options_.home, part, what.plan.generation, options_.remote_every}));
  };
  for (auto const& [number, part] : whole.parts) rewrite(what.parts.at(number), part);
  if (whole.manifest)
    rewrite(*what.manifest, *whole.manifest);
  else if (whole.written_by.value_or(options_.identity).hash() == whole.identity_hash &&
           rivals_of(whole, catalogue(ignore_problem)).empty())  // manifests of rivals have the same names
    add(write_manifest(whole));
  return paths;
}

}  // namespace skel::storage
