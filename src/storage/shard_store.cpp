#include "storage/shard_store.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/paths.hpp"

namespace skel::storage {

namespace {

constexpr std::string_view shard_ending = ".shard";

void unheard(std::string const& /*problem*/) {}

bool same_place(object_info const& a, object_info const& b) {
  return a.name == b.name && a.generation == b.generation && a.belongs_to == b.belongs_to;
}

bool is_other(stored_object const& o, stored_object const& than) {
  return same_place(o.object, than.object) && (o.object != than.object || o.hash != than.hash);
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
  for (auto const& [index, path] : o.shards) to.insert(path);
  to.insert(o.duplicates.begin(), o.duplicates.end());
}

}  // namespace

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

shard_store::shard_store(std::vector<std::string> directories, report_problem report, file_system& files)
    : directories_(std::move(directories)), report_(std::move(report)), files_(&files) {
  if (!report_) report_ = unheard;
  std::set<std::string> seen;
  for (auto& d : directories_) {
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
  for (auto const& directory : directories_) {
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

struct shard_store::new_file {
  std::string directory, name;
  std::unique_ptr<file> open;

  [[nodiscard]] std::string temporary() const { return temporary_of(directory, name); }
  [[nodiscard]] std::string path() const { return in_directory(directory, name); }
  [[nodiscard]] byte_sink sink() const {
    return [f = open.get()](std::span<std::byte const> bytes) { f->write(bytes); };
  }
};

void shard_store::commit(std::vector<new_file>& files) {
  for (auto& f : files) {
    f.open->sync();
    f.open.reset();
  }
  for (auto const& f : files) files_->rename(f.temporary(), f.path());
  for (auto const& f : files) files_->sync_directory(f.directory);
}

void shard_store::abandon(std::vector<new_file>& files) noexcept {
  for (auto& f : files) {
    f.open.reset();
    try {
      files_->remove(f.temporary());
    } catch (...) {  // NOLINT(bugprone-empty-catch): it is renamed already or cannot be removed
    }
  }
}

stored_object shard_store::put(std::string const& name, code const& how, std::uint64_t length,
                               std::function<void(byte_sink const&)> const& source,
                               put_options const& options) {
  object_info::check_name(name);
  if (directories_.size() != how.shards())
    throw usage_error(detail::format("{} makes {} shards, expected one directory each, found {}",
                                     how.to_string(), how.shards(), directories_.size()));
  if (options.block_size == 0 || options.block_size > largest_block)
    throw usage_error(
        detail::format("block size: expected 1 to {} bytes, found {}", largest_block, options.block_size));
  if (options.seal_with && !can_seal())
    throw usage_error(
        "a key was given, but this skel was built without libsodium (on Debian: libsodium-dev)");
  // Defects of directories are reported when they are written to.
  auto const before = scan(name, unheard);
  auto const newest = before.empty() ? 0 : before.front().object.generation;
  auto const generation = options.generation.value_or(newest + 1);
  for (auto const& o : before)
    if (o.object.generation == generation)
      throw usage_error(detail::format("{}: generation {} exists already", name, generation));

  stored_object made;
  made.object = {name, generation, how, length, length, options.block_size, sealing::none};
  if (options.seal_with) {
    made.object.sealed = sealing::xchacha20_poly1305;
    made.object.length = sealed_length(length);
  }
  std::vector<new_file> files;
  std::vector<byte_sink> sinks;
  try {
    for (std::uint32_t i = 0; i < how.shards(); ++i) {
      files.push_back({directories_[i], shard_header{made.object, i}.file_name(), nullptr});
      files.back().open = files_->create(files.back().temporary());
      sinks.push_back(files.back().sink());
      made.shards[i] = files.back().path();
    }
    object_writer shards(made.object, std::move(sinks), options.computed_by);
    if (options.seal_with) {
      sealer sealed(*options.seal_with, made.object, [&](auto bytes) { shards.write(bytes); });
      source([&](auto bytes) { sealed.write(bytes); });
      sealed.finish();
    } else {
      source([&](auto bytes) { shards.write(bytes); });
    }
    shards.finish();
    made.hash = shards.object_hash();
    commit(files);
  } catch (std::length_error const&) {
    abandon(files);
    throw error(detail::format("{}: length changed while it was read", name));
  } catch (...) {
    abandon(files);
    throw;
  }
  return made;
}

std::unique_ptr<object_reader> shard_store::open(stored_object const& what, kernel computed_by,
                                                 report_problem const& report, check before) const {
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
  return std::make_unique<object_reader>(std::move(shards), computed_by);
}

void shard_store::get(stored_object const& what, std::function<byte_sink()> const& begin,
                      std::optional<key> const& with, kernel computed_by, check before) const {
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
    read(*open(what, computed_by, report_, before));
  } catch (usage_error const&) {
    throw;
  } catch (error const&) {
    if (before == check::all_hashes) throw;
    auto const checked = open(what, computed_by, unheard, check::all_hashes);
    if (!checked->has_suspect()) throw;
    read(*checked);
  }
}

std::vector<bool> shard_store::verify(stored_object const& what, kernel computed_by,
                                      count_bytes const& progress) const {
  for (auto const& path : what.duplicates) report_(detail::format("{}: second copy of a shard", path));
  for (std::uint32_t i = 0; i < what.object.code.shards(); ++i)
    if (!what.shards.contains(i))
      report_(detail::format("{}, generation {}: shard {} is missing", what.object.name,
                             what.object.generation, i));
  return open(what, computed_by, report_)->verify(progress);
}

std::vector<std::string> shard_store::repair(stored_object const& what, std::vector<bool> const& whole,
                                             kernel computed_by, count_bytes const& progress) {
  auto const kept = occupied(what);
  std::set<std::string> taken;
  for (auto const& [index, path] : what.shards) taken.insert(directory_of(path));
  std::vector<new_file> files;
  std::vector<byte_sink> sinks(what.object.code.shards());
  std::vector<std::string> paths, replaced;
  try {
    for (std::uint32_t i = 0; i < sinks.size(); ++i) {
      if (whole.at(i)) continue;
      std::string directory;
      auto name = shard_header{what.object, i}.file_name();
      auto const free_for_it = [&](std::string const& d) {
        return !taken.contains(d) && !kept.contains(in_directory(d, name));
      };
      if (auto const at = what.shards.find(i); at != what.shards.end()) {
        directory = directory_of(at->second);
        if (kept.contains(in_directory(directory, name))) name = name_of(at->second);
        replaced.push_back(at->second);
      } else if (auto const free = std::ranges::find_if(directories_, free_for_it);
                 free != directories_.end()) {
        directory = *free;
        taken.insert(directory);
      } else {
        throw usage_error(
            detail::format("{}: no directory left for shard {}; give another", what.object.name, i));
      }
      files.push_back({directory, std::move(name), nullptr});
      files.back().open = files_->create(files.back().temporary());
      sinks[i] = files.back().sink();
      paths.push_back(files.back().path());
    }
    open(what, computed_by, unheard)->rebuild(sinks, progress);  // verify() reported the damage
    commit(files);
  } catch (...) {
    abandon(files);
    throw;
  }
  for (auto const& path : replaced)  // copies under other names
    if (std::ranges::find(paths, path) == paths.end()) files_->remove(path);
  return paths;
}

std::set<std::string> shard_store::occupied(stored_object const& what) const {
  std::set<std::string> paths;
  for (auto const& [index, path] : what.shards) paths.insert(path);
  for (auto const& o : scan(what.object.name, unheard))
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
    auto& kept = best.shards.at(shard_reader(*files_, path, unheard).header().index);
    auto const others_beside = [&](std::string const& copy) {
      return std::ranges::count_if(best.shards, [&](auto const& shard) {
        return shard.second != kept && directory_of(shard.second) == directory_of(copy);
      });
    };
    if (others_beside(path) < others_beside(kept)) kept = path;
  }
  return best;
}

std::vector<std::string> shard_store::tidy(stored_object const& what, others which, kernel computed_by,
                                           count_bytes const& progress) {
  std::set<std::string> rubbish;
  auto const all = scan(what.object.name, unheard);
  for (auto const& o : all)
    if (is_other(o, what) && (which == others::all || !o.enough())) add_paths(o, rubbish);
  auto const current = std::ranges::find_if(
      all, [&](auto const& o) { return o.object == what.object && o.hash == what.hash; });
  if (rivals_of(what, all).empty())
    for (auto const& path : unreadable(what, all))
      if (can_be_opened(path)) rubbish.insert(path);
  if (current == all.end() || (rubbish.empty() && current->duplicates.empty())) return {};

  auto const is_whole = [&](stored_object const& o) {
    auto const whole = open(o, computed_by, unheard)->verify(progress);
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

bool shard_store::can_be_opened(std::string const& path) const {
  try {
    return files_->open(path) != nullptr;
  } catch (error const&) {
    return false;
  }
}

std::vector<std::string> shard_store::unreadable(stored_object const& what) const {
  return unreadable(what, scan(what.object.name, unheard));
}

std::vector<std::string> shard_store::unreadable(stored_object const& what,
                                                 std::vector<stored_object> const& readable) const {
  std::set<std::string> known;
  for (auto const& o : readable) add_paths(o, known);
  std::vector<std::string> paths;
  for (auto const& directory : directories_) {
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

void shard_store::remove_older_than(std::string const& name, std::uint64_t generation) {
  for (auto const& o : scan(name)) {
    if (o.object.generation >= generation) continue;
    for (auto const& [index, path] : o.shards) files_->remove(path);
    for (auto const& path : o.duplicates) files_->remove(path);
  }
}

}  // namespace skel::storage
