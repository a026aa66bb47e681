// libFuzzer: any text gives a platform or an error.
#include "skel/sim/platform.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::expect_error_or_result([&] {
    (void)skel::sim::platform::parse(fuzz::input{data, size}.text(), "fuzz");
  });
  return 0;
}
