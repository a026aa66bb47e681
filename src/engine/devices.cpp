#include "devices.hpp"

#include <cstdlib>

namespace skel::detail {

int count_devices(std::string_view list) {
  int count = 0;
  while (!list.empty()) {
    auto const end = list.find(',');
    auto entry = list.substr(0, end);
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    if (entry.empty() || entry.front() == '-') break;
    ++count;
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return count;
}

int count_visible_devices() {
  for (char const* const name : {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"})
    if (char const* const list = std::getenv(name)) return count_devices(list);
  return 0;
}

std::optional<int> device_of(int devices, host_place place, unsigned thread) {
  if (devices <= 0) return std::nullopt;
  if (devices <= place.size) return place.rank % devices;
  int const own = (devices - place.rank + place.size - 1) / place.size;
  return place.rank + place.size * static_cast<int>(thread % static_cast<unsigned>(own));
}

}  // namespace skel::detail
