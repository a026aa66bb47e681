// Codes as values: how many shards hold the data, how many more there are, and which matrix makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace skel::storage {

enum class construction : std::uint8_t;
class matrix;

/// A systematic code of m data and k parity shards: the data cut into m parts, and k more parts computed from
/// them; any m of the m + k give the data back (de Camargo, Cerqueira, Kon 2006, "Data storage strategies").
/// Regular.
///
///     auto const c = skel::storage::code("ida:8,2");                // | "replicate:3" | "parity:9"
///     c.data_shards();                                              // 8
class code {
 public:
  /// `replicate:COPIES` (of which one holds the data), `parity:SLICES` (and one more: their exclusive or),
  /// `ida:DATA,PARITY[,matrix=vandermonde|cauchy|zfec]` (information dispersal; see construction). Further
  /// names of the matrices: backblaze, klauspost and redset for vandermonde, isa-l for cauchy. At most 256
  /// shards. Otherwise a usage_error that says what is known.
  explicit code(std::string_view spec);

  [[nodiscard]] std::size_t data_shards() const noexcept { return data_; }
  [[nodiscard]] std::size_t parity_shards() const noexcept { return parity_; }
  [[nodiscard]] std::size_t shards() const noexcept { return data_ + parity_; }
  /// The shortest spec that gives this code.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(code const&, code const&) = default;

 private:
  enum class family : std::uint8_t { replicate, parity, dispersal };

  friend matrix parity_of(code const&);

  family family_ = family::dispersal;
  construction how_{};
  std::size_t data_ = 1, parity_ = 0;
};

}  // namespace skel::storage
