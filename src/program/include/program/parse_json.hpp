// Parses JSON files written by hand.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace skel::program {

/// Parses JSON text. Throws nlohmann::json::exception if `text` is not valid JSON, if an object
/// contains a key twice, or if it is nested more than 100 deep.
nlohmann::json parse_json(std::string_view text);

}  // namespace skel::program
