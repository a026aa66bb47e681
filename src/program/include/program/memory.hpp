// The memory that this process may still use.
#pragma once

#include "../../../base/memory.hpp"

namespace skel::program {

using detail::available_memory;

}  // namespace skel::program
