// Errors of programs.
#pragma once

#include "skel/error.hpp"

namespace skel::program {

/// --verify found a difference: exit code 1.
class verification_error : public error {
 public:
  using error::error;
};

}  // namespace skel::program
