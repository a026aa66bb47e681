// The system's name of this host.
#pragma once

#include <string>

namespace skel::detail {

/// "unknown" if the system does not say.
[[nodiscard]] std::string system_host_name();

}  // namespace skel::detail
