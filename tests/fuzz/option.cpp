// libFuzzer: the small languages of command-line options.
#include "base/text.hpp"
#include "fuzz.hpp"
#include "generate.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/on_error.hpp"
#include "skel/schedule.hpp"
#include "uts.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size == 0) return 0;
  auto const text = fuzz::input{data + 1, size - 1}.text();
  fuzz::expect_error_or_result([&] {
    switch (data[0] % 7) {
      case 0:
        skel::any_schedule(text).policy().check();
        break;
      case 1:
        (void)skel::parse_results(text);
        break;
      case 2:
        (void)skel::any_division(text);
        break;
      case 3:
        (void)skel::detail::parse_duration(text);
        break;
      case 4:
        (void)components::parse_graph(text);
        break;
      case 5: {
        auto const policy = skel::to_string(skel::parse_on_error(text));
        if (skel::to_string(skel::parse_on_error(policy)) != policy) __builtin_trap();
        break;
      }
      default:
        (void)search::parse_tree(text);
        break;
    }
  });
  return 0;
}
