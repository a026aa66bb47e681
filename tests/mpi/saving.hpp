// Checkpoints of the programs whose ranks kill themselves (deaths.hpp).
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

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

/// Waits until a generation after the first, which is saved before any task begins, is committed in a store
/// below `directory`; at most 30 s.
inline void wait_for_results_in(std::string const& directory) {
  auto const there = [&] {
    std::error_code vanished;  // files do, meanwhile
    for (auto f = std::filesystem::recursive_directory_iterator(directory, vanished);
         f != std::filesystem::recursive_directory_iterator(); f.increment(vanished)) {
      auto const name = f->path().filename().string();
      if (name.starts_with("manifest.") && !name.starts_with("manifest.1.")) return true;
    }
    return false;
  };
  for (int i = 0; i < 3000 && !there(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace test
