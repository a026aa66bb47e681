#include "tools/checkpoint/verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <ranges>
#include <set>
#include <system_error>
#include <utility>

#include "program/paths.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"
#include "storage/catalogue.hpp"
#include "storage/claim.hpp"
#include "storage/paths.hpp"
#include "storage/shard_store.hpp"
#include "tools/checkpoint/generations.hpp"

namespace skel::storage {

namespace {

std::optional<key> key_of(arguments const& a) {
  if (a.key_file.empty()) return std::nullopt;
  return key::read(a.key_file);
}

std::string state_in_words(stored_object const& o, std::size_t whole) {
  auto const m = o.object.code.data_shards(), n = o.object.code.shards();
  auto const spare =
      o.enough() ? fmt::format("{} more can be lost", std::max<std::size_t>(whole, m) - m) : "lost";
  auto const damaged = o.damaged == 0 ? "" : fmt::format(", {} damaged", o.damaged);
  return fmt::format("{} of {} shards{}, {}", whole, n, damaged, spare);
}

// Objects that belong to no generation and, if no name is given, checkpoints of programs.
struct contents {
  std::vector<stored_object> objects;
  std::vector<stored_generation> generations;
  [[nodiscard]] bool empty() const { return objects.empty() && generations.empty(); }
};

contents find(shard_store const& store, arguments const& a, report_problem const& report = warn) {
  auto const name = a.name.empty() ? std::nullopt : std::optional(a.name);
  contents found;
  found.objects = store.scan(name);
  if (!name) found.generations = generations_of(found.objects, store, report);
  std::erase_if(found.objects, [](auto const& o) { return o.object.belongs_to.parts != 0; });
  auto const is_other = [&](auto const& stored, std::uint64_t generation) {
    return (a.generation && *a.generation != generation) || !stored.id().starts_with(a.object);
  };
  std::erase_if(found.objects, [&](auto const& o) { return is_other(o, o.object.generation); });
  std::erase_if(found.generations, [&](auto const& g) { return is_other(g, g.plan.generation); });
  if (found.empty() && (name || a.generation || !a.object.empty())) {
    std::string what = a.generation ? fmt::format("generation {} of ", *a.generation) : "";
    if (!a.object.empty()) what = fmt::format("object {} of {}", a.object, what);
    throw usage_error(fmt::format("{}: no shards of {}\"{}\"", fmt::join(a.directories, ","), what, a.name));
  }
  return found;
}

// Returns a message if another object could be restored in place of `o`.
template <class Stored>
std::optional<std::string> ambiguity(Stored const& o, std::vector<Stored> const& found) {
  auto const rivals = rivals_of(o, found);
  if (rivals.empty()) return std::nullopt;
  return fmt::format("{} exists more than once, as objects {} and {}", title(o), o.id(), rivals.front().id());
}

template <class Stored>
void expect_one(Stored const& o, std::vector<Stored> const& found) {
  if (auto const text = ambiguity(o, found)) throw usage_error(*text + ": select one with --object");
}

// Reports ambiguities of read-only commands as warnings.
template <class Stored>
void report_ambiguity(std::vector<Stored> const& found, report_problem const& report) {
  std::set<std::string> told;
  for (auto const& o : found)
    if (auto const text = ambiguity(o, found); text && told.insert(title(o)).second) report(*text);
}

template <class Stored>
std::string id_in_words(Stored const& o, std::vector<Stored> const& found) {
  return ambiguity(o, found) ? fmt::format(", object {}", o.id()) : "";
}

// Returns the directories of an object if several have its name and generation.
std::string place_in_words(stored_object const& o, std::vector<stored_object> const& found) {
  if (!ambiguity(o, found)) return "";
  std::set<std::string> directories;
  for (auto const& [index, path] : o.shards) directories.insert(directory_of(path));
  return fmt::format("{} in {}", id_in_words(o, found), fmt::join(directories, ","));
}

// Reports what another writer left under the same name and generation.
void report_remains(stored_object const& taken, std::vector<stored_object> const& found) {
  for (auto const& o : found)
    if (o.object.name == taken.object.name && o.object.generation == taken.object.generation &&
        o.id() != taken.id() && !o.enough())
      warn(fmt::format(
          "{}: object {}, written by another run, is lost: {} of its {} shards found; object {} is restored",
          title(o), o.id(), o.shards.size(), o.object.code.shards(), taken.id()));
}

// With a key, only what was sealed counts: anything else may be forged.
void remove_unsealed(std::vector<stored_object>& found) {
  auto const unsealed = [](stored_object const& o) { return o.object.sealed == sealing::none; };
  auto const text = [](stored_object const& o) {
    return title(o) + ": not encrypted, but a key was given (--key-file)";
  };
  if (std::ranges::all_of(found, unsealed)) throw usage_error(text(found.front()));
  for (auto const& o : found)
    if (unsealed(o)) warn(text(o) + ": ignored");
  std::erase_if(found, unsealed);
}

constexpr std::string_view standard_output = "-";

// Standard output receives nothing unless all of the object can be restored: it is read twice.
void print_object(shard_store const& store, stored_object const& o, std::optional<key> const& with) {
  store.get(
      o, []() -> byte_sink { return [](auto) {}; }, with);
  auto const print = [](std::span<std::byte const> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
      throw error("standard output cannot be written");
  };
  store.get(
      o, [&] { return print; }, with, shard_store::check::all_hashes);
}

void write_object(shard_store const& store, stored_object const& o, std::optional<key> const& with,
                  arguments const& a) {
  bool const is_new = !std::filesystem::exists(a.output);
  same_mode const mode(o);
  std::optional<skel::atomic_file> out;
  std::optional<byte_progress> progress;
  auto const begin = [&]() -> byte_sink {
    out.emplace(a.output);
    progress.emplace("decode " + title(o), a, o.object.content_length);
    return [&](auto bytes) {
      out->write(bytes);
      progress->add(bytes.size());
    };
  };
  store.get(o, begin, with);
  out->commit();
  if (is_new) mode.apply({a.output});
  progress->finish();
}

// Tries the objects in order, the newest first. If one is too damaged, falls back to the next.
stored_object restore(shard_store const& store, std::vector<stored_object> found,
                      std::optional<key> const& with, arguments const& a) {
  if (with) remove_unsealed(found);
  for (auto const& o : found) {
    expect_one(o, found);
    try {
      if (a.output == standard_output)
        print_object(store, o, with);
      else
        write_object(store, o, with, a);
      report_remains(o, found);
      return o;
    } catch (usage_error const&) {
      throw;  // e.g. a missing key
    } catch (error const& bad) {
      warn(bad.what());
    }
  }
  throw error(fmt::format("{}: no generation can be restored", a.name));
}

// While the result lives, no other process writes objects of this name in these directories. Always in the
// same order, so that two processes do not wait for each other.
std::vector<std::shared_ptr<void const>> claim_all(std::vector<std::string> directories,
                                                   std::string const& name) {
  std::ranges::sort(directories);
  std::vector<std::shared_ptr<void const>> claims;
  for (auto const& d : directories)
    if (auto c = claim_directory(d, name)) claims.push_back(std::move(c));
  return claims;
}

// Checked before anything is read: a mistyped directory is a usage error, not a failure half-way.
void check_directories(std::vector<std::string> const& directories) {
  for (auto const& d : directories) {
    std::error_code code;
    if (std::filesystem::is_directory(d, code)) continue;
    if (!code) code = std::make_error_code(std::errc::not_a_directory);
    throw usage_error(d + ": " + code.message());
  }
}

}  // namespace

int encode(arguments const& a) {
  code const how(a.code);
  put_options const options{a.generation, key_of(a)};
  auto const name = a.name.empty() ? a.file.substr(a.file.rfind('/') + 1) : a.name;
  object_info::check_name(name);
  std::unique_ptr<file> in;
  try {
    in = real_file_system().open(a.file);
  } catch (error const& bad) {
    throw usage_error(bad.what());
  }
  auto const length = in->size();
  check_directories(a.directories);
  same_mode const mode(std::vector{a.file});
  auto const claims = claim_all(a.directories, name);
  shard_store const store(a.directories, warn);
  byte_progress progress("encode " + name, a, length);
  auto const made = store.put(
      name, how, length,
      [&](byte_sink const& to) {
        std::vector<std::byte> buffer(1U << 20U);
        for (std::uint64_t at = 0;;) {
          auto const n = in->read_at(at, buffer);
          if (n == 0) break;
          to(std::span(buffer).first(n));
          at += n;
          progress.add(n);
        }
      },
      options);
  progress.finish();
  auto const shards = std::views::values(made.shards);
  mode.apply({shards.begin(), shards.end()});
  if (a.keep != 0 && made.object.generation > a.keep) {
    if (store.verify(made).shards.size() != how.shards())
      throw error(title(made) + ": the shards just written are damaged: older generations are kept");
    store.remove_older_than(name, made.object.generation - a.keep + 1);
  }
  if (!a.quiet)
    fmt::print("{}: {} shards of {}, {} in {:.3g} s\n", title(made), how.shards(),
               bytes_in_words(static_cast<double>(made.object.shard_bytes())),
               bytes_in_words(static_cast<double>(length)), progress.seconds());
  return 0;
}

int decode(arguments const& a) {
  auto const with = key_of(a);
  bool const to_file = a.output != standard_output;
  if (to_file) program::check_writable(a.output);
  shard_store const store(a.directories, warn);
  auto const o = restore(store, find(store, a).objects, with, a);
  if (!a.quiet && to_file)
    fmt::print("{}: {} written to {}\n", title(o),
               bytes_in_words(static_cast<double>(o.object.content_length)), a.output);
  return 0;
}

int verify(arguments const& a) {
  bool good = true;
  auto const report = [&](std::string const& problem) {
    good = false;
    warn(problem);
  };
  shard_store const store(a.directories, report);
  auto const found = find(store, a, report);
  for (auto const& o : found.objects) {
    std::size_t whole = 0;
    try {
      whole = read_blocks(store, o, a).shards.size();
      if (!a.quiet)
        fmt::print("{}: {}: {}{}\n", title(o), o.object.code.to_string(), state_in_words(o, whole),
                   id_in_words(o, found.objects));
    } catch (error const& bad) {
      warn(bad.what());
    }
    good = good && whole == o.object.code.shards();
  }
  for (auto const& g : found.generations) good = verify_generation(g, a, report) && good;
  report_ambiguity(found.objects, report);
  report_ambiguity(found.generations, report);
  if (found.empty()) report(fmt::format("{}: no shards found", fmt::join(a.directories, ",")));
  return good ? 0 : 1;
}

namespace {

bool repair_object(shard_store const& store, stored_object const& o, std::vector<stored_object> const& all,
                   arguments const& a) {
  expect_one(o, all);
  stored_object whole;
  try {
    whole = read_blocks(store, o, a);
  } catch (error const& bad) {
    warn(bad.what());
    return false;
  }
  auto const result = fmt::format("all {} shards are whole", o.object.code.shards());
  rewrite(
      store, o, whole, [&] { return store.tidy(o); }, result, a);
  return true;
}

// Reports files that repair could neither read nor replace; verify would continue to find them.
bool nothing_unreadable(shard_store const& store, stored_object const& o) {
  auto const left = store.unreadable(o);
  for (auto const& path : left)
    warn(path + ": cannot be read and was kept: make it readable or remove it, then repair again");
  return left.empty();
}

// Repairs all generations that can be restored, each after its bases. Returns false if there is none; sets
// `clean` to false if verify would find a problem.
bool repair_generations(shard_store const& store, std::vector<stored_generation> const& all,
                        arguments const& a, bool& clean) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> done;  // by number and stamp: bases are shared
  auto const repair_chain = [&](stored_generation const& newest) {
    std::vector<stored_generation const*> chain;
    for (auto const* g = &newest; g != nullptr; g = g->base.get()) chain.push_back(g);
    bool good = true;
    for (auto const* const g : std::views::reverse(chain)) {
      auto const [at, first] = done.try_emplace({g->plan.generation, g->plan.stamp});
      if (first) {
        at->second = good && repair_generation(*g, a);
        if (at->second) {
          for (auto const& [number, part] : g->parts) clean = nothing_unreadable(store, part) && clean;
          if (g->manifest) clean = nothing_unreadable(store, *g->manifest) && clean;
        }
      }
      good = at->second;
    }
    return good;
  };
  bool any = false;
  std::vector<stored_generation> lost;
  for (auto const& g : all) {
    if (!any) expect_one(g, all);
    if (auto const text = ambiguity(g, all)) {
      warn(*text + ": not repaired; select one with --object");
      clean = false;
    } else if (repair_chain(g)) {
      any = true;
    } else {
      lost.push_back(g);
    }
  }
  if (any && a.remove_lost)
    for (auto const& g : lost) remove_generation(g, a);
  return any;
}

}  // namespace

