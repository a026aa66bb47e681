// libFuzzer: any bytes give a rendering specification, with which a small volume is rendered, or an
// error.
#include "specification.hpp"

#include <cstdlib>

#include "field.hpp"
#include "fuzz.hpp"
#include "renderer.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace volume;
  static auto const grid = volume_data::read_grid(*volume_data::open_field("metaballs:7x6x5"));
  fuzz::expect_error_or_result([&] {
    auto spec = parse_specification(fuzz::input{data, size}.text(), "fuzz");
    spec.rule = rule::exact;  // the other rule may take arbitrarily long, depending on the tolerance
    prepared_volume const volume(grid, spec);
    renderer const r(volume, spec, make_camera(spec, volume.low(), volume.sides(), 4, 4));
    work_counts counts;
    for (auto const& pixel : r.tile(0, counts))
      if (!(pixel.opacity >= -1e-3F && pixel.opacity <= 1.001F)) std::abort();
  });
  return 0;
}
