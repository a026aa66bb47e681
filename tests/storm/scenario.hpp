// What happens to a job: its ranks, its program, its losses, all drawn from a seed; and what must come of it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "disks.hpp"
#include "faults.hpp"
#include "program.hpp"
#include "world.hpp"

namespace storm {

/// Where the job saves, if it does, and what becomes of it.
struct store_plan {
  std::optional<skel::checkpoint_options> options{};
  std::vector<disk_plan> disks{};
  /// A second job resumes, in which these ranks are lost.
  bool again = false, power_lost = false;
  skel::checkpoint_options::resume_mode mode{};
  std::vector<kill_plan> kills{};
  [[nodiscard]] bool is_well() const {
    return std::all_of(disks.begin(), disks.end(), [](auto const& d) { return d.is_well(); });
  }
};

struct scenario {
  std::uint64_t seed = 0;
  int ranks = 1;
  int spares = 0;         ///< of these
  double patience = 0.5;  ///< seconds of silence
  wires_plan wires{};
  std::vector<int> hosts{};
  std::vector<kill_plan> kills{};
  std::vector<pause_plan> pauses{};
  std::vector<cut_plan> cuts{};
  std::uint64_t remember = 0;  ///< bytes
  program what{};
  store_plan store{};

  static scenario draw(std::uint64_t seed);
  [[nodiscard]] std::string describe() const;
};

struct summary {
  std::uint64_t hash = 0, events = 0;
  int deaths = 0;
  int attempts = 0;        ///< of the last root
  bool succeeded = false;  ///< the ranks that are left have the right results
  double seconds = 0;      ///< of virtual time
};

/// Runs the job, with a deliberate fault if `broken` is given. Throws violation, whose text says how to
/// replay it.
summary run(scenario const& s, std::FILE* trace = nullptr, fault const* broken = nullptr);

}  // namespace storm
