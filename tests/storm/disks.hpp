// The disks of a job's hosts: they take virtual time, may be full, fail or be slow, and keep what they have
// while processes end in the middle of their calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "program.hpp"
#include "skel/storage/file_system.hpp"
#include "world.hpp"

namespace storm {

/// Directories with such a path are on disks of the storm. No process can make them on a real one.
inline constexpr char const* disk_of_host = "/proc/storm/";
inline constexpr char const* disk_of_all = "/proc/storm/shared";  ///< begins the paths that all hosts reach

/// What is wrong with a disk.
struct disk_plan {
  double least_latency = 1e-4, most_latency = 1e-3;  ///< seconds
  std::uint64_t room = ~std::uint64_t{0};            ///< bytes; then it is full
  nanoseconds fails_from = never, fails_until = never;
  double rots = 0;  ///< the part of files of which a bit is another one when they are opened
  [[nodiscard]] bool is_well() const { return room == ~std::uint64_t{0} && fails_from == never && rots == 0; }
};

/// In the words of claims to directories.
[[nodiscard]] std::string owner_of_claims(int rank);

/// All disks of one job, or of several jobs one after the other. Each directory is a disk.
class disks final : public skel::storage::file_system {
 public:
  /// `plans`: for the disks in the order in which they are first used, in turn.
  disks(std::uint64_t seed, std::vector<disk_plan> plans) : dice_(seed), plans_(std::move(plans)) {}

  /// The job runs in this world, on these hosts.
  void serve(world& w, std::vector<std::string> hosts);
  /// All hosts lose power: what was not synced may be lost, or torn.
  void lose_power();

  std::unique_ptr<skel::storage::file> create(std::string const& path) override;
  std::unique_ptr<skel::storage::file> open(std::string const& path) override;
  void rename(std::string const& from, std::string const& to) override;
  void remove(std::string const& path) override;
  std::vector<std::string> list(std::string const& directory) override;
  void sync_directory(std::string const& directory) override;
  [[nodiscard]] std::shared_ptr<void const> claim(std::string const& directory,
                                                  std::string const& lost_owner) override;

 private:
  class open_file;
  struct content {
    std::vector<std::byte> bytes;
    std::size_t synced = 0;
  };
  using names = std::map<std::string, std::shared_ptr<content>>;
  struct disk {
    disk_plan plan;
    names now, synced;
    std::vector<names> between;  // after each change since
    std::uint64_t used = 0;
    int claimed_by = -1;
    std::vector<int> expelled;  // ranks from which the claim was taken
  };

  [[nodiscard]] disk& of(std::string const& directory);
  [[nodiscard]] static std::string directory_of(std::string const& path) {
    return path.substr(0, path.rfind('/'));
  }
  [[nodiscard]] static std::string name_of(std::string const& path) {
    return path.substr(path.rfind('/') + 1);
  }
  /// A call takes its time; `torn` is what is left if the process ends within it.
  template <class Torn>
  void begin_call(disk& d, std::string const& path, std::size_t bytes, Torn const& torn);
  void check_claim(disk const& d, std::string const& directory) const;
  void changed(disk& d);

  dice dice_;
  std::vector<disk_plan> plans_;
  world* world_ = nullptr;
  std::vector<std::string> hosts_;
  std::map<std::string, disk> disks_;
};

}  // namespace storm
