// The volumes of a job, one after the other: where they are read, and how they reach the ranks (StormView,
// section 6.3).
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grid.hpp"
#include "prepared_volume.hpp"
#include "skel/context.hpp"

namespace skel::volume {

/// Who reads a volume.
enum class grid_source : unsigned char {
  root,  ///< one rank, and a broadcast takes it to the others
  all    ///< each rank: all must see the files; a field is computed by each
};

struct loaded_volume {
  volume_data::grid grid;
  prepared_volume prepared;
};

/// Every rank has one and calls next() alike. A volume that is used for many pictures stays: the paper's user
/// pattern 1. Of several, the next one is read, travels and is made ready by a thread of its own while one is
/// used: pattern 2.
class volume_feed {
 public:
  using opener = std::function<std::unique_ptr<volume_data::volume_reader>()>;

  /// Collective. Begins with the first. `spec` must outlive the feed.
  volume_feed(context& ctx, specification const& spec, std::vector<opener> volumes, grid_source from);

  /// Collective: the next volume; nullptr if the job was stopped early. What reading it threw is thrown on
  /// every rank that has read it, usage_error on all.
  [[nodiscard]] std::unique_ptr<loaded_volume> next();
  /// Seconds for which next() had to wait, and those that reading, travelling and making ready took.
  [[nodiscard]] double waited_seconds() const noexcept { return waited_; }
  [[nodiscard]] double loading_seconds() const noexcept { return loading_; }

 private:
  struct delivery {
    std::unique_ptr<loaded_volume> volume;
    double seconds = 0;
  };
  [[nodiscard]] delivery load(opener const& open);
  void begin_next();

  std::optional<context> beside_;
  context& calls_;
  specification const& spec_;
  std::vector<opener> volumes_;
  grid_source from_;
  std::size_t begun_ = 0;
  double waited_ = 0, loading_ = 0;
  std::future<delivery> coming_;  // last: its end is waited for before the rest is gone
};

}  // namespace skel::volume
