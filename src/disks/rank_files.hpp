// Directories on the ranks' own hosts, as a file system.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "remote_file.hpp"
#include "skel/storage/file_system.hpp"
#include "skel/storage/options.hpp"
#include "skel/storage/placement.hpp"

namespace skel::detail {

/// A directory that only the ranks of one host reach, or the memory of one rank. Paths in it begin with
/// name().
struct rank_disk {
  std::string host, directory;
  std::string cluster{};     // of that host; empty: none
  std::vector<int> ranks{};  // ranks on that host
  [[nodiscard]] std::string name() const { return host + ":" + directory; }
};

/// Paths on this rank's host, and paths without a host, go to the operating system. A call for
/// another host is sent to the first of its living ranks and blocks until the answer arrives, so
/// the caller must not hold the engine's lock. Thread-safe.
class rank_files final : public storage::file_system {
 public:
  /// Finds no disks yet, see add().
  explicit rank_files(disk_service& of) : service_(of) {}
  ~rank_files() override;

  /// Returns the ranks' directories for this pattern (expand_disk), one per host and name, and
  /// creates missing ones. Asks all ranks, or one; lost ranks contribute none. Throws usage_error if
  /// ranks cannot be asked.
  std::vector<rank_disk> add(std::string const& pattern, std::optional<int> only = {});

  std::unique_ptr<storage::file> create(std::string const& path) override;
  std::unique_ptr<storage::file> open(std::string const& path) override;
  void rename(std::string const& from, std::string const& to) override;
  void remove(std::string const& path) override;
  std::vector<std::string> list(std::string const& directory) override;
  void sync_directory(std::string const& directory) override;
  /// That of another host is claimed by the rank that serves it, until its context ends.
  [[nodiscard]] std::shared_ptr<void const> claim(std::string const& directory,
                                                  std::string const& lost_owner) override;
  [[nodiscard]] bool gone(std::string const& directory) override;
  [[nodiscard]] std::vector<storage::disk_use> use_of(std::vector<std::string> const& directories) override;
  [[nodiscard]] double transfer_seconds() override;

 private:
  struct place {
    rank_disk const* disk = nullptr;  // null: not on a rank's disk
    std::string path{};               // the path on that host
  };
  [[nodiscard]] place find(std::string const& path) const;
  [[nodiscard]] bool here(place const& p) const;
  [[nodiscard]] bool lost(rank_disk const& d) const;
  [[nodiscard]] int server_of(rank_disk const& d) const;
  std::unique_ptr<storage::file> open_as(std::string const& path, remote_file::mode how);
  template <class Call>
  auto with_host(place const& p, Call const& call);
  disk_answer ask(place const& p, disk_request const& r);
  void begin_use(std::string const& pattern);

  disk_service& service_;
  std::vector<rank_disk> disks_;
  bool uses_ = false;  // whether the other ranks were asked to stay attentive
};

/// The directories of a store and the files in them. `ranks:DIR` is expanded to one directory per
/// host (and per DIR, if it contains %h or %r). With `ranks:DIR@CLUSTER` those of other clusters are
/// remote. `memory` is expanded to the memory of each rank. `rank:N:DIR` is expanded to that of rank N's
/// host. If no disk is left because these ranks are lost, that of the root takes their place: find_places()
/// throws lost_rank_error if that is lost, too.
struct store_places {
  std::vector<storage::place> places;
  std::string home{};     // directory on this rank's host, if there is one
  std::string warning{};  // empty: none
  std::unique_ptr<storage::file_system> files;
};
/// Asks all ranks for their disks and creates their directories, if the options name any. Throws
/// usage_error if that is impossible. Must not be called with the engine's lock held.
[[nodiscard]] store_places find_places(disk_service& of, checkpoint_options const& options);

}  // namespace skel::detail
