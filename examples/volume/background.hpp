// The background of the volume (a colour, a picture, or a map on the ground), and a frame around
// the grid.
#pragma once

#include <memory>

#include "camera.hpp"
#include "image.hpp"
#include "specification.hpp"

namespace volume {

class background {
 public:
  /// `sides`: side lengths of the stretched grid. Throws usage_error if the specification names a
  /// file that is not a PNG.
  background(specification const& spec, vec3 const& sides);
  background(background&&) noexcept;
  background& operator=(background&&) noexcept;
  ~background();

  /// The picture behind the image object. Must not be called for kind::none.
  [[nodiscard]] picture::image behind(camera const& view) const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace volume
