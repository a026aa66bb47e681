// The file system as far as shards need it: one function per system call, so that tests can count them, let
// any of them fail, or stand in a disk that forgets what was not synced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace skel::storage {

/// An open file. Errors are skel::error `path: reason`; closing happens in the destructor, which reports
/// nothing: what must last was synced.
class file {
 public:
  file() = default;
  virtual ~file() = default;
  file(file const&) = delete;
  file& operator=(file const&) = delete;

  /// All of `bytes` at the end.
  virtual void write(std::span<std::byte const> bytes) = 0;
  /// Up to bytes.size() from `offset` on: as many as there are before the end of the file.
  virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) = 0;
  virtual std::uint64_t size() = 0;
  /// Returns when what was written survives a loss of power.
  virtual void sync() = 0;
};

class file_system {
 public:
  file_system() = default;
  virtual ~file_system() = default;
  file_system(file_system const&) = delete;
  file_system& operator=(file_system const&) = delete;

  /// An empty file for writing; one of that name is emptied.
  virtual std::unique_ptr<file> create(std::string const& path) = 0;
  virtual std::unique_ptr<file> open(std::string const& path) = 0;
  /// In one step: whoever looks sees the old file or the new one.
  virtual void rename(std::string const& from, std::string const& to) = 0;
  virtual void remove(std::string const& path) = 0;
  /// The names of the files in a directory, sorted; not those of directories.
  virtual std::vector<std::string> list(std::string const& directory) = 0;
  /// Returns when files created, renamed and removed there stay so after a loss of power.
  virtual void sync_directory(std::string const& directory) = 0;

  /// Whether a directory has gone together with its host: nothing is looked for or written there any more.
  [[nodiscard]] virtual bool gone(std::string const& /*directory*/) { return false; }
  /// Seconds that the calls of this thread have spent so far on the way to other hosts and back.
  [[nodiscard]] virtual double transfer_seconds() { return 0; }
};

/// The operating system's.
[[nodiscard]] file_system& real_file_system();

}  // namespace skel::storage
