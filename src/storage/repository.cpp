#include "skel/storage/repository.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <ranges>
#include <tuple>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/care.hpp"
#include "storage/cipher.hpp"
#include "storage/manifest.hpp"
#include "storage/part_name.hpp"
#include "storage/paths.hpp"

namespace skel::storage {

namespace {

// Runs that resume from a generation without committing a newer one before it is tried last.
constexpr std::uint64_t most_attempts = 3;

std::vector<std::string> directories_of(std::span<place const> places) {
  std::vector<std::string> all;
  all.reserve(places.size());
  for (auto const& p : places) all.push_back(p.directory);
  return all;
}

std::string what_is_lost(stored_generation const& g) {
  if (g.own_state() != condition::lost)
    return detail::format("it builds on generation {}, which is lost", g.plan.base);
  for (std::uint32_t part = 0; part < g.plan.parts; ++part) {
    auto const at = g.parts.find(part);
    if (at == g.parts.end()) return detail::format("no shards of part {}", part);
    auto const& o = at->second.object;
    if (!at->second.enough())
      return detail::format("part {}, {}: {} of {} shards found, {} needed", part, o.name,
                            at->second.shards.size(), o.code.shards(), o.code.data_shards());
  }
  return "";
}

stored_object const& usable_part(repository_options const& mine, stored_generation const& from,
                                 std::uint32_t part) {
  auto const found = from.parts.find(part);
  if (found == from.parts.end())
    throw error(detail::format("generation {}: missing all shards of part {}", from.plan.generation, part));
  check_usable(mine, found->second);
  return found->second;
}

}  // namespace

save_cost& save_cost::operator+=(save_cost const& more) {
  code += more.code;
  write += more.write;
  sync += more.sync;
  transfer += more.transfer;
  return *this;
}

repository::repository(repository_options options, report_problem report, file_system& files)
    : options_(std::move(options)), report_(std::move(report)), files_(&files) {
  if (!report_) report_ = ignore_problem;
  for (auto& p : options_.places)
    while (p.directory.size() > 1 && p.directory.ends_with('/')) p.directory.pop_back();
  if (options_.places.empty()) throw usage_error("missing directories for checkpoints");
  if (manifest::decode(manifest{options_.identity, {}, {}, {}}.encode()).identity != options_.identity)
    throw usage_error("the program's name or version is not UTF-8");
  if (options_.keep == 0) throw usage_error("generations to keep: found 0, expected at least 1");
  check_writing(options_.block_size, options_.seal_with);
  std::ignore = shard_store(options_.places, report_, *files_);  // no directory twice
}

inventory repository::here() const { return {options_, report_, *files_}; }

std::vector<stored_generation> repository::catalogue() const { return here().catalogue(); }
void repository::check_at_start() const { storage::check_at_start(here()); }
bool repository::unused() const { return is_unused(here()); }

void repository::read_own(stored_generation const& from, std::uint32_t part, byte_sink const& to) const {
  here().store.get(
      usable_part(options_, from, part), [&] { return to; }, options_.seal_with,
      shard_store::check::all_hashes);
}

std::vector<std::byte> repository::read(stored_generation const& from, std::uint32_t part,
                                        std::vector<std::byte> memory) const {
  std::vector<stored_generation const*> chain{&from};
  while (chain.back()->plan.base != 0) {
    auto const* const g = chain.back();
    if (!g->base) throw error(detail::format("generation {}: {}", g->plan.generation, what_is_lost(*g)));
    chain.push_back(g->base.get());
  }
  std::uint64_t length = 0;
  for (auto const* const g : chain) length += usable_part(options_, *g, part).object.content_length;
  auto& bytes = memory;
  bytes.clear();
  bytes.reserve(length);
  for (auto const* const g : std::views::reverse(chain))
    here().store.get(
        usable_part(options_, *g, part),
        [&bytes, before = bytes.size()]() -> byte_sink {
          bytes.resize(before);
          return [&bytes](auto some) { bytes.insert(bytes.end(), some.begin(), some.end()); };
        },
        options_.seal_with);
  return memory;
}

std::vector<stored_generation> repository::candidates() const {
  bool all_readable = true;
  auto const from = here().reporting_to([&](std::string const& problem) {
    all_readable = false;
    report_(problem);
  });
  auto all = from.catalogue();
  if (all.empty()) return all;
  refuse_others(options_, all);
  if (std::ranges::none_of(all, [&](auto const& g) { return g.id().starts_with(options_.object); }))
    throw usage_error(detail::format("{}: no checkpoint with object {}",
                                     detail::join(directories_of(options_.places), ","), options_.object));
  std::erase_if(all, [&](auto const& g) { return !from.is_mine(g); });
  if (all.empty() || (all_readable && damage_of_uncommitted(from, all) == "")) return {};
  std::erase_if(all, [&](auto const& g) {
    bool const lost = g.state() == condition::lost;
    // Several increments on one lost generation give one line.
    if (lost && (g.own_state() == condition::lost || !g.base || g.base->own_state() == condition::lost))
      report_(detail::format("generation {} is lost: {}", g.plan.generation, what_is_lost(g)));
    return lost;
  });
  all = chosen(std::move(all));
  if (all.empty())
    throw error(detail::format("{}: no generation can be restored",
                               detail::join(directories_of(options_.places), ",")));
  check_key(from, all);
  auto const worn_out = [](auto const& g) { return g.attempts >= most_attempts; };
  for (auto const& g : all)
    if (worn_out(g))
      report_(detail::format("generation {}: {} runs resumed from it without saving a newer one; tried last",
                             g.plan.generation, g.attempts));
  std::ranges::stable_partition(all, [&](auto const& g) { return !worn_out(g); });
  return all;
}

std::vector<stored_generation> repository::chosen(std::vector<stored_generation> all) const {
  auto const meant = [&](stored_generation const& g) { return g.id().starts_with(options_.object); };
  std::erase_if(all, [from = here()](auto const& g) { return !from.is_mine(g); });
  std::vector<stored_generation> left;
  for (auto const& g : all) {
    auto rivals = rivals_of(g, all);
    bool const disputed = !rivals.empty();
    if (disputed && !options_.object.empty()) {
      std::erase_if(rivals, [&](auto const& r) { return !meant(r); });
      if (!meant(g)) continue;
    }
    if (!disputed || rivals.empty()) {
      left.push_back(g);
      continue;
    }
    auto const what = detail::format("generation {} exists more than once, as objects {} and {}",
                                     g.plan.generation, g.id(), rivals.front().id());
    bool const newest =
        std::ranges::none_of(left, [](auto const& l) { return l.state() != condition::lost; });
    if (newest) throw usage_error(what + ": select one with --resume-object");
    report_(what + ": ignored");
  }
  return left;
}

void repository::note_attempt(generation_plan const& plan) const {
  auto const to = here();
  std::uint64_t most = 0;
  for (auto const& [path, name] : to.files_named<attempt_name>())
    if (name.generation == plan.generation && name.stamp == plan.stamp) most = std::max(most, name.number);
  auto const name = attempt_name{plan.generation, plan.stamp, most + 1}.file_name();
  for (auto const& p : to.places) try {
      files_->create(in_directory(p.directory, name));
      files_->sync_directory(p.directory);
    } catch (error const& bad) {
      report_(bad.what());
    }
}

std::optional<repository::restored> repository::restore() const {
  auto const all = candidates();
  if (all.empty()) return std::nullopt;
  for (auto const& g : all) {
    try {
      restored r{g, {}};
      for (std::uint32_t part = 0; part < g.plan.parts; ++part) r.parts.push_back(read(g, part));
      return r;
    } catch (usage_error const&) {
      throw;  // e.g. a missing key
    } catch (error const& bad) {
      report_(detail::format("generation {} cannot be restored: {}", g.plan.generation, bad.what()));
    }
  }
  throw error(detail::format("{}: no generation can be restored",
                             detail::join(directories_of(options_.places), ",")));
}

generation_plan repository::next(std::uint32_t parts) const {
  if (parts == 0) throw usage_error("parts of a generation: found 0, expected at least 1");
  std::uint64_t newest = 0;
  auto const from = here().reporting_to({});
  for (auto const& g : from.catalogue()) newest = std::max(newest, g.plan.generation);
  for (auto const& [path, name] : from.files_named<part_name>()) newest = std::max(newest, name.generation);
  if (newest == std::numeric_limits<std::uint64_t>::max())
    throw error(
        detail::format("{}: no generation can be newer than {}", options_.places.front().directory, newest));
  std::random_device random;
  generation_plan plan{newest + 1, 0, parts};
  while (plan.stamp == 0) plan.stamp = (std::uint64_t{random()} << 32U) | random();
  return plan;
}

save_cost repository::prepare(generation_plan const& plan, std::uint32_t part, std::string const& name,
                              std::span<std::byte const> bytes) const {
  return prepare(plan, part, name, bytes.size(), [&](byte_sink const& to) { to(bytes); });
}

save_cost repository::prepare(generation_plan const& plan, std::uint32_t part, std::string const& name,
                              std::uint64_t length, content_source const& source) const {
  if (part >= plan.parts)
    throw usage_error(detail::format("found part {1}, expected a number below {0}", plan.parts, part));
  auto const to = here();
  auto object = to.describe(plan, part, name, length);
  if (options_.seal_with) object.length = sealed_length(length);
  auto how = to.choice(plan.generation, part);
  if (has_choice(to.places, object.code.shards(), how)) {
    how.use = files_->use_of(directories_of(to.places));
    how.shard_bytes = shard_layout{shard_header{object}.encode().size(), &object}.file_bytes();
    how.parts = plan.parts;
  }
  auto const where = place_shards(to.places, object.code.shards(), how);
  save_cost cost;
  to.store.write(object, where, source, options_.seal_with, cost);
  return cost;
}

void repository::commit(generation_plan const& plan, std::optional<run_history> const& history) const {
  auto all = here().reporting_to({}).catalogue();
  auto const found = std::ranges::find(all, plan, &stored_generation::plan);
  if (found != all.end() && found->state() == condition::lost && found->own_state() != condition::lost)
    throw error(detail::format("generation {} is not committed: {}", plan.generation, what_is_lost(*found)));
  if (found == all.end() || found->own_state() == condition::lost)
    throw error(detail::format(
        "generation {} was not prepared: {} of {} parts can be restored", plan.generation,
        found == all.end()
            ? 0
            : std::ranges::count_if(found->parts, [](auto const& p) { return p.second.enough(); }),
        plan.parts));
  found->history = history;
  write_manifest(here(), *found);
}

bool repository::goes_remote(generation_plan const& plan) const {
  auto const to = here();
  return storage::goes_remote(to.places, to.choice(plan.generation));
}

bool repository::lies_in(stored_generation const& g, bool remote) const {
  return storage::lies_in(here(), g, remote);
}
void repository::remove_old(generation_plan const& plan) const { storage::remove_old(here(), plan); }
stored_generation repository::verify(stored_generation const& what, count_bytes const& progress) const {
  return storage::verify(here(), what, progress);
}
std::vector<std::string> repository::repair(stored_generation const& what,
                                            stored_generation const& whole) const {
  return storage::repair(here(), what, whole);
}
std::vector<std::string> repository::tidy(generation_plan const& plan) const {
  return storage::tidy(here(), plan);
}
std::vector<std::string> repository::remove(stored_generation const& what) const {
  return storage::remove(here(), what);
}

}  // namespace skel::storage
