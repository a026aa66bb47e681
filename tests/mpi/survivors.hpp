// Runs programs whose ranks kill themselves (deaths.hpp), and checks the survivors' output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "shell.hpp"

namespace test {

/// `command`: the program and its arguments.
inline ended run_with_deaths(std::string const& command, int ranks, char const* suspect_after = "2s") {
  return shell(std::string("SKEL_THREADS=1 SKEL_SUSPECT_AFTER=") + suspect_after + " timeout 200 " +
               SKEL_MPIEXEC_SCRIPT + " -n " + std::to_string(ranks) + " --oversubscribe " + command);
}

/// Each rank of the programs that start in the meantime has a host of its own, with its own disk.
struct own_hosts {
  own_hosts() { ::setenv("SKEL_HOST", "node%r", 1); }
  ~own_hosts() { ::unsetenv("SKEL_HOST"); }
  own_hosts(own_hosts const&) = delete;
  own_hosts& operator=(own_hosts const&) = delete;
};

/// For programs that take WHEN a rank dies, the SIZE of groups, and a seed.
inline std::string in_groups(std::string const& when, int size) {
  return std::string(SKEL_LOSSES) + " " + when + " " + std::to_string(size);
}

inline bool says(ended const& e, std::string const& text) {
  return std::any_of(e.errors.begin(), e.errors.end(),
                     [&](auto const& line) { return line.find(text) != std::string::npos; });
}

/// Runs the command with new seeds until a rank is lost while work is unfinished; a rank may die after the
/// end. Both calls of the program must be right every time. Returns the number of runs.
inline int survives(std::string const& command, std::uint64_t seed, int ranks = 4) {
  for (int attempt = 1; attempt <= 10; ++attempt, seed += 1000) {
    INFO(command << " " << seed << ", " << ranks << " ranks");
    auto const e = run_with_deaths(command + " " + std::to_string(seed), ranks);
    CAPTURE(e.out, e.errors);
    REQUIRE(e.code == 0);
    for (auto const& line : e.out) CHECK(line.starts_with("right, lost"));
    if (says(e, "lost the root")) continue;  // on a busy machine it may have been silent; the body ran again
    REQUIRE(e.out.size() == 2);
    if (e.out[0].find("lost,") == std::string::npos && e.out[0].find("again 0") == std::string::npos)
      return attempt;
  }
  FAIL("no rank was lost in time: " << command);
  return 0;
}

/// The same where WHEN is "root", "root+1" (with another rank at once) or "successor" (then the next root
/// too), until roots were lost in time. The last attempt must be right, and so must calls that were complete
/// before.
inline void survives_roots(std::string const& command, std::string const& when, std::uint64_t seed,
                           int ranks = 4) {
  std::string const attempt = ", attempt " + std::to_string(when == "successor" ? 3 : 2);
  for (int run = 1; run <= 10; ++run, seed += 1000) {
    INFO(command << " " << seed << ", " << ranks << " ranks");
    auto const e = run_with_deaths(command + " " + std::to_string(seed), ranks);
    CAPTURE(e.out, e.errors);
    REQUIRE(e.code == 0);
    REQUIRE(e.out.size() >= 2);
    for (auto const& line : e.out) CHECK(line.starts_with("right, lost"));
    if (e.out.size() == 2 && e.out[0].ends_with(attempt) && e.out[1].ends_with(attempt)) return;
  }
  FAIL("no root was lost in time: " << command);
}

/// For WHEN of the programs in groups.
inline void survive_roots_in_groups(std::string const& when, int size, std::uint64_t seed, int ranks = 4) {
  survives_roots(in_groups(when, size), when, seed, ranks);
}

/// If SKEL_LONG is set, runs a program in groups `runs` times: on 3 to 7 ranks, with groups of all sizes.
inline void campaign_in_groups(int runs) {
  if (std::getenv("SKEL_LONG") == nullptr) return;
  for (int i = 0; i < runs; ++i) {
    auto const seed = 100 + static_cast<std::uint64_t>(i);
    char const* const moments[] = {"random", "two", "all"};
    char const* const roots[] = {"root", "root+1", "successor"};
    survives(in_groups(moments[i % 3], i % 5), seed, 3 + i % 5);
    survive_roots_in_groups(roots[i % 3], i % 5, seed, 4 + i % 4);
  }
}

/// Suspects ranks after less time than a task takes on a busy machine, so ranks are often suspected and heard
/// again. The root may be suspected, too. Checks only that no run hangs and no result is wrong.
inline void survives_suspicions(std::string const& command) {
  auto const e = run_with_deaths(command, 6, "20ms");
  CAPTURE(e.out, e.errors);
  CHECK(e.code != 124);  // timeout ended it
  for (auto const& line : e.out) CHECK(line.starts_with("right, lost"));
  auto const again = std::count_if(e.errors.begin(), e.errors.end(), [](auto const& line) {
    return line.find("lost the root") != std::string::npos;
  });
  if (e.code == 0) CHECK(e.out.size() >= 2);
  // A root that was given up may have printed its lines before.
  CHECK(e.out.size() <= 2 * (1 + static_cast<std::size_t>(again)));
}

}  // namespace test
