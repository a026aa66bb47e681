#include "tools/checkpoint/telling.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "base/one_line.hpp"

namespace skel::storage {

void warn(std::string const& problem) {
  fmt::print(stderr, "{}: {}\n", program_name, skel::detail::one_line(problem));
}

std::string bytes_in_words(double bytes) {
  for (auto const* const unit : {"B", "kB", "MB", "GB"}) {
    if (bytes < 1000) return fmt::format("{:.4g} {}", bytes, unit);
    bytes /= 1000;
  }
  return fmt::format("{:.4g} TB", bytes);
}

}  // namespace skel::storage
