// libFuzzer: any bytes give a farm's checkpoint, which is written and read again, or a
// protocol_error.
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "fuzz.hpp"
#include "tasks/recorder.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const bytes = fuzz::input{data, size}.bytes();
  fuzz::expect_error_or_result([&] {
    constexpr std::uint64_t tasks = 1U << 16U;
    auto const entries = skel::detail::read_log(bytes, tasks);
    skel::detail::result_log log;
    std::vector<char> seen(tasks);
    for (auto const& e : entries) {
      for (auto const& r : e.ranges)
        for (std::uint64_t i = 0; i < r.count; ++i)
          if (std::exchange(seen.at(r[i]), 1) != 0) std::abort();
      log.add(e.ranges, e.results);
    }
    std::vector<std::byte> again;
    for (auto const& s : log.take()) again.insert(again.end(), s->begin(), s->end());
    auto const read = skel::detail::read_log(again, tasks);
    if (read.size() != entries.size()) std::abort();
    for (std::size_t i = 0; i < read.size(); ++i)
      if (read[i].ranges != entries[i].ranges || !std::ranges::equal(read[i].results, entries[i].results))
        std::abort();
  });
  return 0;
}
