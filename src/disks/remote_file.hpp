// A file on another rank's host.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "disk_service.hpp"
#include "skel/storage/file_system.hpp"

namespace skel::detail {

/// Seconds that this thread has waited for other hosts, without the time of their disks. Per
/// thread, because several threads save at the same time.
[[nodiscard]] double& transfer_of_this_thread();

/// Waits for the answer. Throws skel::error, which begins with the host, if there is no answer or
/// it contains an error.
[[nodiscard]] disk_answer wait_for(disk_service& disks, disk_service::ticket t, std::string const& host);

/// Writes and reads are pipelined, in the memory of a few pieces: writes do not wait for their
/// answers, reads are requested ahead.
class remote_file final : public storage::file {
 public:
  struct remote_path {
    std::string host, path;
    int rank = 0;
  };
  enum class mode : std::uint8_t { create, open };
  remote_file(disk_service& disks, remote_path where, mode how);
  ~remote_file() override;

  void write(std::span<std::byte const> bytes) override;
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) override;
  std::uint64_t size() override { return size_; }
  void sync() override;

 private:
  struct piece {
    std::uint64_t offset = 0;
    transport::packet content{};
    [[nodiscard]] std::uint64_t end() const { return offset + content.size(); }
    [[nodiscard]] bool holds(std::uint64_t at) const { return at >= offset && at < end(); }
  };
  struct asked_piece {
    std::uint64_t offset = 0;
    disk_service::ticket answer = 0;
  };
  disk_answer call(disk_request r);
  void send_written();
  void settle(std::size_t most_under_way);
  [[nodiscard]] piece const& piece_at(std::uint64_t offset);
  void ask_ahead(std::uint64_t offset, std::size_t pieces);

  disk_service& disks_;
  remote_path where_;
  std::uint64_t number_;
  std::uint64_t size_ = 0;
  std::vector<std::byte> written_;              // not yet sent
  std::deque<disk_service::ticket> under_way_;  // unanswered writes
  piece head_, tail_, latest_;
  std::deque<asked_piece> ahead_;  // pieces that follow each other
};

}  // namespace skel::detail
