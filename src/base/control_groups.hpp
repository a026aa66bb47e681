// The limits of the control groups of this process, of version 1 or 2.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace skel::detail {

/// The folders in which the kernel shows them; tests have others.
struct group_folders {
  std::filesystem::path process = "/proc/self", groups = "/sys/fs/cgroup";
};

/// The least number of bytes that the group and those around it may use, or what is left of that. Nothing if
/// none has a limit.
[[nodiscard]] std::optional<std::uint64_t> memory_of_groups(bool left, group_folders const& where = {});
/// Cores' worth of processor time, likewise; infinity without a limit.
[[nodiscard]] double cores_of_groups(group_folders const& where = {});

}  // namespace skel::detail
