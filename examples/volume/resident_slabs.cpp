#include "resident_slabs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "skel/bsp.hpp"
#include "skel/hash.hpp"
#include "slab_rays.hpp"
#include "travelling.hpp"

namespace volume {

namespace {

/// Rays on their way to a slab, or back to the root; or the planes of a slab, on their way to its rank.
struct slab_message {
  std::uint64_t frame = 0;
  std::uint64_t position = 0;  ///< in the order of the frame's slabs; behind the last: the rays have ended
  std::uint64_t memory = 0;    ///< bytes of the sender's slabs
  travelling_rays rays;
  std::vector<volume_data::grid> planes;  ///< none, or those of slab `position`
};

}  // namespace

}  // namespace volume

template <>
struct skel::transfer_traits<volume::slab_message> {
  static void pack(volume::slab_message const& m, std::vector<std::byte>& out) {
    skel::pack(std::array{m.frame, m.position, m.memory}, out);
    skel::pack(m.rays, out);
    skel::pack(m.planes, out);
  }
  static volume::slab_message unpack(std::span<std::byte const>& in) {
    volume::slab_message m;
    auto const numbers = skel::unpack<std::array<std::uint64_t, 3>>(in);
    m.frame = numbers[0];
    m.position = numbers[1];
    m.memory = numbers[2];
    m.rays = skel::unpack<volume::travelling_rays>(in);
    m.planes = skel::unpack<std::vector<volume_data::grid>>(in);
    return m;
  }
};

namespace volume {

namespace {

/// What a rank holds; the root also the pictures at work.
class slab_member {
 public:
  slab_member(opener const& open, grid_source from, surveyed_grid const& grid, job const& what,
              picture_sink const& done)
      : open_(open),
        from_(from),
        grid_(grid),
        what_(what),
        done_(done),
        tiles_(tiling(what.spec.width, what.spec.height).tiles()),
        batches_(std::min<std::uint64_t>(tiles_, batches_per_slab * grid.slabs.size())) {
    for (int f = 0; f < what.frames; ++f) orders_.push_back(order_of(grid, what, f));
    result.hashes.resize(orders_.size());
  }

  /// At the beginning, and after a loss.
  void begin(int rank, int size) {
    ranks_ = static_cast<std::size_t>(size);
    held_.clear();
    pictures_.clear();
    next_ = {};
    if (from_ == grid_source::root) return;
    for (std::size_t s = 0; s < grid_.slabs.size(); ++s)
      if (owner(s) == rank) hold(s, read_slab(open_, grid_, s));
  }

  /// Returns whether there is more to send, or the root waits for rays.
  bool step(skel::superstep<slab_message>& now) {
    for (auto& letter : now.received()) {
      auto& m = letter.content;
      result.grid_memory = std::max(result.grid_memory, static_cast<std::size_t>(m.memory));
      if (!m.planes.empty())
        hold(m.position, m.planes.front());
      else if (m.position == grid_.slabs.size())
        record(m);
      else
        take_through(m, now);
    }
    if (now.rank() != 0) return false;
    result.grid_memory = std::max(result.grid_memory, memory());
    if (from_ == grid_source::root && next_.slab < grid_.slabs.size())
      send_slab(now);
    else
      send_batch(now);
    return next_.slab < grid_.slabs.size() || next_.frame < orders_.size() || !pictures_.empty();
  }

  job_result result;  ///< on the root

 private:
  static constexpr std::uint64_t batches_per_slab = 8;  // fills the pipeline for eight ninths of the time

  struct unfinished {
    std::vector<tile_state> states;
    std::uint64_t missing;  // tiles
    work_counts counts;
  };

  [[nodiscard]] int owner(std::size_t slab) const {
    auto const count = grid_.slabs.size();
    return static_cast<int>(slab * std::min(ranks_, count) / count);
  }

  void hold(std::size_t slab, volume_data::grid const& planes) {
    held_.insert_or_assign(
        slab, std::make_unique<prepared_volume>(planes, what_.spec, grid_.whole, grid_.slabs[slab]));
  }

  [[nodiscard]] std::size_t memory() const {
    std::size_t bytes = 0;
    for (auto const& [slab, volume] : held_) bytes += volume->memory();
    return bytes;
  }

  /// One in a superstep, so that the root holds the planes of one.
  void send_slab(skel::superstep<slab_message>& now) {
    auto const slab = next_.slab++;
    slab_message m;
    m.position = slab;
    m.planes.push_back(read_slab(open_, grid_, slab));
    if (owner(slab) == 0)
      hold(slab, m.planes.front());
    else
      now.send(owner(slab), m);
  }

