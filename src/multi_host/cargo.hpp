// The contents of a multi_host call's messages: pieces and results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "skel/detail/group_work.hpp"
#include "transport/packet.hpp"

namespace skel::detail {

/// The result of a piece: an object if it was made on this rank and stays, otherwise bytes of a packet.
struct held_piece {
  std::unique_ptr<piece_result> object;
  std::shared_ptr<transport::packet> whole;
  std::size_t at = 0, size = 0;  ///< of `whole`
  [[nodiscard]] std::span<std::byte const> packed() const { return whole->bytes().subspan(at, size); }
};

struct labelled_piece {
  std::uint64_t unit = 0, piece = 0;
  held_piece held;
};

/// The results of a unit, by piece.
using unit_of_results = std::vector<held_piece>;

/// The contents of one message. Objects that this rank sends to itself are not serialized.
struct group_cargo {
  std::shared_ptr<host_packet const> object;  ///< a packet that this rank has cut
  transport::packet packed;                   ///< or one that another rank has sent
  std::vector<labelled_piece> pieces;         ///< results
  std::size_t used = 0;                       ///< of `pieces`
};

}  // namespace skel::detail
