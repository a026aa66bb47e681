// The accelerators that the environment shows, shared among the ranks and threads of a host.
#pragma once

#include <optional>
#include <string_view>

namespace skel::detail {

/// A rank among the ranks of its host.
struct host_place {
  int rank = 0;
  int size = 1;
};

/// The number of devices in a list such as "0,1" or "GPU-8932f937,GPU-a1b2c3d4". An empty or
/// negative entry hides itself and all later ones, as in CUDA.
[[nodiscard]] int count_devices(std::string_view list);
/// The devices of the first variable that is set: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES,
/// ZE_AFFINITY_MASK. 0 if none is.
[[nodiscard]] int count_visible_devices();
/// The device of a compute thread. Several ranks share one device if ranks are more than devices;
/// otherwise rank r has the devices r, r + size, r + 2 size ..., and its threads take turns.
[[nodiscard]] std::optional<int> device_of(int devices, host_place place, unsigned thread);

}  // namespace skel::detail
