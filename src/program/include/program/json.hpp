// JSON of unknown origin, for the readers of programs.
#pragma once

#include "../../../base/json.hpp"

namespace skel::program {

using detail::json_reader;

}  // namespace skel::program
