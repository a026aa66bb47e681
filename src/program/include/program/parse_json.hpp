// JSON files that people write.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace skel::program {

/// Parses a JSON text. Throws nlohmann::json::exception if `text` is not JSON, or if an object has the same
/// key twice.
nlohmann::json parse_json(std::string_view text);

}  // namespace skel::program
