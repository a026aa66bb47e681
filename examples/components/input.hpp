// The input of the readers behind read_graph: the bytes of a file, unpacked if it is gzipped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "graph_file.hpp"

namespace components {

class input {
 public:
  /// Throws usage_error `path: reason`.
  explicit input(std::string path);
  ~input();
  input(input const&) = delete;
  input& operator=(input const&) = delete;

  /// Fills `to` as far as the file goes and returns the number of bytes. Throws usage_error for a
  /// gzip file that is damaged, truncated, or followed by anything but another gzip file.
  std::size_t read(std::span<std::byte> to);
  /// Returns the first bytes without consuming them. Must precede all reads.
  [[nodiscard]] std::string begins_with(std::size_t size);
  /// Returns the file's size and a hash of a part of its bytes, packed or not: up to 64 blocks of
  /// 4 KB, the last one included. Must precede all reads.
  [[nodiscard]] std::string sample();

  [[nodiscard]] std::string const& path() const noexcept { return path_; }
  [[nodiscard]] bool packed() const noexcept { return gzip_ != nullptr; }
  /// The number of bytes of the file as it is, packed or not.
  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// Continues at this byte. A packed file can only stay where it is.
  void seek(std::uint64_t position);
  /// Continues at the first byte, also of a packed file.
  void rewind();
  /// Throws usage_error `path: at byte N: text`, where N is the position of the next byte, or `at`.
  /// For a gzip file it is `path: at byte N of the unpacked data: text`.
  [[noreturn]] void fail(std::string const& text) const { fail_at(position_, text); }
  [[noreturn]] void fail_at(std::uint64_t at, std::string const& text) const;

 private:
  struct gzip;
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::size_t read_file(std::span<std::byte> to);
  std::size_t unpack(std::span<std::byte> to);
  [[noreturn]] void fail_packed(std::string const& text) const;
  [[noreturn]] void fail_at_rest() const;

  std::string path_;
  std::uint64_t position_ = 0;
  std::unique_ptr<std::FILE, closer> file_;
  std::unique_ptr<gzip> gzip_;  // set if the file is packed
};

/// Where a share of `count` bytes or edges begins; its end is where the next one begins.
[[nodiscard]] inline std::uint64_t begin_of(std::uint64_t part, std::uint64_t parts, std::uint64_t count) {
  return count / parts * part + count % parts * part / parts;
}

/// Gives a sink edges in blocks.
class edge_buffer {
 public:
  explicit edge_buffer(edge_sink const& sink) : sink_(sink) {}
  void add(edge e) {
    some_[size_++] = e;
    if (size_ == some_.size()) flush();
  }
  void flush() {
    count_ += size_;
    if (size_ > 0) sink_({some_.data(), size_});
    size_ = 0;
  }
  [[nodiscard]] std::uint64_t count() const { return count_ + size_; }

 private:
  edge_sink const& sink_;
  std::uint64_t count_ = 0;
  std::size_t size_ = 0;
  std::array<edge, 4096> some_;
};

// Each reads a share of a file that is not packed, or all of a packed file. `sink` receives the
// edges. What concerns all shares together is only checked if there is one.
[[nodiscard]] file_facts read_edge_list(input& in, node_limit nodes, file_share share, edge_sink const& sink);
[[nodiscard]] file_facts read_matrix_market(input& in, node_limit nodes, file_share share,
                                            edge_sink const& sink);
[[nodiscard]] file_facts read_serialized_graph(input& in, node_limit limit, file_share share,
                                               edge_sink const& sink);
[[nodiscard]] file_facts read_binary_edges(input& in, node_limit limit, file_share share,
                                           edge_sink const& sink);

/// Whether the first word is that of Matrix Market: with one % or two, in capitals or not.
[[nodiscard]] bool is_matrix_banner(std::string_view text);
/// Whether the file is a graph of METIS. Reads it until that is clear.
[[nodiscard]] bool is_metis(input& in);

inline constexpr char binary_magic[] = "skeledge";
inline constexpr char matrix_magic[] = "%%MatrixMarket";

}  // namespace components
