#include "control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "text.hpp"

namespace skel::detail {

namespace {

namespace fs = std::filesystem;

// "max" is no number.
template <class Number>
std::optional<Number> number_in(fs::path const& file) {
  Number n{};
  if (std::ifstream(file) >> n) return n;
  return std::nullopt;
}

bool is_listed(std::string_view name, std::string_view list) {
  return (',' + std::string(list) + ',').find(',' + std::string(name) + ',') != std::string::npos;
}

// Calls visit(version, folder) for the group of this controller and those around it. Lines are "0::/a/b" in
// version 2 and "4:cpu,cpuacct:/a/b" in version 1, where each list of controllers has a folder of its own.
template <class Visit>
void each_group(std::string_view controller, group_folders const& where, Visit const& visit) {
  std::ifstream file(where.process / "cgroup");
  for (std::string line; std::getline(file, line);) {
    auto const first = line.find(':');
    auto const second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    auto const list = line.substr(first + 1, second - first - 1);
    bool const is_second_version = line.starts_with("0::");
    if (!is_second_version && !is_listed(controller, list)) continue;
    std::error_code ignored;
    auto top = where.groups;
    if (!is_second_version) top /= fs::exists(top / controller, ignored) ? std::string(controller) : list;
    for (auto group = fs::path(line.substr(second + 1)).relative_path();; group = group.parent_path()) {
      visit(is_second_version ? 2 : 1, top / group);
      if (group.empty()) break;
    }
  }
}

}  // namespace

std::optional<std::uint64_t> memory_of_groups(bool left, group_folders const& where) {
  std::optional<std::uint64_t> least;
  each_group("memory", where, [&](int version, fs::path const& group) {
    auto const number = [&](char const* first, char const* second) {
      return number_in<std::uint64_t>(group / (version == 1 ? first : second));
    };
    // Without a limit, that of version 1 is larger than any machine.
    auto const most = number("memory.limit_in_bytes", "memory.max");
    auto const used = left ? number("memory.usage_in_bytes", "memory.current") : std::uint64_t{0};
    if (most && used) least = std::min(least.value_or(*most), *most - std::min(*most, *used));
  });
  return least;
}

double cores_of_groups(group_folders const& where) {
  double least = std::numeric_limits<double>::infinity();
  each_group("cpu", where, [&](int version, fs::path const& group) {
    std::optional<double> time, period;
    if (version == 1) {
      time = number_in<double>(group / "cpu.cfs_quota_us");
      period = number_in<double>(group / "cpu.cfs_period_us");
    } else {
      std::ifstream file(group / "cpu.max");  // "max 100000" or "150000 100000"
      std::string allowed;
      double of = 0;
      if (file >> allowed >> of) {
        time = to_number<double>(allowed);
        period = of;
      }
    }
    if (time && period && *time > 0 && *period > 0) least = std::min(least, *time / *period);
  });
  return least;
}

}  // namespace skel::detail
