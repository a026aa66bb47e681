// The input of the readers behind read_graph: the bytes of a file, unpacked if it is gzipped.
#pragma once

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

  [[nodiscard]] std::string const& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// Throws usage_error `path: at byte N: text`, where N is the position of the next byte, or `at`.
  /// For a gzip file it is `path: at byte N of the unpacked data: text`.
  [[noreturn]] void fail(std::string const& text) const { fail_at(position_, text); }
  [[noreturn]] void fail_at(std::uint64_t at, std::string const& text) const;

 private:
  struct gzip;
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void rewind();
  std::size_t read_file(std::span<std::byte> to);
  std::size_t unpack(std::span<std::byte> to);
  [[noreturn]] void fail_packed(std::string const& text) const;
  [[noreturn]] void fail_at_rest() const;

  std::string path_;
  std::uint64_t position_ = 0;
  std::unique_ptr<std::FILE, closer> file_;
  std::unique_ptr<gzip> gzip_;  // set if the file is packed
};

using node_limit = std::optional<std::uint64_t>;

[[nodiscard]] graph read_edge_list(input& in, node_limit nodes);
[[nodiscard]] graph read_matrix_market(input& in, node_limit nodes);
[[nodiscard]] graph read_serialized_graph(input& in, node_limit limit);
[[nodiscard]] graph read_binary_edges(input& in, node_limit limit);

inline constexpr char binary_magic[] = "skeledge";
inline constexpr char matrix_magic[] = "%%MatrixMarket";

}  // namespace components
