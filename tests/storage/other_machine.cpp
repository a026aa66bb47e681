// Saves or resumes a checkpoint; compiled for another machine by scripts/try-on-machine.sh. Both directions
// have to be refused, and maintenance has to work.
//   other_machine save|resume|repair DIRECTORY...
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "skel/error.hpp"
#include "skel/storage/repository.hpp"

using namespace skel::storage;

namespace {

int save(repository const& store, std::span<std::byte const> bytes) {
  auto const plan = store.next(2);
  for (std::uint32_t part = 0; part < 2; ++part) store.prepare(plan, part, "part", bytes);
  store.commit(plan);
  return 0;
}

int resume(repository const& store, std::span<std::byte const> bytes) {
  auto const found = store.restore();
  if (!found || found->parts.size() != 2) return 3;
  return std::ranges::all_of(found->parts, [&](auto const& p) { return std::ranges::equal(p, bytes); }) ? 0
                                                                                                        : 4;
}

int repair(repository const& store) {
  for (auto const& g : store.catalogue()) store.repair(g, store.verify(g));
  return std::ranges::all_of(store.catalogue(), [](auto const& g) { return g.state() == condition::whole; })
             ? 0
             : 5;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  repository_options options;
  options.identity = {"other-machine", "1", 7};
  options.code = code("ida:2,1");
  options.block_size = 4096;
  for (int i = 2; i < argc; ++i) options.places.push_back({argv[i], "", false});
  std::vector<double> numbers(3000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.1 * static_cast<double>(i);
  auto const bytes = std::as_bytes(std::span(numbers));
  std::string_view const what = argv[1];
  try {
    repository const store(options, [](std::string const& problem) { std::printf("%s\n", problem.c_str()); });
    return what == "save" ? save(store, bytes) : what == "repair" ? repair(store) : resume(store, bytes);
  } catch (skel::usage_error const& refused) {
    std::printf("%s\n", refused.what());
    return 2;
  }
}
