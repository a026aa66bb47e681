// Sections of the files of this folder: a comment `// error: TEXT`, then code that compiles as it is, and
// fails with this text if SKEL_COMPILE_FAIL is defined.
#pragma once

#include <skel/skel.hpp>

// clang-format off
#ifdef SKEL_COMPILE_FAIL
#define MISTAKE(right, ...) __VA_ARGS__
#else
#define MISTAKE(right, ...) right
#endif
// clang-format on
