// A file system in memory for fuzz targets.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "skel/error.hpp"
#include "skel/storage/file_system.hpp"

namespace fuzz {

/// Files in memory, by path; every directory exists.
class files_in_memory final : public skel::storage::file_system {
 public:
  std::map<std::string, std::vector<std::byte>> content;

  std::unique_ptr<skel::storage::file> create(std::string const& path) override {
    return std::make_unique<memory_file>(content[path] = {});
  }
  std::unique_ptr<skel::storage::file> open(std::string const& path) override {
    return std::make_unique<memory_file>(find(path));
  }
  void rename(std::string const& from, std::string const& to) override {
    content[to] = std::move(find(from));
    content.erase(from);
  }
  void remove(std::string const& path) override { content.erase(path); }
  std::vector<std::string> list(std::string const& directory) override {
    std::vector<std::string> names;
    for (auto const& [path, bytes] : content)
      if (path.starts_with(directory + '/')) names.push_back(path.substr(directory.size() + 1));
    return names;
  }
  void sync_directory(std::string const& /*directory*/) override {}

 private:
  std::vector<std::byte>& find(std::string const& path) {
    auto const at = content.find(path);
    if (at == content.end()) throw skel::error(path + ": No such file or directory");
    return at->second;
  }
  class memory_file final : public skel::storage::file {
   public:
    explicit memory_file(std::vector<std::byte>& bytes) : bytes_(bytes) {}
    void write(std::span<std::byte const> bytes) override {
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) override {
      if (offset >= bytes_.size()) return 0;
      auto const n = std::min<std::uint64_t>(bytes.size(), bytes_.size() - offset);
      std::memcpy(bytes.data(), bytes_.data() + offset, n);
      return n;
    }
    std::uint64_t size() override { return bytes_.size(); }
    void sync() override {}

   private:
    std::vector<std::byte>& bytes_;
  };
};

}  // namespace fuzz
