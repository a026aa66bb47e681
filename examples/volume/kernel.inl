// See kernel.hpp.
#include "kernel.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace volume::SKEL_VOLUME_TARGET {

namespace {

// The order matters.
// clang-format off
#include "lanes.inl"
#include "traversal.inl"
#include "light.inl"
#include "integration.inl"
#include "slab.inl"
#include "packet.inl"
// clang-format on

}  // namespace

kernel const functions{SKEL_VOLUME_NAME, integrate_tile<false>, integrate_tile<true>};

}  // namespace volume::SKEL_VOLUME_TARGET
