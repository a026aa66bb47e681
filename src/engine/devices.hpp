// The accelerators that the environment shows, shared among the ranks and threads of a host.
#pragma once

#include <optional>
#include <string>
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
/// The number of devices of a rank. Several ranks share one device if ranks are more than devices;
/// otherwise rank r has the devices r, r + size, r + 2 size ...
[[nodiscard]] int devices_of_rank(int devices, host_place place);
/// The device of a compute thread. The threads of a rank take turns at its devices.
[[nodiscard]] std::optional<int> device_of(int devices, host_place place, unsigned thread);
/// The compute threads of a rank with `devices_of_rank` devices: `per_device` for each, or `threads` if the
/// rank has none or `per_device` is 0.
[[nodiscard]] int threads_with_devices(int threads, int per_device, int devices_of_rank);

/// Where a rank computes. Set by the code that makes the engine.
struct rank_place {
  std::string host{};
  host_place on_host{};    // default: no other rank shares the host
  int cores = 1;           // the rank's share of the cores that it may use
  bool has_cores = false;  // each compute thread of the host has a core of its own
  int visible_devices = count_visible_devices();
  bool looked_for_inner_threads = false;  // threads that libraries may start within tasks

  /// The accelerator of a compute thread, see worker_info::device.
  [[nodiscard]] std::optional<int> device(unsigned thread) const {
    return device_of(visible_devices, on_host, thread);
  }
  [[nodiscard]] int threads(int wanted, int per_device) const {
    return threads_with_devices(wanted, per_device, devices_of_rank(visible_devices, on_host));
  }
};

}  // namespace skel::detail
