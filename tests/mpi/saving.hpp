// Checkpoints of the programs whose ranks kill themselves (deaths.hpp).
#pragma once

#include <filesystem>
#include <string>

#include "skel/storage/options.hpp"

namespace test {

/// Saves as often as possible below `where`: DIR, rank:N:DIR or ranks:DIR/%r, where each seed has its own
/// store, or in the memory of the ranks: memory.
inline skel::checkpoint_options saving_to(std::string const& where, std::string const& seed) {
  skel::checkpoint_options c;
  bool const by_ranks = where == "memory" || where.starts_with("rank");
  c.store = {where == "memory" ? where : where + "/" + seed};
  if (!by_ranks) std::filesystem::create_directories(c.store[0]);
  c.code = where == "memory" || where.starts_with("ranks:") ? "ida:2,1" : "replicate:1";
  c.every_seconds = 0;
  c.program = {"losses", "1"};
  c.problem = "losses";
  return c;
}

}  // namespace test
