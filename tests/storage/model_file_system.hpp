// A file system in memory that counts its calls, fails or dies at any of them, and after a loss of power has
// what was synced, contents by sync(), names by sync_directory(), and any of what was not.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codes_support.hpp"
#include "skel/storage/file_system.hpp"

namespace test {

/// The process was killed; thrown by every call from then on.
struct killed {};

class model_file_system final : public skel::storage::file_system {
 public:
  enum class trouble : std::uint8_t { none, error, kill };

  explicit model_file_system(std::vector<std::string> const& directories);
  ~model_file_system() override;

  /// The call of this number (from 1) and, for kill, all later ones do not happen.
  void at_call(std::uint64_t number, trouble what);
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// From now on calls (by their names in file_system and file) on paths for which this is true fail.
  void refuse(std::function<bool(std::string const& call, std::string const& path)> which) {
    refused_ = std::move(which);
  }
  /// The machine goes on: no more trouble. After a loss of power only what was synced is left.
  void restart(bool power_lost);

  /// Writes, creations, renames and removals that are not durable, in their order.
  [[nodiscard]] std::size_t unsynced() const { return pending_.size(); }
  /// The files after a loss of power that only those of them have survived for which this is true. A file has
  /// zeros where a write before its end is lost.
  [[nodiscard]] std::map<std::string, byte_vector> after_power_loss(
      std::function<bool(std::size_t)> const& survives) const;

  [[nodiscard]] std::vector<std::string> all_paths() const;
  byte_vector& content(std::string const& path);
  void remove_directory(std::string const& path);
  void put(std::string const& path, byte_vector const& content);

  std::unique_ptr<skel::storage::file> create(std::string const& path) override;
  std::unique_ptr<skel::storage::file> open(std::string const& path) override;
  void rename(std::string const& from, std::string const& to) override;
  void remove(std::string const& path) override;
  std::vector<std::string> list(std::string const& path) override;
  void sync_directory(std::string const& path) override;

 private:
  friend class model_file;
  struct inode {
    byte_vector now, durable;
  };
  using names = std::map<std::string, std::shared_ptr<inode>>;
  struct directory {
    names now, durable;
  };
  // What changes a file's content or a directory's names; in a directory by whole paths.
  struct operation {
    std::shared_ptr<inode> node;   // what is written to, or gets a name
    std::size_t offset = 0;        // write
    byte_vector bytes;             // write
    std::string removed, created;  // names
    bool truncates = false;
  };
  void call(char const* name, std::string const& path);
  directory& directory_of(std::string const& path);
  std::shared_ptr<inode> find(std::string const& path);

  std::map<std::string, directory> directories_;
  std::uint64_t calls_ = 0, trouble_at_ = 0;
  trouble trouble_ = trouble::none;
  std::function<bool(std::string const&, std::string const&)> refused_;
  std::vector<operation> pending_;
};

}  // namespace test
