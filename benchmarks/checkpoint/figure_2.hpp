// Figure 2 of the paper: the time to encode and decode, over the size of the data, the number of
// slices, and k.
#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// Writes PREFIX.csv and PREFIX.svg; sizes up to `largest` bytes.
void figure_2(std::string const& prefix, std::size_t largest, int rounds);

}  // namespace bench