  void send_batch(skel::superstep<slab_message>& now) {
    next_.slab = grid_.slabs.size();
    while (next_.frame < orders_.size() && !result.hashes[next_.frame].empty())
      ++next_.frame;  // done before a loss
    if (next_.frame == orders_.size()) return;
    if (next_.batch == 0) pictures_[next_.frame] = {std::vector<tile_state>(tiles_), tiles_, {}};
    travelling_rays rays;
    for (auto t = next_.batch; t < tiles_; t += batches_) rays.tiles.push_back(t);
    rays.states.resize(rays.tiles.size());
    send_on(next_.frame, 0, rays, now);
    if (++next_.batch < batches_) return;
    next_.batch = 0;
    ++next_.frame;
  }

  void take_through(slab_message& m, skel::superstep<slab_message>& now) {
    auto const frame = static_cast<int>(m.frame);
    auto const slab = orders_[m.frame][m.position];
    renderer const picture(*held_.at(slab), what_.spec, view_of(grid_, what_, frame), what_.instructions);
    std::vector<work_counts> counts(m.rays.tiles.size());
    now.parallel_for(m.rays.tiles.size(), [&](std::uint64_t i) {
      picture.take_through(m.rays.tiles[i], m.rays.states[i], counts[i]);
    });
    for (auto const& c : counts) {
      m.rays.counts.cells += c.cells;
      m.rays.counts.segments += c.segments;
    }
    send_on(m.frame, m.position + 1, m.rays, now);
  }

  /// Sends each tile to the next slab that one of its rays meets, or to the root.
  void send_on(std::uint64_t frame, std::uint64_t position, travelling_rays const& rays,
               skel::superstep<slab_message>& now) {
    auto const& order = orders_[frame];
    std::map<std::uint64_t, travelling_rays> groups;
    for (std::size_t i = 0; i < rays.tiles.size(); ++i) {
      auto next = position;
      while (next < order.size() && !meets(rays.states[i], grid_.slabs[order[next]])) ++next;
      groups[next].tiles.push_back(rays.tiles[i]);
      groups[next].states.push_back(rays.states[i]);
    }
    groups.begin()->second.counts = rays.counts;
    for (auto& [next, group] : groups)
      now.send(next < order.size() ? owner(order[next]) : 0, {frame, next, memory(), std::move(group), {}});
  }

  void record(slab_message const& m) {
    auto& picture = pictures_.at(m.frame);
    for (std::size_t i = 0; i < m.rays.tiles.size(); ++i) picture.states[m.rays.tiles[i]] = m.rays.states[i];
    picture.missing -= m.rays.tiles.size();
    picture.counts.cells += m.rays.counts.cells;
    picture.counts.segments += m.rays.counts.segments;
    if (picture.missing > 0) return;
    auto const image = picture_of(picture.states, what_.spec.width, what_.spec.height);
    auto const frame = static_cast<int>(m.frame);
    result.hashes[m.frame] = skel::xxh3_hex(std::as_bytes(std::span(image.rgba)));
    result.counts.cells += picture.counts.cells;
    result.counts.segments += picture.counts.segments;
    done_(frame, view_of(grid_, what_, frame), image);
    pictures_.erase(m.frame);
  }

  opener const& open_;
  grid_source from_;
  surveyed_grid const& grid_;
  job const& what_;
  picture_sink const& done_;
  std::uint64_t tiles_, batches_;
  std::vector<std::vector<std::size_t>> orders_;  // of each frame
  std::size_t ranks_ = 1;
  std::map<std::size_t, std::unique_ptr<prepared_volume>> held_;
  std::map<std::uint64_t, unfinished> pictures_;
  struct {
    std::size_t slab = 0;
    std::uint64_t frame = 0, batch = 0;
  } next_;  // to send
};

struct slab_program {
  using state = char;
  using message = slab_message;
  slab_member* here;

  [[nodiscard]] state begin(int rank, int size) const {
    here->begin(rank, size);
    return 0;
  }
  bool step(state& /*unused*/, skel::superstep<message>& now) const { return here->step(now); }
};

}  // namespace

job_result render_in_resident_slabs(skel::context& ctx, opener const& open, grid_source from,
                                    surveyed_grid const& grid, job const& what, picture_sink const& done) {
  require_exact_rule_without_times(what);
  slab_member here(open, from, grid, what, done);
  skel::bsp_options options;
  options.label = "slabs";
  auto run = skel::bsp(ctx, slab_program{&here}, options).report;
  here.result.run = std::move(run);
  return std::move(here.result);
}

}  // namespace volume
