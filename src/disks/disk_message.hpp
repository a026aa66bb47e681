// The messages by which ranks use each other's disks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opened_stores.hpp"
#include "protocol/codec.hpp"
#include "skel/storage/file_system.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

/// One call per function of storage::file_system and storage::file. In addition, `describe` returns
/// the location of a disk: host, directory and cluster, and a rank sends itself `close_all` to close the
/// files of a lost rank.
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
  use,
  claim,
  close_all
};
constexpr disk_call last_of(disk_call) { return disk_call::close_all; }

struct disk_request {
  disk_call what = disk_call::close;
  std::uint64_t file = 0;  // a number assigned by the requesting rank
  std::uint64_t offset = 0, length = 0;
  std::string path{}, to{};
  std::span<std::byte const> content{};
};

struct disk_answer {
  std::string error{};  // empty: success
  double seconds = 0;   // seconds spent on the disk
  transport::packet content{};
};

/// Request and answer carry a number of the requesting rank. `decode` functions throw
/// protocol_error. The content of a decoded request refers to `body`; that of an answer is not copied.
[[nodiscard]] transport::packet encode(std::uint64_t number, disk_request const& r);
[[nodiscard]] transport::packet encode(std::uint64_t number, disk_answer&& a);
/// Announces that this rank has opened a store on the receiver's disk, or has closed it.
[[nodiscard]] transport::packet encode_use(bool begins);
/// What ranks tell each other of the stores that a job has opened, over all of its attempts.
enum class store_note : std::uint8_t { opened, question, end_of_answer };
constexpr store_note last_of(store_note) { return store_note::end_of_answer; }
[[nodiscard]] transport::packet encode(store_note what);
[[nodiscard]] transport::packet encode(opened_store const& s);
[[nodiscard]] store_note note_of(std::span<std::byte const> body);
[[nodiscard]] opened_store decode_opened_store(std::span<std::byte const> body);

enum class disk_message : std::uint8_t { request, answer, begins, ends };
constexpr disk_message last_of(disk_message) { return disk_message::ends; }
[[nodiscard]] disk_message kind_of(std::span<std::byte const> body);
[[nodiscard]] std::pair<std::uint64_t, disk_request> decode_request(std::span<std::byte const> body);
[[nodiscard]] std::pair<std::uint64_t, disk_answer> decode_answer(transport::packet body);

/// The answer to open(). It contains the beginning and the end of the file, which every reader of a
/// shard reads first.
struct opened_file {
  std::uint64_t size = 0;
  std::vector<std::byte> head{}, tail{};
};

/// The content of an answer: an opened_file, storage::disk_use or list of texts.
template <class T>
[[nodiscard]] std::vector<std::byte> content_of(T const& what) {
  std::vector<std::byte> out;
  role::codec::put(what, out);
  return out;
}
template <class T>
[[nodiscard]] T read_content(std::span<std::byte const> bytes) {
  T what;
  role::codec::get(what, bytes);
  return what;
}

}  // namespace skel::detail
