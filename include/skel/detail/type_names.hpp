// Mangled names of a call's types, which distinguish calls.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

namespace skel::detail {

/// Returns "first -> second"; `between` replaces the arrow.
[[nodiscard]] std::string type_names(std::type_info const& first, std::type_info const& second,
                                     std::string_view between = " -> ");

}  // namespace skel::detail
