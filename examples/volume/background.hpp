// The background of the volume: a colour, a picture, or a map on the ground; and a frame round the
// grid.
#pragma once

#include <memory>

#include "camera.hpp"
#include "image.hpp"
#include "specification.hpp"

namespace volume {

class background {
 public:
  /// `sides`: of the stretched grid. usage_error if the specification names a file that is no PNG.
  background(specification const& spec, vec3 const& sides);
  background(background&&) noexcept;
  background& operator=(background&&) noexcept;
  ~background();

  /// The picture that the image object is put in front of. Not for kind::none.
  [[nodiscard]] picture::image behind(camera const& view) const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace volume
