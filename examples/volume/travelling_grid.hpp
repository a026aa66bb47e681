// How a grid becomes bytes.
#pragma once

#include <string>

#include "grid.hpp"
#include "skel/transfer.hpp"

template <>
struct skel::transfer_traits<skel::volume_data::grid> {
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
