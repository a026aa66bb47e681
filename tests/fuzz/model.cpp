// libFuzzer: the inputs of skel-model. A model that was read is written and read again.
#include "skel/model/model.hpp"

#include <cstdlib>

#include "fuzz.hpp"
#include "skel/model/basis.hpp"
#include "skel/model/machine.hpp"
#include "skel/model/sample.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace skel::model;
  if (size == 0) return 0;
  auto const text = fuzz::input{data + 1, size - 1}.text();
  fuzz::expect_error_or_result([&] {
    switch (data[0] % 6) {
      case 0: {
        auto const m = model::parse(text, "fuzz");
        if (model::parse(m.to_json(), "again").to_json() != m.to_json()) std::abort();
        break;
      }
      case 1:
        (void)machine::parse(text, "fuzz").to_json();
        break;
      case 2:
        (void)parse_samples(text, "fuzz");
        break;
      case 3:
        (void)parse_extra_p(text, "fuzz");
        break;
      case 4: {
        for (auto const& b : parse_basis(text))
          if (parse_basis(to_string(b)).size() != 1) std::abort();
        break;
      }
      default:
        (void)parse_expression(text);
        break;
    }
  });
  return 0;
}
