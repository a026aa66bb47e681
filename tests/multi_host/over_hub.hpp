// Runs whole multi_host calls over several ranks in one process.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "slices.hpp"
#include "transport/hub_transport.hpp"

namespace groups {

// Returns what the sink on the root receives, in order.
inline std::vector<std::uint64_t> run(hub::job& job, std::uint64_t units, slices const& what,
                                      skel::multi_host_options const& how, skel::report* report = nullptr) {
  written out;
  job.run([&](skel::context& ctx) {
    auto r = skel::multi_host(ctx, units, what, std::ref(out), how).report;
    if (report != nullptr && ctx.is_root()) *report = std::move(r);
  });
  return out.text;
}

inline skel::multi_host_options size(unsigned n) {
  skel::multi_host_options o;
  o.group_size = n;
  return o;
}

}  // namespace groups
