// Cuts a picture into tasks, and defines their results.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "renderer.hpp"
#include "skel/transfer.hpp"

namespace volume {

/// Cuts the pixels of a picture into tasks of about `pixels` each [Storm95, §3.2, §4.1].
class task_cutter {
 public:
  /// scattered: task k of n has the blocks k, k + n, k + 2 n, ... of neighbouring tiles. Its pixels
  /// are spread over the picture, so that tasks take about equally long. A block is one tile for
  /// tasks as small as in [Storm95], and at most about a thirtieth of larger tasks, since
  /// neighbouring rays pass through the same cells. blocks: a task is one block.
  enum class decomposition : unsigned char { scattered, blocks };
  [[nodiscard]] static decomposition named(std::string_view text);  ///< the usage_error lists the names

  task_cutter(int width, int height, decomposition how, int pixels);
  [[nodiscard]] std::uint64_t tasks() const noexcept { return tasks_; }
  /// Calls f(tile) for the tiles of a task.
  template <class F>
  void each_tile(std::uint64_t task, F&& f) const {
    auto const across = (columns_ + block_columns_ - 1) / block_columns_;
    auto const blocks = across * ((rows_ + block_rows_ - 1) / block_rows_);
    for (auto block = task; block < blocks; block += tasks_) {
      auto const left = block % across * block_columns_, top = block / across * block_rows_;
      for (auto y = top; y < top + block_rows_ && y < rows_; ++y)
        for (auto x = left; x < left + block_columns_ && x < columns_; ++x) f(y * columns_ + x);
    }
  }

 private:
  std::uint64_t columns_, rows_, block_columns_ = 1, block_rows_ = 1, tasks_ = 1;
};

/// The time of one ray alone, and whether it met the grid [Storm95, table 1].
struct ray_time {
  float seconds;
  std::uint32_t hit;
};

struct sub_image {
  std::vector<rgba> pixels;  ///< pixels of the task's tiles in order, without those outside of the picture
  work_counts counts;
  double seconds = 0;          ///< processor seconds of the task
  std::vector<ray_time> rays;  ///< one per pixel, if requested
};

[[nodiscard]] sub_image render(renderer const& picture, task_cutter const& cut, std::uint64_t task,
                               bool time_rays);

}  // namespace volume

template <>
struct skel::transfer_traits<volume::sub_image> {
  static void pack(volume::sub_image const& s, std::vector<std::byte>& out) {
    skel::pack(s.counts, out);
    skel::pack(s.pixels, out);
    skel::pack(s.seconds, out);
    skel::pack(s.rays, out);
  }
  static void pack_compared(volume::sub_image const& s, std::vector<std::byte>& out) {  // no times
    skel::pack(s.counts, out);
    skel::pack(s.pixels, out);
  }
  static volume::sub_image unpack(std::span<std::byte const>& in) {
    volume::sub_image s;
    s.counts = skel::unpack<volume::work_counts>(in);
    s.pixels = skel::unpack<std::vector<volume::rgba>>(in);
    s.seconds = skel::unpack<double>(in);
    s.rays = skel::unpack<std::vector<volume::ray_time>>(in);
    return s;
  }
};
