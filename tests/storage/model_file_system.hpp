// A file system in memory. It counts its calls and fails or dies at any of them. After a loss of
// power it keeps synced contents (sync()) and names (sync_directory()), and any subset of the rest.
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

/// Signals that the process was killed. Thrown by every further call.
struct killed {};

class model_file_system final : public skel::storage::file_system {
 public:
  enum class trouble : std::uint8_t { none, error, kill };

  explicit model_file_system(std::vector<std::string> const& directories);
  ~model_file_system() override;

  /// Makes the call with this number (from 1) fail; for kill, all later calls too.
  void at_call(std::uint64_t number, trouble what);
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  /// Makes calls fail from now on if `which` is true for their name (as in file_system and file)
  /// and path.
  void refuse(std::function<bool(std::string const& call, std::string const& path)> which) {
    refused_ = std::move(which);
  }
  /// Ends all trouble. After a loss of power only synced data remain.
  void restart(bool power_lost);

  /// The number of writes, creations, renames and removals that are not yet durable.
  [[nodiscard]] std::size_t unsynced() const { return pending_.size(); }
  /// The files after a loss of power that only those unsynced operations survive for which the
  /// predicate is true. A lost write before the end of a file leaves zeros.
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
  // An operation on a file's content or on a directory's names. Names are whole paths.
  struct operation {
    std::shared_ptr<inode> node;   // the file that is written or named
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
