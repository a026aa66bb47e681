// Repositories over the file system in memory.
#pragma once

#include <string>
#include <vector>

#include "skel/error.hpp"
#include "skel/storage/repository.hpp"
#include "store_support.hpp"

namespace test {

inline skel::storage::repository_options options_for(std::size_t places, std::string const& code) {
  skel::storage::repository_options o;
  o.places = skel::storage::places_in(directories(places));
  o.code = skel::storage::code(code);
  o.identity = {"skel-test", "1.0", 42};
  o.block_size = 40;
  return o;
}

using parts = std::vector<byte_vector>;

/// Parts of different lengths, one of them empty.
inline parts random_parts(std::size_t n, std::uint64_t seed) {
  parts all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(random_bytes(i == 1 ? 0 : 100 + 37 * i, 100 * seed + i));
  return all;
}

inline skel::storage::generation_plan prepare_all(skel::storage::repository const& store,
                                                  parts const& state) {
  auto const plan = store.next(static_cast<std::uint32_t>(state.size()));
  for (std::uint32_t i = 0; i < state.size(); ++i) store.prepare(plan, i, "part", state[i]);
  return plan;
}

/// Saves a generation in one process.
inline skel::storage::generation_plan save(skel::storage::repository const& store, parts const& state) {
  auto const plan = prepare_all(store, state);
  store.commit(plan);
  store.remove_old(plan);
  return plan;
}

struct repository_in_memory {
  explicit repository_in_memory(skel::storage::repository_options const& options)
      : files(directories_of(options)),
        store(
            options, [this](std::string const& p) { problems.push_back(p); }, files) {}
  repository_in_memory(std::size_t places, std::string const& code)
      : repository_in_memory(options_for(places, code)) {}

  model_file_system files;
  std::vector<std::string> problems;
  skel::storage::repository store;

  /// Restores the newest restorable generation; empty if there is none.
  [[nodiscard]] parts restore() const {
    try {
      auto r = store.restore();
      return r ? r->parts : parts{};
    } catch (skel::error const&) {
      return {};
    }
  }
  [[nodiscard]] bool told(std::string const& what) const {
    for (auto const& p : problems)
      if (p.find(what) != std::string::npos) return true;
    return false;
  }

 private:
  static std::vector<std::string> directories_of(skel::storage::repository_options const& o) {
    std::vector<std::string> all;
    all.reserve(o.places.size());
    for (auto const& p : o.places) all.push_back(p.directory);
    return all;
  }
};

/// Returns the path of a shard, built from its part's name.
inline std::string shard_path(repository_in_memory const& r, std::uint64_t generation,
                              std::string const& part, int index) {
  auto const ending =
      "." + std::to_string(generation) + "." + part + ".00" + std::to_string(index) + ".shard";
  for (auto const& p : r.files.all_paths())
    if (p.ends_with(ending)) return p;
  return {};
}

/// Returns the text of the error that f() throws; "usage: " precedes that of a usage_error.
template <class F>
std::string error_of(F const& f) {
  try {
    f();
  } catch (skel::usage_error const& bad) {
    return std::string("usage: ") + bad.what();
  } catch (skel::error const& bad) {
    return bad.what();
  }
  return "no error";
}

}  // namespace test
