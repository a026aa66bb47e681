// Cuts a buffer into shards of which any m restore it, without files and names.
//
//     auto shards = skel::storage::encode(skel::storage::code("ida:4,2"), buffer);
//     shards[0].clear();  // lost
//     auto const again = skel::storage::decode(skel::storage::code("ida:4,2"), shards, buffer.size());
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skel/storage/code.hpp"

namespace skel::storage {

/// Returns the m data shards, which are the buffer in pieces of ceil(size / m) bytes, the last ones
/// filled up with zeros, and after them the k parity shards [Camargo06, "Data storage strategies"].
[[nodiscard]] std::vector<std::vector<std::byte>> encode(code const& how, std::span<std::byte const> buffer);

/// Returns the buffer of `size` bytes. Empty shards are lost. Damaged shards are not noticed; files of
/// a repository are (skel/storage/repository.hpp). Throws usage_error if shards do not have the number and
/// size that encode() makes, and skel::error if fewer than m are left.
[[nodiscard]] std::vector<std::byte> decode(code const& how, std::span<std::vector<std::byte> const> shards,
                                            std::size_t size);

}  // namespace skel::storage
