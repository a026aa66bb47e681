// How a run survives the loss of its root, or of all its ranks: what a skeleton saves, where, and how often.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace skel {

/// What is saved goes as shards to directories of a store, see docs/checkpoint.md; what a skeleton saves
/// stands in its own page. The same on every rank.
struct checkpoint_options {
  std::string code = "ida:2,1";  ///< `replicate:COPIES`, `parity:SLICES` or `ida:DATA,PARITY`
  /// Directories, which exist and which all ranks reach; or `ranks:DIR`: DIR on each rank's own host, made
  /// where it is missing, %h in it for the host's name, %r for the rank.
  std::vector<std::string> store{};
  std::vector<std::string> remote_store{};  ///< likewise, far away,
  std::uint64_t remote_every = 0;           ///< for every n-th checkpoint; 0: for none
  double every_seconds = 10;                ///< between checkpoints; 0: whenever the one before is written
  /// Goes on from the newest checkpoint that can be read; usage_error where there is none. Without it the
  /// store must hold none: what was computed is not thrown away by mistake.
  bool resume = false;
  /// Where several checkpoints with the newest number can be read: the beginning of the object (16
  /// hexadecimal digits) that names one, see `skel-checkpoint list`. Otherwise that is a usage_error.
  std::string resume_object{};
  /// Who may go on: the same program in the same version with the same problem, that is, with the same text
  /// of all that the result depends on.
  std::string program = "skel", version{}, problem{};
};

}  // namespace skel
