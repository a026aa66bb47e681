// Parses JSON files written by hand.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace skel::program {

/// Parses JSON text. Throws nlohmann::json::exception if `text` is not valid JSON or if an object
/// contains a key twice.
nlohmann::json parse_json(std::string_view text);

}  // namespace skel::program
