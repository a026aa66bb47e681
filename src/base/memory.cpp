#include "memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace skel::detail {

namespace {

constexpr std::uint64_t least = std::uint64_t{64} << 20;
constexpr std::uint64_t if_unknown = std::uint64_t{1} << 30;

// "max" is no number.
std::optional<std::uint64_t> number_in(std::filesystem::path const& file) {
  std::uint64_t n = 0;
  if (std::ifstream(file) >> n) return n;
  return std::nullopt;
}

std::optional<std::uint64_t> left_in_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, rest; file >> name; std::getline(file, rest))
    if (std::uint64_t kib = 0; name == "MemAvailable:" && file >> kib) return kib * 1024;
  return std::nullopt;
}

// The least of the process's group (version 2) and those around it.
std::optional<std::uint64_t> left_in_group() {
  namespace fs = std::filesystem;
  std::optional<std::uint64_t> left;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::/")) continue;
    fs::path const top = "/sys/fs/cgroup";
    for (auto group = fs::path(line.substr(4));; group = group.parent_path()) {
      auto const most = number_in(top / group / "memory.max");
      auto const used = number_in(top / group / "memory.current");
      if (most && used) left = std::min(left.value_or(*most), *most - std::min(*most, *used));
      if (group.empty()) break;
    }
  }
  return left;
}

}  // namespace

std::uint64_t available_memory() {
  auto const machine = left_in_machine();
  auto const group = left_in_group();
  if (!machine && !group) return if_unknown;
  constexpr auto none = std::numeric_limits<std::uint64_t>::max();
  return std::max(least, std::min(machine.value_or(none), group.value_or(none)));
}

}  // namespace skel::detail
