#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/care.hpp"
#include "storage/cipher.hpp"
#include "storage/machine.hpp"
#include "storage/part_name.hpp"
#include "storage/paths.hpp"

namespace skel::storage {

namespace {

std::string directory_with(stored_generation const& g) {
  for (auto const& [number, part] : g.parts)
    if (!part.shards.empty()) return directory_of(part.shards.begin()->second);
  if (g.manifest && !g.manifest->shards.empty()) return directory_of(g.manifest->shards.begin()->second);
  return "the store";  // a hostile store may contain shards without parts
}

std::string in_words(identity const& who) {
  return who.version.empty() ? who.program : who.program + " " + who.version;
}

// `what`: how a store of the same program and version differs.
[[noreturn]] void refuse_foreign(stored_generation const& g, identity const& mine, std::string_view what) {
  auto const where = detail::format("{}: contains generation {} of ", directory_with(g), g.plan.generation);
  if (!g.written_by)
    throw usage_error(detail::format("{}another program, version or problem, expected {}; use another store",
                                     where, in_words(mine)));
  auto const& other = *g.written_by;
  if (other.program == mine.program && other.version == mine.version)
    throw usage_error(detail::format("{}{} {}, or use another store", where, in_words(mine), what));
  throw usage_error(
      detail::format("{}{}, expected {}; use another store", where, in_words(other), in_words(mine)));
}

void check_machine(stored_object const& o, std::uint64_t expected) {
  auto const found = o.object.belongs_to.machine;
  if (found == expected) return;
  auto const [theirs, ours] = difference(found, expected);
  throw usage_error(detail::format(
      "{}: generation {} was written on another kind of machine: found {}, expected {}; resume "
      "there, or use another store",
      directory_of(o.shards.begin()->second), o.object.generation, theirs, ours));
}

// Names the directory in place of the file that was tried in it, and says what to do.
std::string about_directory(file_system& files, std::string const& directory, std::string const& tried,
                            std::string text) {
  if (auto const at = text.find(tried); at != std::string::npos) text.replace(at, tried.size(), directory);
  try {
    static_cast<void>(files.list(directory));
    return text + "; checkpoints need a directory that can be written to";
  } catch (error const&) {
    return text + "; create the directory, or name another (--store)";
  }
}

}  // namespace

void check_at_start(inventory const& here) {
  std::string first_problem;
  std::size_t usable = 0;
  for (auto const& p : here.places) {
    auto const probe = temporary_of(p.directory, "skel-probe");
    try {
      {
        auto const f = here.files.create(probe);
        f->write(std::vector<std::byte>(here.options.block_size));
        f->sync();
      }
      ++usable;
    } catch (error const& bad) {
      auto const text = about_directory(here.files, p.directory, probe, bad.what());
      if (first_problem.empty()) first_problem = text;
      here.report(text);
    }
    try {
      here.files.remove(probe);
    } catch (error const&) {  // NOLINT(bugprone-empty-catch): it may not exist
    }
  }
  if (usable == 0) throw usage_error(first_problem);
  refuse_others(here.options,
                here.reporting_to({}).catalogue());  // damage is reported when the data are needed
}

// Another machine comes first: it may hash the same problem differently.
void refuse_others(repository_options const& mine, std::vector<stored_generation> const& all) {
  std::set<std::uint64_t> expected{mine.identity.hash()};
  for (auto const& writer : mine.ignored.writers) expected.insert(writer.hash());
  for (auto const& g : all) {
    for (auto const& [number, part] : g.parts) check_machine(part, mine.machine);
    if (!expected.contains(g.identity_hash))
      refuse_foreign(g, mine.identity,
                     mine.ignored.writers.empty()
                         ? "with other options or input; repeat those of that run"
                         : "in the format of another version of skel; resume with that one");
  }
}

std::optional<std::string> damage_of_uncommitted(inventory const& here,
                                                 std::vector<stored_generation> const& all) {
  if (std::ranges::any_of(
          all, [](auto const& g) { return g.manifest.has_value() || g.state() != condition::lost; }))
    return {};
  auto const files = here.files_named<part_name>();
  auto const was_being_written = [&](std::uint64_t generation) {
    return std::ranges::any_of(
        files, [&](auto const& f) { return f.second.temporary && f.second.generation == generation; });
  };
  for (auto const& g : all)
    for (auto const& [number, part] : g.parts)
      if (part.shards.size() < part.object.code.shards() && !was_being_written(g.plan.generation))
        return detail::format("{}: other shards of part {} of generation {} are missing",
                              part.shards.begin()->second, number, g.plan.generation);
  return "";
}

bool is_unused(inventory const& here) {
  std::string problem;
  auto const asked = here.reporting_to([&](std::string const& text) {
    if (problem.empty()) problem = text;
  });
  auto const damage = damage_of_uncommitted(asked, asked.catalogue());
  if (!damage) return false;
  if (problem.empty()) problem = *damage;
  if (!problem.empty())
    throw usage_error(problem +
                      ": the run does not start anew, because a checkpoint may be damaged; "
                      "repair the store (skel-checkpoint), or use empty directories");
  return true;
}

// What is not encrypted can be forged, so a run with a key does not resume from it.
void check_usable(repository_options const& mine, stored_object const& part) {
  check_machine(part, mine.machine);
  bool const sealed = part.object.sealed != sealing::none;
  if (sealed == mine.seal_with.has_value()) return;
  throw usage_error(detail::format(
      "{}: generation {} is {}", directory_of(part.shards.begin()->second), part.object.generation,
      sealed ? "encrypted: give its key (--key-file)" : "not encrypted, but a key was given (--key-file)"));
}

// Reads the beginning of a part. Damage is reported when the data are needed.
void check_key(inventory const& here, std::vector<stored_generation> const& all) {
  for (auto const& g : all)
    for (auto const& [number, part] : g.parts) check_usable(here.options, part);
  if (!here.options.seal_with) return;
  struct opened {};
  for (auto const& g : all) {
    auto const& part = g.parts.begin()->second;
    try {
      here.reporting_to({}).store.get(
          part, []() -> byte_sink { return [](auto) { throw opened{}; }; }, here.options.seal_with);
      return;
    } catch (opened const&) {
      return;
    } catch (wrong_key const&) {
      throw usage_error(detail::format("{}: generation {}: wrong key (--key-file), or data was altered",
                                       directory_of(part.shards.begin()->second), g.plan.generation));
    } catch (error const&) {  // NOLINT(bugprone-empty-catch): the next one is tried
    }
  }
}

}  // namespace skel::storage
