#include "exr.hpp"
#include "skel/error.hpp"

namespace picture {

bool has_exr() noexcept { return false; }

std::vector<std::byte> encode_exr(int, int, std::size_t, std::span<float const>) {
  throw skel::usage_error(".exr: this program was built without OpenEXR (SKEL_OPENEXR)");
}

}  // namespace picture