int repair(arguments const& a) {
  shard_store const store(a.directories, warn);
  bool clean = true;
  auto const found = find(store, a);
  if (a.name.empty() && found.generations.empty())
    throw usage_error(fmt::format("{}: no program's checkpoint found; give the NAME of a single object",
                                  fmt::join(a.directories, ",")));
  if (a.name.empty()) {
    if (repair_generations(store, found.generations, a, clean)) return clean ? 0 : 1;
  } else {
    auto const claims = claim_all(a.directories, a.name);
    for (auto const& o : found.objects)
      if (repair_object(store, o, found.objects, a)) return nothing_unreadable(store, o) ? 0 : 1;
  }
  throw error(fmt::format("{}: no generation can be repaired",
                          a.name.empty() ? fmt::format("{}", fmt::join(a.directories, ",")) : a.name));
}

namespace {

// Some directories may be missing; an empty list of none that exists would hide a mistyped path.
void expect_a_readable_one(std::vector<std::string> const& directories) {
  std::string first;
  for (auto const& d : directories) {
    try {
      (void)real_file_system().list(d);
      return;
    } catch (error const& bad) {
      if (first.empty()) first = bad.what();
    }
  }
  throw usage_error(first);
}

}  // namespace

int list(arguments const& a) {
  expect_a_readable_one(a.directories);
  shard_store const store(a.directories, warn);
  auto const found = find(store, a);
  for (auto const& o : found.objects)
    fmt::print("{}: {}, {}{}, {}{}\n", title(o), bytes_in_words(static_cast<double>(o.object.content_length)),
               o.object.code.to_string(), o.object.sealed == sealing::none ? "" : ", encrypted",
               state_in_words(o, o.shards.size()), place_in_words(o, found.objects));
  for (auto const& g : found.generations) list_generation(g, id_in_words(g, found.generations));
  return 0;
}

}  // namespace skel::storage
