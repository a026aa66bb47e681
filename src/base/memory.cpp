#include "memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "control_groups.hpp"
#include "format.hpp"

namespace skel::detail {

namespace {

constexpr std::uint64_t least_available = std::uint64_t{64} << 20;
constexpr std::uint64_t if_unknown = std::uint64_t{1} << 30;

std::optional<std::uint64_t> in_machine(std::string const& what) {
  std::ifstream file("/proc/meminfo");
  for (std::string name, rest; file >> name; std::getline(file, rest))
    if (std::uint64_t kib = 0; name == what && file >> kib) return kib * 1024;
  return std::nullopt;
}

constexpr auto none = std::numeric_limits<std::uint64_t>::max();

std::uint64_t permitted(__rlimit_resource what) {
  rlimit limit{};
  return ::getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : none;
}

std::uint64_t read_available() {
  auto const machine = in_machine("MemAvailable:");
  auto const group = memory_of_groups(true);
  if (!machine && !group) return if_unknown;
  return std::max(least_available, std::min(machine.value_or(none), group.value_or(none)));
}

}  // namespace

// Each farm asks. Reading takes longer than a whole call of a few short tasks.
std::uint64_t available_memory() {
  using clock = std::chrono::steady_clock;
  thread_local std::optional<clock::time_point> when;
  thread_local std::uint64_t bytes = 0;
  auto const now = clock::now();
  if (!when || now - *when > std::chrono::seconds(1)) {
    bytes = read_available();
    when = now;
  }
  return bytes;
}

std::uint64_t memory_of_host() {
  auto const machine = in_machine("MemTotal:");
  auto const group = memory_of_groups(false);
  if (!machine && !group) return if_unknown;
  return std::min(machine.value_or(none), group.value_or(none));
}

std::uint64_t memory_of_rank(int ranks_here) {
  auto const share = memory_of_host() / static_cast<std::uint64_t>(std::max(1, ranks_here));
  return std::min({share, permitted(RLIMIT_AS), permitted(RLIMIT_DATA)});
}

std::string text_of_bytes(std::uint64_t bytes) {
  constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < units.size(); ++unit) size /= 1024;
  return detail::format("{:.4g} {}", size, units.at(unit));
}

}  // namespace skel::detail
