// Serialises grids and facts about them.
#pragma once

#include <string>

#include "grid.hpp"
#include "loading.hpp"
#include "skel/transfer.hpp"

namespace volume {

/// The result of the root's read, or its error, so that bad input is reported on every rank.
template <class T>
struct reading {
  T what;
  std::string error;
};

}  // namespace volume

template <>
struct skel::transfer_traits<volume_data::grid> {
  static void pack(volume_data::grid const& g, std::vector<std::byte>& out) {
    skel::pack(g.header.name, out);
    skel::pack(g.header.type, out);
    skel::pack(g.header.size, out);
    for (auto const& axis : g.header.coordinates) skel::pack(axis, out);
    skel::pack(g.values, out);
  }
  static volume_data::grid unpack(std::span<std::byte const>& in) {
    volume_data::grid g;
    g.header.name = skel::unpack<std::string>(in);
    g.header.type = skel::unpack<volume_data::scalar_type>(in);
    g.header.size = skel::unpack<std::array<std::size_t, 3>>(in);
    for (auto& axis : g.header.coordinates) axis = skel::unpack<std::vector<double>>(in);
    g.values = skel::unpack<std::vector<std::byte>>(in);
    return g;
  }
};

template <>
struct skel::transfer_traits<volume::surveyed_grid> {
  static void pack(volume::surveyed_grid const& g, std::vector<std::byte>& out) {
    for (auto const& axis : g.whole.coordinates) skel::pack(axis, out);
    skel::pack(std::array{g.whole.least, g.whole.most}, out);
    skel::pack(g.whole.has_values, out);
    skel::pack(std::array{g.whole.box_low, g.whole.box_high}, out);
    skel::pack(g.slabs, out);
  }
  static volume::surveyed_grid unpack(std::span<std::byte const>& in) {
    volume::surveyed_grid g;
    for (auto& axis : g.whole.coordinates) axis = skel::unpack<std::vector<double>>(in);
    auto const range = skel::unpack<std::array<double, 2>>(in);
    g.whole.least = range[0];
    g.whole.most = range[1];
    g.whole.has_values = skel::unpack<bool>(in);
    auto const box = skel::unpack<std::array<std::array<float, 3>, 2>>(in);
    g.whole.box_low = box[0];
    g.whole.box_high = box[1];
    g.slabs = skel::unpack<std::vector<volume::slab>>(in);
    return g;
  }
};

template <class T>
struct skel::transfer_traits<volume::reading<T>> {
  static void pack(volume::reading<T> const& r, std::vector<std::byte>& out) {
    skel::pack(r.what, out);
    skel::pack(r.error, out);
  }
  static volume::reading<T> unpack(std::span<std::byte const>& in) {
    volume::reading<T> r;
    r.what = skel::unpack<T>(in);
    r.error = skel::unpack<std::string>(in);
    return r;
  }
};
