#include "storage/care.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/manifest.hpp"
#include "storage/part_name.hpp"
#include "storage/spread.hpp"

namespace skel::storage {

namespace {

// The manifest comes first, so that a generation in removal no longer counts as committed.
std::vector<std::string> paths_of(stored_generation const& g) {
  std::vector<std::string> paths;
  auto const add = [&](stored_object const& o) { std::ranges::copy(paths_of(o), std::back_inserter(paths)); };
  if (g.manifest) add(*g.manifest);
  for (auto const& [number, part] : g.parts) add(part);
  return paths;
}

constexpr std::size_t most_manifests = 256;

using generation_id = std::pair<std::uint64_t, std::uint64_t>;
generation_id id_of(stored_generation const& g) { return {g.plan.generation, g.plan.stamp}; }

// The generations that stay when those before number `newest` are removed.
struct staying {
  std::set<generation_id> mine, of_others;
  std::set<std::uint64_t> numbers;
};

staying what_stays(inventory const& here, std::vector<stored_generation> const& all, std::uint64_t newest) {
  staying s;
  std::set<std::uint64_t> restorable;  // numbers of those kept for themselves
  std::set<bool> kept_in;              // remote places, local ones
  for (auto const& g : all) {
    if (!here.is_mine(g)) {  // some of its files may be damaged
      s.of_others.insert(id_of(g));
      s.numbers.insert(g.plan.generation);
      continue;
    }
    bool const useful = g.state() != condition::lost;
    bool only_one = false;
    for (bool const remote : {false, true})
      if (useful && !kept_in.contains(remote) && lies_in(here, g, remote)) {
        kept_in.insert(remote);
        only_one = true;
      }
    if (g.plan.generation < newest && !(useful && restorable.size() < here.options.keep) && !only_one)
      continue;
    s.mine.insert(id_of(g));
    if (!useful) continue;
    restorable.insert(g.plan.generation);
    for (auto const* b = &g; b != nullptr; b = b->base.get()) {
      s.mine.insert(id_of(*b));
      s.numbers.insert(b->plan.generation);
    }
  }
  return s;
}

}  // namespace

bool lies_in(inventory const& here, stored_generation const& g, bool remote) {
  auto const lies = [&](auto const& part) {
    auto const there = std::ranges::count_if(part.second.shards, [&](auto const& shard) {
      auto const at = place_of(here.places, shard.second);
      return at && here.places[*at].remote == remote;
    });
    return static_cast<std::size_t>(there) >= part.second.object.code.data_shards();
  };
  for (auto const* b = &g; b != nullptr; b = b->base.get())
    if (!std::ranges::all_of(b->parts, lies)) return false;
  return true;
}

void remove_old(inventory const& here, generation_plan const& plan) {
  auto const all = here.reporting_to({}).catalogue();
  auto const current = std::ranges::find(all, plan, &stored_generation::plan);
  if (current == all.end() || !current->manifest || current->state() == condition::lost)
    throw error(detail::format("generation {} is not committed: older ones are kept", plan.generation));
  auto const stays = what_stays(here, all, plan.generation);
  std::vector<std::string> old;
  std::set<std::string> others;
  for (auto const& g : all) {
    auto const paths = paths_of(g);
    if (!here.is_mine(g))
      others.insert(paths.begin(), paths.end());
    else if (!stays.mine.contains(id_of(g)))
      old.insert(old.end(), paths.begin(), paths.end());
  }
  for (auto const& path : old) here.remove(path);
  std::set<std::string> const gone(old.begin(), old.end());
  // Hidden files of dead writers, and unreadable files. Others may be writing objects of other names.
  std::set<std::string> names{"manifest"};
  for (auto const& [number, part] : current->parts) names.insert(part.object.name);
  for (auto const& [path, name] : here.files_named<part_name>())
    if (name.generation < plan.generation && names.contains(name.object) &&
        (name.temporary || !stays.numbers.contains(name.generation)) && !others.contains(path) &&
        !gone.contains(path))
      here.remove(path);
  for (auto const& [path, name] : here.files_named<attempt_name>())
    if (name.generation < plan.generation && !stays.of_others.contains({name.generation, name.stamp}))
      here.remove(path);
}

stored_generation verify(inventory const& here, stored_generation const& what, count_bytes const& progress) {
  auto result = what;
  auto const keep_whole = [&](stored_object& o) {
    try {
      o = here.store.verify(o, progress);
      return true;
    } catch (error const& bad) {
      here.report(bad.what());
      return false;
    }
  };
  if (result.manifest && !keep_whole(*result.manifest)) result.manifest.reset();
  for (auto part = result.parts.begin(); part != result.parts.end();)
    part = keep_whole(part->second) ? std::next(part) : result.parts.erase(part);
  return result;
}

std::vector<std::string> tidy(inventory const& here, generation_plan const& plan) {
  auto const all = here.reporting_to({}).catalogue();
  auto const current = std::ranges::find(all, plan, &stored_generation::plan);
  if (current == all.end() || current->state() != condition::whole)
    throw error(detail::format("generation {} is not whole: nothing is removed", plan.generation));
  std::vector<std::string> removed;
  auto const add = [&](std::vector<std::string> const& more) {
    removed.insert(removed.end(), more.begin(), more.end());
  };
  auto const others = current->manifest ? shard_store::others::all : shard_store::others::lost;
  for (auto const& [number, part] : current->parts) add(here.store.tidy(part, others));
  if (current->manifest) add(here.store.tidy(*current->manifest));
  for (auto const& g : all) {
    bool const same_number =
        g.plan.generation == plan.generation && g.identity_hash == current->identity_hash;
    if (!same_number || g.plan == plan || g.state() != condition::lost) continue;
    add(remove(here, g));
  }
  return removed;
}

std::vector<std::string> remove(inventory const& here, stored_generation const& what) {
  auto paths = paths_of(what);
  for (auto const& path : paths) here.remove(path);
  return paths;
}

std::vector<std::string> repair(inventory const& here, stored_generation const& what,
                                stored_generation const& whole) {
  if (whole.state() == condition::lost)
    throw error(detail::format("generation {} is lost: it cannot be repaired", what.plan.generation));
  std::vector<std::string> paths;
  auto const add = [&](std::vector<std::string> const& more) {
    paths.insert(paths.end(), more.begin(), more.end());
  };
  auto const rewrite = [&](stored_object const& found, stored_object const& good) {
    auto const part = found.object.belongs_to.part;
    add(here.store.repair(found, good, here.choice(what.plan.generation, part)));
  };
  for (auto const& [number, part] : whole.parts) rewrite(what.parts.at(number), part);
  if (whole.manifest)
    rewrite(*what.manifest, *whole.manifest);
  else if (whole.written_by.value_or(here.options.identity).hash() == whole.identity_hash &&
           rivals_of(whole, here.reporting_to({}).catalogue())
               .empty())  // manifests of rivals have the same names
    add(write_manifest(here, whole));
  return paths;
}

std::vector<std::string> write_manifest(inventory const& here, stored_generation const& of) {
  manifest m{of.written_by.value_or(here.options.identity), of.plan, {}, of.history};
  for (auto const& [number, p] : of.parts) {
    m.parts.push_back(
        {p.object.name, p.object.content_length, p.hash, std::vector<std::string>(p.object.code.shards())});
    for (auto const& [index, path] : p.shards) m.parts.back().shards[index] = path;
  }
  auto const& places = here.places;
  bool const remote = goes_remote(places, here.choice(of.plan.generation));
  std::map<std::uint32_t, std::size_t> wanted;
  for (std::size_t i = 0; i < places.size() && wanted.size() < most_manifests; ++i)
    if (places[i].remote == remote) wanted[static_cast<std::uint32_t>(wanted.size())] = i;
  auto const text = m.encode();
  auto const bytes = std::as_bytes(std::span(text));
  auto object = here.describe(of.plan, of.plan.parts, "manifest", bytes.size());
  object.code = code(detail::format("replicate:{}", wanted.size()));
  object.belongs_to.identity = of.identity_hash;
  object.belongs_to.machine = of.parts.begin()->second.object.belongs_to.machine;
  spread copies(here.files, places, here.report);
  auto const written = copies.try_write(object, wanted, [&](std::vector<byte_sink> const& to) {
    object_writer w(object, to, default_kernel());
    w.write(bytes);
    w.finish();
  });
  if (2 * written.size() <= wanted.size())
    throw error(detail::format(
        "generation {} is not committed: {} of {} directories stored its manifest, expected at least {}",
        of.plan.generation, written.size(), wanted.size(), wanted.size() / 2 + 1));
  std::vector<std::string> paths;
  paths.reserve(written.size());
  for (auto const& [index, path] : written) paths.push_back(path);
  return paths;
}

}  // namespace skel::storage
