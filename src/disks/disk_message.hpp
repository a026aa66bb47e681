// What ranks ask of each other's disks, as messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/packet.hpp"

namespace skel::detail {

/// One for each function of storage::file_system and storage::file; `describe` tells where a disk is, and
/// `close_all` is what a rank tells itself of the files of one that is lost.
enum class disk_call : std::uint8_t {
  describe,
  create,
  open,
  write,
  read,
  sync,
  close,
  rename,
  remove,
  list,
  sync_directory,
  close_all
};

struct disk_request {
  disk_call what = disk_call::close;
  std::uint64_t file = 0;  // a number that the asking rank has given it
  std::uint64_t offset = 0, length = 0;
  std::string path{}, to{};
  std::span<std::byte const> content{};
};

struct disk_answer {
  std::string error{};  // empty: done
  double seconds = 0;   // that the disk took
  std::vector<std::byte> content{};
};

/// Both travel under a number of the asking rank. `decode` functions throw protocol_error; a decoded
/// request's content lies in `body`.
[[nodiscard]] transport::packet encode(std::uint64_t number, disk_request const& r);
[[nodiscard]] transport::packet encode(std::uint64_t number, disk_answer const& a);
/// That this rank has opened a store on the other's disk, or has closed it.
[[nodiscard]] transport::packet encode_use(bool begins);

enum class disk_message : std::uint8_t { request, answer, begins, ends };
[[nodiscard]] disk_message kind_of(std::span<std::byte const> body);
[[nodiscard]] std::pair<std::uint64_t, disk_request> decode_request(std::span<std::byte const> body);
[[nodiscard]] std::pair<std::uint64_t, disk_answer> decode_answer(std::span<std::byte const> body);

/// A file as open() tells of it: its beginning and its end travel with the answer, since whoever opens a
/// shard reads these first.
struct opened_file {
  std::uint64_t size = 0;
  std::vector<std::byte> head{}, tail{};
};
[[nodiscard]] std::vector<std::byte> encode(opened_file const& f);
[[nodiscard]] opened_file decode_opened(std::span<std::byte const> bytes);

[[nodiscard]] std::vector<std::byte> encode(std::vector<std::string> const& texts);
[[nodiscard]] std::vector<std::string> decode_texts(std::span<std::byte const> bytes);

}  // namespace skel::detail
