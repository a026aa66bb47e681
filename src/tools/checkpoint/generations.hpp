// Checkpoints of programs, which are generations of parts, and what is done to them as to single objects.
#pragma once

#include <fmt/format.h>

#include <string>

#include "skel/storage/repository.hpp"
#include "tools/checkpoint/telling.hpp"

namespace skel::storage {

/// `NAME, generation N`
[[nodiscard]] std::string title(stored_object const& o);
/// `PROGRAM VERSION, generation N`
[[nodiscard]] std::string title(stored_generation const& g);

[[nodiscard]] std::uint64_t coded_bytes(stored_object const& o);
[[nodiscard]] std::uint64_t coded_bytes(stored_generation const& g);

/// Reads every block of an object or a generation, and shows the progress.
template <class Store, class Stored>
[[nodiscard]] Stored read_blocks(Store const& store, Stored const& found, arguments const& a) {
  byte_progress progress("verify " + title(found), a, coded_bytes(found));
  auto whole = store.verify(found, [&](auto bytes) { progress.add(bytes); });
  progress.finish();
  return whole;
}

/// Rewrites what `whole` lacks, with the permissions of the rest, and calls `tidy`; prints the changes and
/// `result`.
template <class Store, class Stored, class Tidy>
void rewrite(Store const& store, Stored const& found, Stored const& whole, Tidy const& tidy,
             std::string const& result, arguments const& a) {
  same_mode const mode(found);
  auto const written = store.repair(found, whole);
  mode.apply(written);
  auto const removed = tidy();
  if (a.quiet) return;
  for (auto const& path : written) fmt::print("{}: rewritten\n", path);
  for (auto const& path : removed) fmt::print("{}: removed\n", path);
  fmt::print("{}: {}\n", title(found), result);
}

/// Prints a line per generation, which ends with `more`, and a line per incomplete part.
void list_generation(stored_generation const& g, std::string const& more = "");

/// Reads every block and prints the result like list_generation(). Problems go to `report`. Returns
/// true if the generation is undamaged.
bool verify_generation(stored_generation const& g, arguments const& a, report_problem const& report);

/// Rewrites missing and damaged shards, not those of its bases. Returns false, and writes nothing, if the
/// generation is lost.
bool repair_generation(stored_generation const& g, arguments const& a);
/// Removes what is left of a generation.
void remove_generation(stored_generation const& g, arguments const& a);

}  // namespace skel::storage
