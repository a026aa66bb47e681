// Shard stores over the file system in memory.
#pragma once

#include <string>
#include <vector>

#include "model_file_system.hpp"
#include "skel/error.hpp"
#include "storage/shard_store.hpp"

namespace test {

inline std::vector<std::string> directories(std::size_t n) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back("/disk" + std::to_string(i));
  return names;
}

/// A store and its reports.
struct store_in_memory {
  explicit store_in_memory(std::size_t n)
      : files(directories(n)),
        store(
            directories(n), [this](std::string const& p) { problems.push_back(p); }, files) {}

  model_file_system files;
  std::vector<std::string> problems;
  skel::storage::shard_store store;

  skel::storage::stored_object put(std::string const& code, byte_vector const& data,
                                   skel::storage::put_options const& options = {}) {
    return store.put(
        "state", skel::storage::code(code), data.size(), [&](auto const& to) { to(data); }, options);
  }
  byte_vector get(skel::storage::stored_object const& what) {
    byte_vector data;
    store.get(what, [&] { return into(data); });
    return data;
  }
  /// Begins to fill `data` anew.
  static skel::storage::byte_sink into(byte_vector& data) {
    data.clear();
    return [&data](auto part) { data.insert(data.end(), part.begin(), part.end()); };
  }
  /// Restores the newest restorable generation; empty if there is none.
  byte_vector restore() {
    for (auto const& o : store.scan("state")) {
      try {
        return get(o);
      } catch (skel::error const& bad) {
        problems.emplace_back(bad.what());
      }
    }
    return {};
  }
};

}  // namespace test
