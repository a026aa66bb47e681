// What a run asks before it resumes from a store.
#include "base/format.hpp"
#include "skel/error.hpp"
#include "skel/storage/repository.hpp"
#include "storage/cipher.hpp"
#include "storage/paths.hpp"
#include "storage/shard_store.hpp"

namespace skel::storage {

// What is not encrypted can be forged, so a run with a key does not resume from it.
void repository::check_sealed(stored_object const& o) const {
  bool const sealed = o.object.sealed != sealing::none;
  if (sealed == options_.seal_with.has_value()) return;
  throw usage_error(detail::format(
      "{}: generation {} is {}", directory_of(o.shards.begin()->second), o.object.generation,
      sealed ? "encrypted: give its key (--key-file)" : "not encrypted, but a key was given (--key-file)"));
}

// Reads the beginning of a part. Damage is reported when the data are needed.
void repository::check_key(std::vector<stored_generation> const& all) const {
  for (auto const& g : all)
    for (auto const& [number, part] : g.parts) check_sealed(part);
  if (!options_.seal_with) return;
  struct opened {};
  for (auto const& g : all) {
    auto const& part = g.parts.begin()->second;
    try {
      store({}).get(
          part, [](auto) { throw opened{}; }, options_.seal_with, options_.computed_by);
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
