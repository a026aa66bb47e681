// Mangled names of a call's types, which tell calls apart.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>

namespace skel::detail {

/// "first -> second", with `between` between them.
[[nodiscard]] std::string type_names(std::type_info const& first, std::type_info const& second,
                                     std::string_view between = " -> ");

}  // namespace skel::detail
