// Checkpoints of the programs whose ranks kill themselves (deaths.hpp).
#pragma once

#include <filesystem>
#include <string>

#include "skel/storage/options.hpp"

namespace test {

/// Saves as often as possible below `where`: DIR, rank:N:DIR or ranks:DIR/%r. Each seed has its own store.
inline skel::checkpoint_options saving_to(std::string const& where, std::string const& seed) {
  skel::checkpoint_options c;
  c.store = {where + "/" + seed};
  if (!where.starts_with("rank")) std::filesystem::create_directories(c.store[0]);
  c.code = where.starts_with("ranks:") ? "ida:2,1" : "replicate:1";
  c.every_seconds = 0;
  c.program = {"losses", "1"};
  c.problem = "losses";
  return c;
}

}  // namespace test
