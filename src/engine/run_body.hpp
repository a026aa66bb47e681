// The part of run_main that does not depend on the transport.
#pragma once

#include <string>

#include "engine.hpp"
#include "skel/detail/function_reference.hpp"

namespace skel::detail {

/// The last part of argv[0].
[[nodiscard]] std::string program_name(int argc, char** argv);

/// Runs the body. An escaping exception becomes an exit code and one line.
[[nodiscard]] departure run_body(context& ctx, function_reference<int(context&)> body);

}  // namespace skel::detail
