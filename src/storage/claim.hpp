// A process's claim to a directory, or to one object in it: while it lives, no other process uses the
// checkpoints, or writes the object, there.
#pragma once

#include <memory>
#include <string>

namespace skel::storage {

/// Claims a directory for this process until the returned object is destroyed or the process ends, however it
/// ends. Throws a usage_error that names the host, process and time of another claim whose owner lives.
/// Returns null if no file can be created there.
///
/// The claim is a file with a lock, which the system releases when its owner dies. Some file systems lock for
/// one host only, so an owner also touches its file every two seconds: a claim of another host that is not
/// touched for six seconds is taken over.
///
/// With the name of an object, claims only that one.
///
/// If its owner is `lost_owner` and lives, it has 300 ms to give it up; then it is taken from it.
[[nodiscard]] std::shared_ptr<void const> claim_directory(std::string const& directory,
                                                          std::string const& object = {},
                                                          std::string const& lost_owner = {});

/// Identifies this process in its claims: "HOST, process 12".
[[nodiscard]] std::string claim_owner();

/// Ends all claims of this process to directories. For a process that skips its destructors.
void release_claims();

/// Throws skel::error if another process has taken over this process's claim to the directory of `path`.
void check_claim(std::string const& path);

}  // namespace skel::storage
