// What keeps a store in order: removal of old generations, verification, repair.
#include <algorithm>
#include <set>

#include "checkpoint/part_name.hpp"
#include "checkpoint/paths.hpp"
#include "checkpoint/spread.hpp"
#include "skel/checkpoint/repository.hpp"
#include "skel/error.hpp"
#include "values/format.hpp"

namespace skel::storage {

namespace {

std::vector<std::string> paths_of(stored_object const& o) {
  std::vector<std::string> paths = o.duplicates;
  for (auto const& [index, path] : o.shards) paths.push_back(path);
  return paths;
}

// The manifest first: nobody counts any more on what is being taken apart.
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

std::optional<std::size_t> repository::place_of(std::string const& path) const {
  auto const at = std::ranges::find(options_.places, directory_of(path), &place::directory);
  if (at == options_.places.end()) return std::nullopt;
  return static_cast<std::size_t>(at - options_.places.begin());
}

bool repository::is_remote(stored_generation const& g) const {
  return std::ranges::any_of(g.parts, [&](auto const& part) {
    return std::ranges::any_of(part.second.shards, [&](auto const& shard) {
      auto const at = place_of(shard.second);
      return at && options_.places[*at].remote;
    });
  });
}

void repository::remove_quietly(std::string const& path) const {
  try {
    files_->remove(path);
  } catch (error const& bad) {
    report_(bad.what());
  }
}

void repository::remove_old(generation_plan const& plan) const {
  auto const all = catalogue([](std::string const& /*told by others*/) {});
  auto const current = std::ranges::find(all, plan, &stored_generation::plan);
  if (current == all.end() || !current->manifest || current->state() == condition::lost)
    throw error(detail::format("generation {} is not committed: nothing older is removed", plan.generation));
  std::set<std::uint64_t> kept;
  bool remote_kept = false;
  auto const mine = options_.identity.hash();
  std::vector<std::string> old;
  std::set<std::string> others;
  for (auto const& g : all) {
    if (g.identity_hash != mine) {
      for (auto const& path : paths_of(g)) others.insert(path);
      continue;
    }
    bool const useful = g.state() != condition::lost;
    bool const first_remote = useful && !remote_kept && is_remote(g);
    if (g.plan.generation >= plan.generation || (useful && kept.size() < options_.keep) || first_remote) {
      if (useful) kept.insert(g.plan.generation);
      remote_kept = remote_kept || first_remote;
      continue;
    }
    auto const paths = paths_of(g);
    old.insert(old.end(), paths.begin(), paths.end());
  }
  for (auto const& path : old) remove_quietly(path);
  std::set<std::string> const gone(old.begin(), old.end());
  // Hidden files of dead writers, and what cannot be read.
  for (auto const& [path, name] : part_files())
    if (name.generation < plan.generation && (name.temporary || !kept.contains(name.generation)) &&
        !others.contains(path) && !gone.contains(path))
      remove_quietly(path);
  for (auto const& [path, name] : attempt_files())
    if (name.generation < plan.generation) remove_quietly(path);
}

stored_generation repository::verify(stored_generation const& what, count_bytes const& progress) const {
  auto const from = store(report_);
  auto result = what;
  auto const keep_whole = [&](stored_object& o) {
    try {
      auto const whole = from.verify(o, options_.computed_by, progress);
      std::erase_if(o.shards, [&](auto const& shard) { return !whole[shard.first]; });
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

std::vector<std::string> repository::repair(stored_object const& found, stored_object const& whole) const {
  std::map<std::uint32_t, std::size_t> wanted;
  std::vector<std::size_t> taken;
  for (auto const& [index, path] : whole.shards)
    if (auto const at = place_of(path)) taken.push_back(*at);
  std::vector<bool> const none_failed(options_.places.size());
  auto const& m = found.object.belongs_to;
  auto const planned = place_shards(options_.places, found.object.code.shards(),
                                    {options_.home, m.part, found.object.generation, options_.remote_every});
  for (std::uint32_t i = 0; i < found.object.code.shards(); ++i) {
    if (whole.shards.contains(i)) continue;
    auto const before = found.shards.find(i);
    auto at = before == found.shards.end() ? std::nullopt : place_of(before->second);
    if (!at) at = spare_place(options_.places, planned[i], taken, none_failed);
    wanted[i] = *at;
    taken.push_back(*at);
  }
  if (wanted.empty()) return {};
  taken.resize(taken.size() - wanted.size());
  spread shards(*files_, options_.places, report_);
  auto const from = store(report_);
  auto const written = shards.write(found.object, wanted, taken, [&](std::vector<byte_sink> const& to) {
    from.open(whole, options_.computed_by, report_)->rebuild(to);
  });
  std::vector<std::string> paths;
  for (auto const& [index, path] : written) {
    paths.push_back(path);
    auto const before = found.shards.find(index);
    if (before != found.shards.end() && before->second != path) remove_quietly(before->second);
  }
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
  for (auto const& [number, part] : whole.parts) add(repair(what.parts.at(number), part));
  if (whole.manifest)
    add(repair(*what.manifest, *whole.manifest));
  else if (whole.written_by.value_or(options_.identity).hash() == whole.identity_hash)
    add(write_manifest(whole));
  return paths;
}

}  // namespace skel::storage
