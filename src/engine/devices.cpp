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

int devices_of_rank(int devices, host_place place) {
  if (devices <= place.size) return devices > 0 ? 1 : 0;
  return (devices - place.rank + place.size - 1) / place.size;
}

std::optional<int> device_of(int devices, host_place place, unsigned thread) {
  if (devices <= 0) return std::nullopt;
  if (devices <= place.size) return place.rank % devices;
  auto const own = static_cast<unsigned>(devices_of_rank(devices, place));
  return place.rank + place.size * static_cast<int>(thread % own);
}

int threads_with_devices(int threads, int per_device, int devices_of_rank) {
  return per_device > 0 && devices_of_rank > 0 ? per_device * devices_of_rank : threads;
}

}  // namespace skel::detail
