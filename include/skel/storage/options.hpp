// Checkpoint options: directories, code, interval, and the identity that may resume.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skel {

/// Lets the ranks that are left go on after the loss of the root, and a later run after that of all.
/// Checkpoints are saved as shards in the directories of a store (docs/reference/checkpoint.md); the page of
/// each skeleton says what it saves. All calls of a program may share a store, one after the other; a second
/// job that uses it at the same time is refused with usage_error. Must be equal on all ranks.
struct checkpoint_options {
  /// Whether a run resumes from the newest readable checkpoint of its store.
  enum class resume_mode : std::uint8_t {
    no,       ///< starts; the store must hold no checkpoint, so that no results are overwritten by mistake
    yes,      ///< resumes; usage_error if there is none
    if_there  ///< resumes if a run has committed a checkpoint in the store, otherwise starts
  };

  /// The place of some checkpoints.
  struct far_store {
    std::vector<std::string> store{};  ///< as checkpoint_options::store, in another place
    std::uint64_t every = 5;           ///< every n-th checkpoint goes there, if there is one; 0: none does
  };
  /// The program that saves. Only the same one resumes.
  struct program_version {
    std::string name{};     ///< empty: the name of the executable, if all ranks run the same
    std::string version{};  ///< any text
  };

  std::string code = "ida:2,1";  ///< as storage::code reads it
  /// Existing directories that all ranks reach. `ranks:DIR` is DIR on each rank's own host, created
  /// if it is missing; %h stands for the host's name and %r for the rank. With `ranks:DIR@CLUSTER`
  /// hosts of other clusters (context_options::machine) are remote ones. `rank:N:DIR` is DIR on the
  /// host of rank N alone.
  /// `memory` stands for the memory of each rank: such a store lives as long as the job, and serves only
  /// when ranks are lost.
  std::vector<std::string> store{};
  far_store remote{};  ///< directories in another place, and how often they are used
  /// Between checkpoints; 0: a checkpoint begins when the previous one is written. Empty: follows from
  /// the measured cost of a checkpoint and the rate of failures.
  std::optional<double> every_seconds{};
  /// Mean time between failures that end the whole run, as far as it is known beforehand. Failures that
  /// were observed since the first run of the store correct it.
  double mean_seconds_between_failures = 86400;
  /// A store that is damaged or of another program is a usage_error, whatever the mode.
  resume_mode resume = resume_mode::no;
  /// Selects one of several checkpoints with the newest number, by the first of the 16 hexadecimal
  /// digits that `skel-checkpoint list` prints. If it is empty, several such checkpoints are a
  /// usage_error.
  std::string resume_object{};
  /// A file of 32 bytes, or of 64 hexadecimal digits, readable on all ranks. Its key encrypts every
  /// checkpoint, and only encrypted ones are resumed. A missing or a wrong key is a usage_error. If
  /// it is empty, checkpoints are not encrypted.
  std::string key_file{};
  program_version program{};  ///< only the same program resumes
  /// Only the same problem resumes. Must name everything that the result depends on and that skel cannot see:
  /// constants, values that a lambda captures, files that tasks read, the tasks of an on_root source. Of
  /// itself skel compares the number of the call, its label, its types, the contents of a replicated list
  /// and the members of a plain task function object (docs/reference/rollback.md). Empty: a run that may
  /// resume prints a warning.
  std::string problem{};
};

}  // namespace skel
