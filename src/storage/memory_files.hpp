// Files in the memory of this process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "skel/storage/file_system.hpp"

namespace skel::storage {

/// Every directory exists. Files are gone with the process: nothing is ever synced. Thread-safe.
class memory_files final : public file_system {
 public:
  std::unique_ptr<file> create(std::string const& path) override;
  std::unique_ptr<file> open(std::string const& path) override;
  void rename(std::string const& from, std::string const& to) override;
  void remove(std::string const& path) override;
  std::vector<std::string> list(std::string const& directory) override;
  void sync_directory(std::string const& /*directory*/) override {}

 private:
  class open_file;
  struct content;
  using files = std::map<std::string, std::shared_ptr<content>>;
  [[nodiscard]] files::iterator find(std::string const& path);

  std::mutex mutex_;
  files files_;
};

}  // namespace skel::storage
