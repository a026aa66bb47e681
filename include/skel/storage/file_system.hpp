// The part of a file system that shards need. One function per system call, so that tests can count
// calls, let any of them fail, or replace the disk by one that forgets unsynced data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skel::storage {

/// An open file. All functions throw skel::error `path: reason`. The destructor closes the file and
/// ignores errors; call sync() for data that must survive.
class file {
 public:
  file() = default;
  virtual ~file() = default;
  file(file const&) = delete;
  file& operator=(file const&) = delete;

  /// Appends all of `bytes`.
  virtual void write(std::span<std::byte const> bytes) = 0;
  /// Reads up to bytes.size() bytes from `offset` on. Returns their number, which is smaller only
  /// at the end of the file.
  virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) = 0;
  /// The size of the file in bytes.
  virtual std::uint64_t size() = 0;
  /// Blocks until the written data survives a loss of power.
  virtual void sync() = 0;
};

/// How a directory's host and disk are used at the moment.
struct disk_use {
  std::optional<double> load{};  ///< threads that want to run, per core; empty: unknown
  std::uint64_t free = std::numeric_limits<std::uint64_t>::max();  ///< bytes
};

/// Files and directories. All functions throw skel::error `path: reason`.
class file_system {
 public:
  file_system() = default;
  virtual ~file_system() = default;
  file_system(file_system const&) = delete;
  file_system& operator=(file_system const&) = delete;

  /// Creates a file for writing, or empties an existing one.
  virtual std::unique_ptr<file> create(std::string const& path) = 0;
  /// Opens an existing file for reading.
  virtual std::unique_ptr<file> open(std::string const& path) = 0;
  /// Renames atomically: other processes see the old file or the new one.
  virtual void rename(std::string const& from, std::string const& to) = 0;
  /// Removes a file.
  virtual void remove(std::string const& path) = 0;
  /// The names of the files in a directory, without directories, sorted.
  virtual std::vector<std::string> list(std::string const& directory) = 0;
  /// Blocks until creations, renames and removals in the directory survive a loss of power.
  virtual void sync_directory(std::string const& directory) = 0;

  /// Claims a directory for this process until the returned object is destroyed, so that two jobs do not save
  /// in it at the same time. Throws usage_error while another living process has it. May return null.
  /// `lost_owner`, see storage::claim_owner(): a process that this job has lost; if it lives, it loses the
  /// claim, and can no longer create, rename or remove files there.
  [[nodiscard]] virtual std::shared_ptr<void const> claim(std::string const& /*directory*/,
                                                          std::string const& /*lost_owner*/ = {}) {
    return {};
  }
  /// Whether the host of a directory is lost: the directory is no longer read or written.
  [[nodiscard]] virtual bool gone(std::string const& /*directory*/) { return false; }
  /// How each of these directories is used; one without an answer has no free bytes. By default
  /// all have room and an unknown load.
  [[nodiscard]] virtual std::vector<disk_use> use_of(std::vector<std::string> const& directories) {
    return std::vector<disk_use>(directories.size());
  }
  /// Seconds that this thread's calls have spent so far on transfers to and from other hosts.
  [[nodiscard]] virtual double transfer_seconds() { return 0; }
};

/// The file system of the operating system.
[[nodiscard]] file_system& real_file_system();

}  // namespace skel::storage
