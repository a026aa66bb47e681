// Messages between a rank and its supervisor.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace skel::commands {

/// Sends bytes as one message. Returns whether there is a reader.
[[nodiscard]] bool send_block(int socket, std::vector<std::byte> const& block);
/// Receives such a message. Empty after the end of the connection.
[[nodiscard]] std::vector<std::byte> receive_block(int socket);
/// Gives a descriptor to the process at the other end.
[[nodiscard]] bool send_descriptor(int socket, int descriptor);
/// Nothing after the end of the connection; -1 if this process may not have one more, which closes it.
[[nodiscard]] std::optional<int> receive_descriptor(int socket);

}  // namespace skel::commands
