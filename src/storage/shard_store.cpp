#include "storage/shard_store.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/paths.hpp"
#include "storage/spread.hpp"

namespace skel::storage {

namespace {

constexpr std::string_view shard_ending = ".shard";

// Whether `o` is another object in the place of `p`.
bool is_other(stored_object const& o, stored_object const& p) {
  auto const &a = o.object, &b = p.object;
  return a.name == b.name && a.generation == b.generation && a.belongs_to == b.belongs_to &&
         (a != b || o.hash != p.hash);
}

// A directory may have two names.
bool same_file(std::string const& a, std::string const& b) {
  std::error_code not_here;
  return std::filesystem::equivalent(a, b, not_here);
}

// A shard without a footer does not know its object's hash, which covers the blocks of the data
// shards. Only a copy of the data can compute it, if all of its blocks are good.
std::optional<hash128> computed_hash(shard_reader& shard) {
  auto const& o = shard.header().object;
  if (o.code.data_shards() != 1) return std::nullopt;
  auto const first = hash_of(shard_header{o, 0}.encode());
  skel::xxh3_128_hasher all;
  block_hasher hasher;
  stripe_buffer block(o.stripes() == 0 ? 0 : o.block_bytes(0));
  for (std::uint64_t stripe = 0; stripe < o.stripes(); ++stripe) {
    if (!shard.read_block(stripe, block.data())) return std::nullopt;
    all.update(hasher(first, stripe, {block.data(), o.block_bytes(stripe)}));
  }
  return all.value();
}

void add_shard(stored_object& to, shard_reader const& shard) {
  if (!to.shards.emplace(shard.header().index, shard.path()).second)
    to.duplicates.push_back(shard.path());
  else if (!shard.defect().empty())
    ++to.damaged;
}

void add_paths(stored_object const& o, std::set<std::string>& to) {
  for (auto& path : paths_of(o)) to.insert(std::move(path));
}

}  // namespace

void check_writing(std::uint32_t block_size, std::optional<key> const& seal_with) {
  if (block_size == 0 || block_size > largest_block)
    throw usage_error(
        detail::format("block size: expected 1 to {} bytes, found {}", largest_block, block_size));
  if (seal_with && !can_seal())
    throw usage_error(
        "a key was given, but this skel was built without libsodium (on Debian: libsodium-dev)");
}

std::vector<place> places_in(std::vector<std::string> const& directories) {
  std::vector<place> places;
  places.reserve(directories.size());
  for (auto const& d : directories) places.push_back({d, "", false});
  return places;
}

std::optional<std::size_t> place_of(std::span<place const> places, std::string const& path) {
  auto const at = std::ranges::find(places, directory_of(path), &place::directory);
  if (at == places.end()) return std::nullopt;
  return static_cast<std::size_t>(at - places.begin());
}

std::vector<std::string> paths_of(stored_object const& o) {
  std::vector<std::string> paths = o.duplicates;
  for (auto const& [index, path] : o.shards) paths.push_back(path);
  return paths;
}

std::string stored_object::id() const {
  std::string text;
  for (auto const b : std::span(hash).first(8)) text += detail::format("{:02x}", std::to_integer<int>(b));
  return text;
}

std::vector<stored_object> rivals_of(stored_object const& o, std::vector<stored_object> const& found) {
  std::vector<stored_object> rivals;
  if (!o.enough()) return rivals;
  std::ranges::copy_if(found, std::back_inserter(rivals),
                       [&](auto const& other) { return is_other(other, o) && other.enough(); });
  return rivals;
}

shard_store::shard_store(std::vector<place> places, report_problem report, file_system& files,
                         kernel computed_by)
    : places_(std::move(places)), report_(std::move(report)), files_(&files), computed_by_(computed_by) {
  if (!report_) report_ = ignore_problem;
  std::set<std::string> seen;
  for (auto& [d, host, remote] : places_) {
    while (d.size() > 1 && d.ends_with('/')) d.pop_back();
    if (d.empty()) throw usage_error("empty directory name");
    std::error_code not_here;  // also set for directories of another host
    auto const real = std::filesystem::canonical(d, not_here).string();
    if (!seen.insert(real.empty() ? d : real).second)
      throw usage_error(detail::format("{}: given twice, expected different directories", d));
  }
}

std::vector<stored_object> shard_store::scan(std::optional<std::string> const& name) const {
  return scan(name, report_);
}

std::vector<stored_object> shard_store::scan(std::optional<std::string> const& name,
                                             report_problem const& report) const {
  std::vector<stored_object> found;
  std::vector<std::string> without_footer;
  for (auto const& [directory, host, remote] : places_) {
    std::vector<std::string> names;
    try {
      names = files_->list(directory);
    } catch (error const& bad) {
      report(bad.what());
      continue;
    }
    for (auto const& file_name : names) {
      if (!file_name.ends_with(shard_ending) || file_name.starts_with('.')) continue;
      try {
        shard_reader const shard(*files_, in_directory(directory, file_name), report);
        auto const& header = shard.header();
        if (name && header.object.name != *name) continue;
        if (!shard.defect().empty()) shard.report(shard.defect());
        if (!shard.has_footer()) {
          without_footer.push_back(shard.path());
          continue;
        }
        auto const same = std::ranges::find_if(found, [&](auto const& o) {
          return o.object == header.object && o.hash == shard.footer().object;
        });
        auto& object = same != found.end() ? *same : found.emplace_back();
        object.object = header.object;
        object.hash = shard.footer().object;
        add_shard(object, shard);
      } catch (error const& bad) {
        report(bad.what());
      }
    }
  }
  add_without_footer(without_footer, found, report);
  std::ranges::stable_sort(found, [](auto const& a, auto const& b) {
    return std::tuple(a.object.name, b.object.generation, b.shards.size()) <
           std::tuple(b.object.name, a.object.generation, a.shards.size());
  });
  return found;
}

// Such a shard belongs to the only object with its header. If there are several, nothing says to which.
void shard_store::add_without_footer(std::vector<std::string> const& paths, std::vector<stored_object>& found,
                                     report_problem const& report) const {
  for (auto const& path : paths) try {
      shard_reader shard(*files_, path, report);
      auto const has_header = [&](stored_object const& o) { return o.object == shard.header().object; };
      auto const object = std::ranges::find_if(found, has_header);
      if (object == found.end()) {
        auto const hash = computed_hash(shard);
        if (!hash) continue;
        found.push_back({shard.header().object, *hash, {}, {}});
        add_shard(found.back(), shard);
      } else if (std::ranges::count_if(found, has_header) == 1) {
        add_shard(*object, shard);
      }
    } catch (error const& bad) {
      report(bad.what());
    }
}

stored_object shard_store::write(object_info object, std::vector<std::size_t> const& where,
                                 content_source const& source, std::optional<key> const& seal_with,
                                 save_cost& cost) const {
  auto content = source;
  std::vector<std::byte> cipher;
  bool const moves = object.belongs_to.parts != 0;
  if (seal_with) {
    object.sealed = sealing::xchacha20_poly1305;
    object.length = sealed_length(object.content_length);
    content = [&](byte_sink const& to) {
      sealer s(*seal_with, object, to);
      source([&](auto piece) { s.write(piece); });
      s.finish();
    };
    if (moves) {  // may be read twice, and sealing the same bytes again would give others
      cipher.reserve(object.length);
      content([&](auto piece) { cipher.insert(cipher.end(), piece.begin(), piece.end()); });
      content = [&](byte_sink const& to) { to(cipher); };
    }
  }
  std::map<std::uint32_t, std::size_t> wanted;
  for (std::uint32_t i = 0; i < where.size(); ++i) wanted[i] = where[i];
  spread shards(*files_, places_, report_, moves);
  stored_object made;
  made.shards = shards.write(object, wanted, {}, [&](std::vector<byte_sink> const& to) {
    object_writer w(object, to, computed_by_);
    content([&](auto some) { w.write(some); });
    w.finish();
    made.hash = w.object_hash();
  });
  made.object = std::move(object);
  cost += shards.cost();
  return made;
}

stored_object shard_store::put(std::string const& name, code const& how, std::uint64_t length,
                               content_source const& source, put_options const& options) const {
  object_info::check_name(name);
  if (places_.size() != how.shards())
    throw usage_error(detail::format("{} makes {} shards, expected one directory each, found {}",
                                     how.to_string(), how.shards(), places_.size()));
  check_writing(options.block_size, options.seal_with);
  // Defects of directories are reported when they are written to.
  auto const before = scan(name, ignore_problem);
  auto const newest = before.empty() ? 0 : before.front().object.generation;
  auto const generation = options.generation.value_or(newest + 1);
  for (auto const& o : before)
    if (o.object.generation == generation)
      throw usage_error(detail::format("{}: generation {} exists already", name, generation));
  std::vector<std::size_t> where(places_.size());
  std::iota(where.begin(), where.end(), 0);
  try {
    save_cost cost;
    return write({name, generation, how, length, length, options.block_size}, where, source,
                 options.seal_with, cost);
  } catch (std::length_error const&) {
    throw error(detail::format("{}: length changed while it was read", name));
  }
}

std::unique_ptr<object_reader> shard_store::open(stored_object const& what, report_problem const& report,
                                                 check before) const {
  std::vector<std::unique_ptr<shard_reader>> shards;
  for (auto const& [index, path] : what.shards) {
    try {
      auto s = std::make_unique<shard_reader>(*files_, path, report);
      if (!s->has_footer()) s->belongs_to(what.hash);
      if (before == check::all_hashes) s->check_hashes();
      if (s->header() == shard_header{what.object, index} && s->footer().object == what.hash)
        shards.push_back(std::move(s));
      else
        report(detail::format("{}: replaced during the operation", path));
    } catch (error const& bad) {
      report(bad.what());
    }
  }
  if (shards.size() < what.object.code.data_shards())
    throw error(detail::format("{}, generation {}: {} of {} shards are readable, {} needed", what.object.name,
                               what.object.generation, shards.size(), what.object.code.shards(),
                               what.object.code.data_shards()));
  return std::make_unique<object_reader>(std::move(shards), computed_by_);
}

void shard_store::get(stored_object const& what, std::function<byte_sink()> const& begin,
                      std::optional<key> const& with, check before) const {
  auto const& o = what.object;
  bool const is_sealed = o.sealed != sealing::none;
  if (is_sealed && !with)
    throw usage_error(detail::format("{}, generation {}: encrypted, missing key", o.name, o.generation));
  if (with && !is_sealed)
    throw error(
        detail::format("{}, generation {}: not encrypted, but a key was given", o.name, o.generation));
  auto const read = [&](object_reader& from) {
    auto const to = begin();
    if (!is_sealed) return from.read(to);
    opener opened(*with, o, to);
    from.read([&](auto bytes) { opened.write(bytes); });
    opened.finish();
  };
  try {
    read(*open(what, report_, before));
  } catch (usage_error const&) {
    throw;
  } catch (error const&) {
    if (before == check::all_hashes) throw;
    auto const checked = open(what, ignore_problem, check::all_hashes);
    if (!checked->has_suspect()) throw;
    read(*checked);
  }
}

stored_object shard_store::verify(stored_object const& what, count_bytes const& progress) const {
  for (auto const& path : what.duplicates) report_(detail::format("{}: second copy of a shard", path));
  for (std::uint32_t i = 0; i < what.object.code.shards(); ++i)
    if (!what.shards.contains(i))
      report_(detail::format("{}, generation {}: shard {} is missing", what.object.name,
                             what.object.generation, i));
  auto const whole = open(what, report_)->verify(progress);
  auto result = what;
  std::erase_if(result.shards, [&](auto const& shard) { return !whole[shard.first]; });
  result.damaged = 0;
  return result;
}

std::map<std::uint32_t, std::size_t> shard_store::places_for_missing(stored_object const& found,
                                                                     stored_object const& whole,
                                                                     placement_choice const& how) const {
  auto const& o = found.object;
  auto const kept = occupied(found);
  auto const planned = place_shards(places_, o.code.shards(), how);
  std::vector<std::size_t> taken;
  for (auto const& [index, path] : found.shards)
    if (auto const at = place_of(places_, path)) taken.push_back(*at);
  std::map<std::uint32_t, std::size_t> wanted;
  for (std::uint32_t i = 0; i < o.code.shards(); ++i) {
    if (whole.shards.contains(i)) continue;
    auto const before = found.shards.find(i);
    auto const is_kept = [&](place const& p) {
      auto const path = in_directory(p.directory, shard_header{o, i}.file_name());
      return kept.contains(path) && (before == found.shards.end() || before->second != path);
    };
    auto at = before == found.shards.end() ? std::nullopt : place_of(places_, before->second);
    if (!at || is_kept(places_[*at])) {
      std::vector<bool> barred;
      for (std::size_t p = 0; p < places_.size(); ++p)
        barred.push_back(is_kept(places_[p]) ||
                         (o.belongs_to.parts == 0 && std::ranges::find(taken, p) != taken.end()));
      at = spare_place(places_, planned[i], taken, barred);
      if (!at)
        throw usage_error(detail::format(
            "{}{}: no directory left for shard {}; give another", o.name,
            o.belongs_to.parts == 0 ? "" : detail::format(", generation {}", o.generation), i));
      taken.push_back(*at);
    }
    wanted[i] = *at;
  }
  return wanted;
}

std::vector<std::string> shard_store::repair(stored_object const& found, stored_object const& whole,
                                             placement_choice const& how) const {
  std::vector<std::size_t> taken;
  for (auto const& [index, path] : whole.shards)
    if (auto const at = place_of(places_, path)) taken.push_back(*at);
  spread shards(*files_, places_, report_, found.object.belongs_to.parts != 0);
  auto const written = shards.write(found.object, places_for_missing(found, whole, how), std::move(taken),
                                    [&](std::vector<byte_sink> const& to) {
                                      open(found, ignore_problem)->rebuild(to);  // verify() reported it
                                    });
  std::vector<std::string> paths;
  for (auto const& [index, path] : written) {
    paths.push_back(path);
    auto const before = found.shards.find(index);
    if (before == found.shards.end() || before->second == path) continue;
    try {
      files_->remove(before->second);  // a copy under another name
    } catch (error const& bad) {
      report_(bad.what());
    }
  }
  return paths;
}

std::set<std::string> shard_store::occupied(stored_object const& what) const {
  std::set<std::string> paths;
  for (auto const& [index, path] : what.shards) paths.insert(path);
  for (auto const& o : scan(what.object.name, ignore_problem))
    if (o.object.generation == what.object.generation && o.hash != what.hash && o.enough())
      add_paths(o, paths);
  return paths;
}

// Selects among several copies of a shard the one whose directory holds the fewest other shards of
// the object.
stored_object shard_store::best_copies(stored_object const& what) const {
  auto best = what;
  best.duplicates.clear();
  for (auto const& path : what.duplicates) {
    auto& kept = best.shards.at(shard_reader(*files_, path, ignore_problem).header().index);
    auto const others_beside = [&](std::string const& copy) {
      return std::ranges::count_if(best.shards, [&](auto const& shard) {
        return shard.second != kept && directory_of(shard.second) == directory_of(copy);
      });
    };
    if (others_beside(path) < others_beside(kept)) kept = path;
  }
  return best;
}

std::vector<std::string> shard_store::tidy(stored_object const& what, others which) const {
  std::set<std::string> rubbish;
  auto const all = scan(what.object.name, ignore_problem);
  for (auto const& o : all)
    if (is_other(o, what) && (which == others::all || !o.enough())) add_paths(o, rubbish);
  auto const current = std::ranges::find_if(
      all, [&](auto const& o) { return o.object == what.object && o.hash == what.hash; });
  if (rivals_of(what, all).empty())
    for (auto const& path : unreadable(what, all)) try {
        std::ignore = files_->open(path);
        rubbish.insert(path);
      } catch (error const&) {  // NOLINT(bugprone-empty-catch): kept, and reported by the caller
      }
  if (current == all.end() || (rubbish.empty() && current->duplicates.empty())) return {};

  auto const is_whole = [&](stored_object const& o) {
    auto const whole = open(o, ignore_problem)->verify();
    return std::ranges::count(whole, true) == static_cast<std::ptrdiff_t>(o.object.code.shards());
  };
  auto kept = best_copies(*current);
  bool whole = is_whole(kept);
  if (!whole && kept.shards != current->shards) {
    kept = *current;
    whole = is_whole(kept);
  }
  if (!whole)
    throw error(detail::format("{}, generation {}: not all shards are whole: nothing is removed",
                               what.object.name, what.object.generation));
  add_paths(*current, rubbish);
  for (auto const& [index, path] : kept.shards) {
    rubbish.erase(path);
    for (auto const& other : rubbish)
      if (same_file(path, other))
        throw usage_error(detail::format("{}: same file as {}, expected different directories", other, path));
  }
  std::set<std::string> touched;
  for (auto const& path : rubbish) {
    files_->remove(path);
    touched.insert(directory_of(path));
  }
  for (auto const& directory : touched) files_->sync_directory(directory);
  return {rubbish.begin(), rubbish.end()};
}

std::vector<std::string> shard_store::unreadable(stored_object const& what) const {
  return unreadable(what, scan(what.object.name, ignore_problem));
}

std::vector<std::string> shard_store::unreadable(stored_object const& what,
                                                 std::vector<stored_object> const& readable) const {
  std::set<std::string> known;
  for (auto const& o : readable) add_paths(o, known);
  std::vector<std::string> paths;
  for (auto const& [directory, host, remote] : places_) {
    std::vector<std::string> names;
    try {
      names = files_->list(directory);
    } catch (error const&) {
      continue;  // scan() reports it
    }
    for (std::uint32_t i = 0; i < what.object.code.shards(); ++i) {
      auto const name = shard_header{what.object, i}.file_name();
      auto const path = in_directory(directory, name);
      if (known.contains(path) || !std::ranges::binary_search(names, name)) continue;
      try {
        shard_reader const of_another_object(*files_, path, {});
        if (!of_another_object.has_footer()) paths.push_back(path);
      } catch (error const&) {
        paths.push_back(path);
      }
    }
  }
  return paths;
}

void shard_store::remove_older_than(std::string const& name, std::uint64_t generation) const {
  for (auto const& o : scan(name)) {
    if (o.object.generation >= generation) continue;
    for (auto const& path : paths_of(o)) files_->remove(path);
  }
}

}  // namespace skel::storage
