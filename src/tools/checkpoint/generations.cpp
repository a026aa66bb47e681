#include "tools/checkpoint/generations.hpp"

#include "storage/shard_store.hpp"

namespace skel::storage {

namespace {

repository store_of(arguments const& a, report_problem report) {
  repository_options options;
  options.places = places_in(a.directories);
  return repository(std::move(options), std::move(report));
}

std::uint64_t content_bytes(stored_generation const& g) {
  std::uint64_t sum = 0;
  for (auto const& [number, part] : g.parts) sum += part.object.content_length;
  return sum;
}

std::string spare_in_words(stored_object const& part) {
  auto const m = part.object.code.data_shards(), n = part.object.code.shards(), there = part.shards.size();
  if (there < m) return fmt::format("{} of {} shards, lost: {} needed", there, n, m);
  auto const damaged = part.damaged == 0 ? "" : fmt::format(", {} damaged", part.damaged);
  return fmt::format("{} of {} shards{}, {} more can be lost", there, n, damaged, there - m);
}

}  // namespace

std::string title(stored_object const& o) {
  return fmt::format("{}, generation {}", o.object.name, o.object.generation);
}

std::string title(stored_generation const& g) {
  auto const who = g.written_by ? fmt::format("{} {}", g.written_by->program, g.written_by->version)
                                : std::string("unknown program");
  return fmt::format("{}, generation {}", who, g.plan.generation);
}

std::uint64_t coded_bytes(stored_object const& o) { return o.object.length; }

std::uint64_t coded_bytes(stored_generation const& g) {
  std::uint64_t sum = g.manifest ? g.manifest->object.length : 0;
  for (auto const& [number, part] : g.parts) sum += part.object.length;
  return sum;
}

void list_generation(stored_generation const& g, std::string const& more) {
  auto const code = g.parts.empty() ? "" : ", " + g.parts.begin()->second.object.code.to_string();
  bool const sealed = !g.parts.empty() && g.parts.begin()->second.object.sealed != sealing::none;
  auto const base = g.plan.base == 0 ? "" : fmt::format(" appended to generation {}", g.plan.base);
  fmt::print("{}: {} part{}, {}{}{}{}: {}{}{}\n", title(g), g.plan.parts, g.plan.parts == 1 ? "" : "s",
             bytes_in_words(static_cast<double>(content_bytes(g))), base, code, sealed ? ", encrypted" : "",
             to_string(g.state()), g.manifest ? "" : ", no manifest", more);
  std::uint32_t missing = g.plan.parts;
  for (auto const& [number, part] : g.parts) {
    --missing;
    if (part.shards.size() - part.damaged != part.object.code.shards())
      fmt::print("  part {}, {}: {}\n", number, part.object.name, spare_in_words(part));
  }
  if (missing != 0) fmt::print("  {} part{}: no shards, lost\n", missing, missing == 1 ? "" : "s");
}

bool verify_generation(stored_generation const& g, arguments const& a, report_problem const& report) {
  auto const whole = read_blocks(store_of(a, report), g, a);
  if (!a.quiet) list_generation(whole);
  return whole.state() == condition::whole && whole.manifest &&
         whole.manifest->shards.size() == whole.manifest->object.code.shards();
}

bool repair_generation(stored_generation const& g, arguments const& a) {
  auto const store = store_of(a, warn);
  auto const whole = read_blocks(store, g, a);
  if (whole.state() == condition::lost) {
    warn(fmt::format("{}: lost{}", title(g), a.remove_lost ? "" : "; --remove-lost removes it"));
    return false;
  }
  auto const result =
      fmt::format("all shards of {} part{} are whole", g.plan.parts, g.plan.parts == 1 ? "" : "s");
  rewrite(
      store, g, whole, [&] { return store.tidy(g.plan); }, result, a);
  return true;
}

void remove_generation(stored_generation const& g, arguments const& a) {
  auto const store = store_of(a, warn);
  for (auto const& left : store.reporting_to({}).catalogue())  // repair may have removed some of it
    if (left.plan == g.plan && left.identity_hash == g.identity_hash)
      for (auto const& path : store.remove(left))
        if (!a.quiet) fmt::print("{}: removed\n", path);
}

}  // namespace skel::storage
