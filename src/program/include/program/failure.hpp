// Errors that programs throw.
#pragma once

#include "skel/error.hpp"

namespace skel::program {

/// Thrown if --verify finds a difference. The exit code is 1.
class verification_error : public error {
 public:
  using error::error;
};

}  // namespace skel::program
