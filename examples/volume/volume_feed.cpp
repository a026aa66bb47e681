#include "volume_feed.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "skel/broadcast.hpp"
#include "skel/error.hpp"
#include "stopwatch.hpp"
#include "travelling_grid.hpp"

namespace skel::volume {

namespace {

/// What the root has read, or why it could not: bad input is bad input on every rank.
struct reading {
  volume_data::grid grid;
  std::string error;
};

}  // namespace

}  // namespace skel::volume

template <>
struct skel::transfer_traits<skel::volume::reading> {
  static void pack(volume::reading const& r, std::vector<std::byte>& out) {
    skel::pack(r.grid, out);
    skel::pack(r.error, out);
  }
  static volume::reading unpack(std::span<std::byte const>& in) {
    volume::reading r;
    r.grid = skel::unpack<volume_data::grid>(in);
    r.error = skel::unpack<std::string>(in);
    return r;
  }
};

namespace skel::volume {

volume_feed::volume_feed(context& ctx, specification const& spec, std::vector<opener> volumes,
                         grid_source from)
    : beside_(volumes.size() > 1 ? std::optional(ctx.beside()) : std::nullopt),
      calls_(beside_ ? *beside_ : ctx),
      spec_(spec),
      volumes_(std::move(volumes)),
      from_(from) {
  begin_next();
}

volume_feed::delivery volume_feed::load(opener const& open) {
  auto const start = std::chrono::steady_clock::now();
  auto const read = [&] {
    reading r;
    try {
      r.grid = volume_data::read_grid(*open());
    } catch (usage_error const& bad) {
      r.error = bad.what();
    }
    return r;
  };
  auto got = from_ == grid_source::all ? std::optional(read()) : broadcast(calls_, on_root(read), "grid");
  if (!got) return {};
  if (!got->error.empty()) throw usage_error(got->error);
  prepared_volume prepared(got->grid, spec_);
  auto volume = std::make_unique<loaded_volume>(loaded_volume{std::move(got->grid), std::move(prepared)});
  return {std::move(volume), seconds_since(start)};
}

void volume_feed::begin_next() {
  if (begun_ == volumes_.size()) return;
  coming_ = std::async(beside_ ? std::launch::async : std::launch::deferred,
                       [this, i = begun_] { return load(volumes_[i]); });
  ++begun_;
}

std::unique_ptr<loaded_volume> volume_feed::next() {
  auto const start = std::chrono::steady_clock::now();
  auto got = coming_.get();
  waited_ += seconds_since(start);
  loading_ += got.seconds;
  if (got.volume) begin_next();
  return std::move(got.volume);
}

}  // namespace skel::volume
