#include "storage/catalogue.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/manifest.hpp"
#include "storage/part_name.hpp"
#include "storage/paths.hpp"

namespace skel::storage {

namespace {

// The values that all shards of a generation share.
struct generation_key {
  std::uint64_t generation, stamp, identity;
  std::uint32_t parts;
  std::uint64_t base, base_stamp;
  friend auto operator<=>(generation_key const&, generation_key const&) = default;
};

using candidates = std::map<generation_key, std::vector<stored_object>>;

manifest read_manifest(shard_store const& store, stored_object const& from) {
  if (from.object.content_length > longest_manifest) throw error("not a manifest: too long");
  std::string text;
  store.get(from, [&]() -> byte_sink {
    text.clear();
    return [&](auto bytes) { text.append(reinterpret_cast<char const*>(bytes.data()), bytes.size()); };
  });
  return manifest::decode(text);
}

// If two objects claim to be the same part, the manifest decides. Without a manifest, the part is
// the only object that can be restored; if both can be, the part is omitted, because nothing
// distinguishes them.
stored_generation assemble(generation_key const& key, std::vector<stored_object> const& objects,
                           shard_store const& store, report_problem const& report) {
  stored_generation g;
  g.plan = {key.generation, key.stamp, key.parts, key.base, key.base_stamp};
  g.identity_hash = key.identity;
  std::optional<manifest> says;
  for (auto const& o : objects) {
    if (o.object.belongs_to.part != key.parts || says) continue;
    try {
      auto m = read_manifest(store, o);
      if (m.plan != g.plan || m.identity.hash() != key.identity)
        throw error("not a manifest: belongs to another generation");
      says = std::move(m);
      g.manifest = o;
      g.written_by = says->identity;
      g.history = says->history;
    } catch (error const& bad) {
      report(detail::format("{}: {}", o.shards.begin()->second, bad.what()));
    }
  }
  for (auto const& o : objects) {
    auto const part = o.object.belongs_to.part;
    if (part == key.parts) continue;
    if (says && says->parts.at(part).hash != o.hash) {
      report(detail::format("{}: not the committed part of generation {}", o.shards.begin()->second,
                            key.generation));
    } else if (!says && !rivals_of(o, objects).empty()) {
      report(detail::format("{}: part {} of generation {} exists twice with different data; ignored",
                            o.shards.begin()->second, part, key.generation));
    } else {
      g.parts.emplace(part, o);
    }
  }
  return g;
}

// Finds the base of each generation; `all` is sorted, the newest first.
void link_bases(std::vector<stored_generation>& all) {
  std::map<std::size_t, std::shared_ptr<stored_generation const>> bases;
  for (auto i = all.size(); i-- > 0;) {
    auto& g = all[i];
    if (g.plan.base == 0) continue;
    auto const base =
        std::find_if(all.begin() + static_cast<std::ptrdiff_t>(i), all.end(), [&](auto const& b) {
          return b.plan.generation == g.plan.base && b.plan.stamp == g.plan.base_stamp &&
                 b.plan.parts == g.plan.parts && b.identity_hash == g.identity_hash;
        });
    if (base == all.end()) continue;
    auto& shared = bases[static_cast<std::size_t>(base - all.begin())];
    if (!shared) shared = std::make_shared<stored_generation const>(*base);
    g.base = shared;
  }
}

}  // namespace

std::vector<stored_generation> generations_of(std::vector<stored_object> const& objects,
                                              shard_store const& store, report_problem const& report) {
  candidates found;
  for (auto const& o : objects) {
    auto const& m = o.object.belongs_to;
    if (m.parts == 0) continue;
    found[{o.object.generation, m.stamp, m.identity, m.parts, m.base, m.base_stamp}].push_back(o);
  }
  std::vector<stored_generation> all;
  all.reserve(found.size());
  for (auto const& [key, parts] : found) all.push_back(assemble(key, parts, store, report));
  std::ranges::stable_sort(all, [](auto const& a, auto const& b) {
    return std::tuple(a.plan.generation, a.manifest.has_value(), a.plan.stamp) >
           std::tuple(b.plan.generation, b.manifest.has_value(), b.plan.stamp);
  });
  link_bases(all);
  return all;
}

inventory::inventory(repository_options const& of, report_problem receiver, file_system& where)
    : options(of),
      report(receiver ? std::move(receiver) : ignore_problem),
      files(where),
      places([&] {
        auto all = of.places;
        std::erase_if(all, [&](place const& p) { return where.gone(p.directory); });
        return all;
      }()),
      store(places, report, where, default_kernel()) {}

std::vector<stored_generation> inventory::catalogue() const {
  auto all = generations_of(store.scan(), store, report);
  for (auto const& [path, name] : files_named<attempt_name>())
    for (auto& g : all)
      if (name.generation == g.plan.generation && name.stamp == g.plan.stamp)
        g.attempts = std::max(g.attempts, name.number);
  return all;
}

template <class Name>
std::vector<std::pair<std::string, Name>> inventory::files_named() const {
  std::vector<std::pair<std::string, Name>> all;
  for (auto const& p : places) try {
      for (auto const& file_name : files.list(p.directory))
        if (auto const name = Name::parse(file_name))
          all.emplace_back(in_directory(p.directory, file_name), *name);
    } catch (error const&) {  // NOLINT(bugprone-empty-catch): catalogue() reports it
    }
  return all;
}
template std::vector<std::pair<std::string, part_name>> inventory::files_named() const;
template std::vector<std::pair<std::string, attempt_name>> inventory::files_named() const;

bool inventory::is_mine(stored_generation const& g) const {
  return g.identity_hash == options.identity.hash() &&
         !(options.ignored.generations && options.ignored.generations(g.plan));
}

object_info inventory::describe(generation_plan const& plan, std::uint32_t part, std::string const& name,
                                std::uint64_t length) const {
  object_info o{name, plan.generation, options.code, length, length, options.block_size};
  o.belongs_to = {plan.stamp, options.identity.hash(), part, plan.parts, options.machine,
                  plan.base,  plan.base_stamp};
  return o;
}

void inventory::remove(std::string const& path) const {
  try {
    files.remove(path);
  } catch (error const& bad) {
    report(bad.what());
  }
}

}  // namespace skel::storage
