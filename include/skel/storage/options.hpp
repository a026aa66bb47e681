// Checkpoints: where a skeleton saves, how often, and who may resume.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace skel {

/// Lets a run survive the loss of its root or of all its ranks. Checkpoints are saved as shards in
/// the directories of a store (docs/checkpoint.md); the page of each skeleton says what it saves.
/// The same on every rank.
struct checkpoint_options {
  std::string code = "ida:2,1";  ///< `replicate:COPIES`, `parity:SLICES` or `ida:DATA,PARITY`
  /// Existing directories that all ranks reach; or `ranks:DIR`: DIR on each rank's own host,
  /// created where it is missing, with %h for the host's name and %r for the rank.
  std::vector<std::string> store{};
  std::vector<std::string> remote_store{};  ///< likewise, in another place
  std::uint64_t remote_every = 0;           ///< every n-th checkpoint goes to remote_store; 0: none does
  double every_seconds =
      10;  ///< between checkpoints; 0: a checkpoint begins when the previous one is written
  /// Resumes from the newest checkpoint that can be read; usage_error where there is none. Without
  /// it the store must hold no checkpoint, so that no results are thrown away by mistake.
  bool resume = false;
  /// Selects one of several checkpoints with the newest number: the first of the 16 hexadecimal
  /// digits that `skel-checkpoint list` prints. Without it, several are a usage_error.
  std::string resume_object{};
  std::string program = "skel";  ///< only the same program resumes
  std::string version{};         ///< only the same version resumes
  std::string problem{};         ///< only the same problem resumes: a text of all that the result depends on
};

}  // namespace skel
