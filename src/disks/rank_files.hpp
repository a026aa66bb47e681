// Directories on the ranks' own hosts, as a file system.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "remote_file.hpp"
#include "skel/storage/file_system.hpp"
#include "skel/storage/options.hpp"
#include "skel/storage/placement.hpp"

namespace skel::detail {

/// A directory that only the ranks of one host reach; paths in it begin with name().
struct rank_disk {
  std::string host, directory;
  std::vector<int> ranks{};  // of that host
  [[nodiscard]] std::string name() const { return host + ":" + directory; }
};

/// Paths of this rank's own host and such without a host are the operating system's; calls for another host
/// are messages to the first of its ranks that lives, and wait for the answer. So no caller may hold the
/// engine's lock. May be used by several threads.
class rank_files final : public storage::file_system {
 public:
  /// Finds the disks out later, see add().
  explicit rank_files(disk_service& of) : service_(of) {}
  ~rank_files() override;

  /// The ranks' directories of this pattern (expand_disk), one for each host and name, made where they are
  /// missing. Asks all ranks; those that are lost have none. usage_error where ranks cannot be asked.
  std::vector<rank_disk> add(std::string const& pattern);

  std::unique_ptr<storage::file> create(std::string const& path) override;
  std::unique_ptr<storage::file> open(std::string const& path) override;
  void rename(std::string const& from, std::string const& to) override;
  void remove(std::string const& path) override;
  std::vector<std::string> list(std::string const& directory) override;
  void sync_directory(std::string const& directory) override;
  [[nodiscard]] bool gone(std::string const& directory) override;
  [[nodiscard]] double transfer_seconds() override;

 private:
  struct place {
    rank_disk const* disk = nullptr;  // none: not on a rank's disk
    std::string path{};               // as that host knows it
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
  bool uses_ = false;  // the other ranks listen
};

/// The directories of a store, `ranks:DIR` expanded to one for each host (and each DIR, where it has %h or
/// %r), and the files in them.
struct store_places {
  std::vector<storage::place> places;
  std::string home{};  // of this rank, where its host has one
  std::unique_ptr<storage::file_system> files;
};
/// Asks all ranks where their disks are and makes their directories, where the options name any. usage_error
/// where that is impossible. Without the engine's lock.
[[nodiscard]] store_places find_places(disk_service& of, checkpoint_options const& options);

}  // namespace skel::detail
