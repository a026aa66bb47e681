#include "skel/detail/type_names.hpp"

namespace skel::detail {

std::string type_names(std::type_info const& first, std::type_info const& second, std::string_view between) {
  return std::string(first.name()).append(between).append(second.name());
}

}  // namespace skel::detail
