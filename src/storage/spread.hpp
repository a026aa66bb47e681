// Writes the shards of one object to places, some of which may fail.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "skel/storage/file_system.hpp"
#include "skel/storage/repository.hpp"
#include "storage/object_writer.hpp"

namespace skel::storage {

/// Writes all shards that have a sink, completely. Called again for shards whose place has failed.
using shard_source = std::function<void(std::vector<byte_sink> const&)>;

/// Writes shards under hidden names, syncs them, renames them once all are complete, and syncs the
/// directories. A shard whose place fails moves to another, see spare_place(), or the failure is thrown
/// at once. Removes the hidden files of what it does not complete.
class spread {
 public:
  spread(file_system& files, std::span<place const> places, report_problem const& report, bool moves = true)
      : files_(files), places_(places), report_(report), moves_(moves), failed_(places.size()) {}

  /// Writes the shards of `object` that `wanted` names, each with the number of its place; returns
  /// their paths. `taken` holds the places of further shards of the object. Throws skel::error if
  /// no place accepts a shard; shards that are already visible are then removed.
  std::map<std::uint32_t, std::string> write(object_info const& object,
                                             std::map<std::uint32_t, std::size_t> const& wanted,
                                             std::vector<std::size_t> taken, shard_source const& source);
  /// Tries each shard once. Failures are reported and missing from the returned map.
  std::map<std::uint32_t, std::string> try_write(object_info const& object,
                                                 std::map<std::uint32_t, std::size_t> const& wanted,
                                                 shard_source const& source);

  [[nodiscard]] save_cost const& cost() const { return cost_; }

 private:
  struct shard {
    std::uint32_t index;
    std::size_t place;
    std::string name;
    std::unique_ptr<file> open;
    bool good = true;
  };
  template <class Action>
  void attempt(shard& s, double& seconds, Action const& action);
  void show(std::vector<shard>& shards);
  void abandon(shard& s) noexcept;

  file_system& files_;
  std::span<place const> places_;
  report_problem const& report_;
  bool moves_;
  std::vector<bool> failed_;
  std::string last_problem_;
  save_cost cost_;
};

}  // namespace skel::storage
