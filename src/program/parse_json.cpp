#include "program/parse_json.hpp"

#include "base/parse_json.hpp"

namespace skel::program {

nlohmann::json parse_json(std::string_view text) { return detail::parse_json(text); }

}  // namespace skel::program
