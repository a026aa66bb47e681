// Finds the name that a misspelt word may mean.
#pragma once

#include <string>
#include <vector>

namespace skel::detail {

/// Returns the nearest name, if a third of the word's letters or fewer are wrong, or the only one that begins
/// with the word. Empty if there is none.
[[nodiscard]] std::string nearest(std::string const& word, std::vector<std::string> const& names);

}  // namespace skel::detail
