// Serves this rank's disk to the other ranks. A thread that works only on files performs their
// requests one after the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "disk_message.hpp"
#include "skel/storage/file_system.hpp"

namespace skel::detail {

/// Begins the paths of files in the memory of a rank. No file has such a path on a disk: those are absolute.
inline constexpr std::string_view memory_disk = "memory:";

/// A rank's number in the job, and what its options say of its host.
struct host_info {
  int rank = 0;
  std::string name{};
  std::string cluster{};         // empty: none
  std::optional<double> load{};  // empty: measured
  storage::file_system* memory = nullptr;

  /// Has the files with such a path, which is one of memory or of the operating system.
  [[nodiscard]] storage::file_system& files_of(std::string const& path) const;
};

/// Expands %h to the host's name, %r to the rank and %% to a percent sign. Throws usage_error for
/// any other use of %.
[[nodiscard]] std::string expand_disk(std::string const& pattern, std::string const& host, int rank);

/// The disk of one rank. Not thread-safe.
class disk_host {
 public:
  explicit disk_host(host_info host) : host_(std::move(host)) {}
  /// Performs a request of rank `from`. Errors are part of the answer.
  [[nodiscard]] disk_answer perform(int from, disk_request const& r);

 private:
  [[nodiscard]] transport::packet result(int from, disk_request const& r);
  [[nodiscard]] std::vector<std::byte> describe(std::string const& pattern) const;
  [[nodiscard]] storage::disk_use use_of(std::string const& directory) const;
  [[nodiscard]] std::vector<std::byte> claim(int from, std::string const& directory,
                                             std::string const& lost_owner);
  [[nodiscard]] storage::file& file_of(int from, std::uint64_t number);

  host_info host_;
  std::map<std::pair<int, std::uint64_t>, std::unique_ptr<storage::file>> open_;  // by rank and file number
  struct claimed {
    int by = 0;  // a rank
    std::shared_ptr<void const> kept;
  };
  std::map<std::string, claimed> claims_;  // until the context ends
};

}  // namespace skel::detail
