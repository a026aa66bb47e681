// The farm whose tasks are commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/options.hpp"
#include "skel/context.hpp"
#include "skel/program.hpp"
#include "tools/run/command_list.hpp"
#include "tools/run/request.hpp"
#include "tools/run/supervisor.hpp"

namespace skel::commands {

struct run_settings {
  std::string list = "-";          ///< the file of commands or items; -: standard input
  bool null = false;               ///< --null: entries end with a zero byte, not with their line
  std::string sweep{};             ///< --sweep
  std::vector<std::string> how{};  ///< what follows --: the template
  surroundings where{};
  bool keep_going = false;   ///< --keep-going
  unsigned retries = 0;      ///< --retries
  std::uint64_t memory = 0;  ///< --memory, bytes; 0: not given
  double seconds = 0;        ///< --task-time; 0: not given
  int ranks = 1;             ///< --ranks-per-task
};

struct result {
  std::uint64_t number = 0;
  hash128 identity{};
  outcome how{};
};

/// What survives the loss of the root on all other ranks.
struct kept_data {
  std::optional<std::string> text{};  ///< of the list
  std::vector<result> results{};      ///< of the programs that this rank has started, with --ranks-per-task
};

/// Runs all commands and writes the table. Collective.
[[nodiscard]] program::run_outcome run_commands(context& ctx, program::common_options const& common,
                                                run_settings const& settings, supervisor& commands,
                                                kept_data& kept);

}  // namespace skel::commands
