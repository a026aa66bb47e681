// The calls of which programs consist.
#pragma once

#include <cstdint>
#include <memory>

#include "program.hpp"

namespace storm {

/// The time of a part of a call: most parts take a similar one, some ten times as long.
struct costs {
  double ordinary = 0;  ///< seconds
  std::uint64_t salt = 0;
  static costs draw(dice& d) {
    static constexpr double typical[] = {0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
    return {d.one_of(typical), d.below(1'000'000)};
  }
  [[nodiscard]] double of(std::uint64_t i) const {
    auto const x = mix(i ^ (salt << 20));
    return ordinary * (x % 16 == 0 ? 10 : 0.2 + static_cast<double>(x % 1000) / 1000);
  }
};

/// Called at the beginning of each task and of each call of a sink: the rank may die there.
void begin_task();
void begin_sink();

[[nodiscard]] std::unique_ptr<call> draw_farm(dice& d);
[[nodiscard]] std::unique_ptr<call> draw_other(dice& d);
[[nodiscard]] std::unique_ptr<call> draw_long_steal(dice& d);

}  // namespace storm
