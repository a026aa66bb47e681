// This rank's disk for the others: what they ask is done one after the other, by a thread that only works on
// files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "disk_message.hpp"
#include "skel/storage/file_system.hpp"

namespace skel::detail {

/// `pattern` with %h for the host's name, %r for the rank and %% for a percent sign. usage_error for others.
[[nodiscard]] std::string expand_disk(std::string const& pattern, std::string const& host, int rank);

/// The disk of one rank. Not for several threads at once.
class disk_host {
 public:
  disk_host(int rank, std::string host) : rank_(rank), host_(std::move(host)) {}
  /// What rank `from` wants. Errors are part of the answer.
  [[nodiscard]] disk_answer perform(int from, disk_request const& r);

 private:
  [[nodiscard]] std::vector<std::byte> result(int from, disk_request const& r);
  [[nodiscard]] std::vector<std::byte> describe(std::string const& pattern) const;
  [[nodiscard]] storage::file& file_of(int from, std::uint64_t number);

  int rank_;
  std::string host_;
  std::map<std::pair<int, std::uint64_t>, std::unique_ptr<storage::file>> open_;  // by who and which
};

}  // namespace skel::detail
