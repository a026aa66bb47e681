// Erasure codes as values: the number of data shards, the number of parity shards, and their
// matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace skel::storage {

enum class construction : std::uint8_t;
struct point_rule;

/// A systematic code of m data and k parity shards: the data is cut into m parts, and k more parts
/// are computed from them. Any m of the m + k restore the data [Camargo06, "Data storage
/// strategies"].
///
///     auto const c = skel::storage::code("ida:8,2");                // | "replicate:3" | "parity:9"
///     c.data_shards();                                              // 8
class code {
 public:
  /// From `replicate:COPIES`, `parity:SLICES` (one more shard holds their exclusive or),
  /// `ida:DATA,PARITY[,matrix=vandermonde|cauchy|zfec]` (information dispersal), or `central` for one copy.
  /// Other names of the matrices: backblaze, klauspost and redset for vandermonde, isa-l for cauchy. At
  /// most 256 shards. Another text throws a usage_error that lists the known codes.
  explicit code(std::string_view spec);

  /// m, at least 1.
  [[nodiscard]] std::size_t data_shards() const noexcept { return data_; }
  /// k.
  [[nodiscard]] std::size_t parity_shards() const noexcept { return parity_; }
  /// m + k, at most 256.
  [[nodiscard]] std::size_t shards() const noexcept { return data_ + parity_; }
  /// The shortest text from which the constructor makes this code.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(code const&, code const&) = default;

 private:
  enum class family : std::uint8_t { replicate, parity, dispersal };

  friend point_rule rule_of(code const&);

  family family_ = family::dispersal;
  construction how_{};
  std::size_t data_ = 1, parity_ = 0;
};

}  // namespace skel::storage
