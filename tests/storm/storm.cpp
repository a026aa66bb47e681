// One seed, one job: whole jobs in one thread and in virtual time, with everything that may happen to them.
//     storm --seed N [--trace]       one job, with all that happens
//     storm --seeds FIRST COUNT      many; every hundredth runs twice, and must run alike
//     storm --faults [FIRST LAST]    for each deliberate fault (faults.hpp): the first seed that notices it
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fewer.hpp"
#include "scenario.hpp"

namespace {

// Standard error of the ranks goes to their world.
ssize_t print(void* /*cookie*/, char const* text, std::size_t size) {
  if (auto* const w = storm::current_world()) w->print({text, size});
  return static_cast<ssize_t>(size);
}

int one(std::uint64_t seed, bool traces) {
  auto const s = storm::scenario::draw(seed);
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), s.describe().c_str());
  std::fflush(stdout);
  try {
    auto const sum = storm::run(s, traces ? stdout : nullptr);
    std::printf("%s after %.6f s, attempt %d, %d deaths, %llu events, hash %llx\n",
                sum.succeeded ? "succeeds" : "fails as it may", sum.seconds, sum.attempts, sum.deaths,
                static_cast<unsigned long long>(sum.events), static_cast<unsigned long long>(sum.hash));
    return 0;
  } catch (storm::violation const& e) {
    std::printf("WRONG: %s\n", e.what());
    return 1;
  }
}

int many(std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t twice = 100;
  std::uint64_t events = 0, deaths = 0, wrong = 0, succeeded = 0, again = 0;
  auto const begin = std::chrono::steady_clock::now();
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    auto const s = storm::scenario::draw(seed);
    try {
      auto const sum = storm::run(s);
      events += sum.events;
      deaths += static_cast<std::uint64_t>(sum.deaths);
      succeeded += sum.succeeded ? 1 : 0;
      again += sum.attempts > 1 ? 1 : 0;
      if (seed % twice == 0)
        if (auto const other = storm::run(storm::scenario::draw(seed)); other.hash != sum.hash)
          throw storm::violation("the seed does not replay: it has another hash the second time\n" +
                                 s.describe());
    } catch (storm::violation const& e) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), e.what());
      if (++wrong == 20) break;
    }
  }
  double const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(
      "%llu jobs in %.1f s: %llu succeed, %llu after the loss of a root, %llu deaths, %llu events, %llu "
      "wrong\n",
      static_cast<unsigned long long>(count), took, static_cast<unsigned long long>(succeeded),
      static_cast<unsigned long long>(again), static_cast<unsigned long long>(deaths),
      static_cast<unsigned long long>(events), static_cast<unsigned long long>(wrong));
  return wrong > 0 ? 1 : 0;
}

// The first line of what is noticed.
std::string noticed(storm::fault const& f, std::uint64_t seed) {
  try {
    static_cast<void>(storm::run(storm::scenario::draw(seed), nullptr, &f));
    return {};
  } catch (storm::violation const& e) {
    std::string const text = e.what();
    return text.substr(0, text.find('\n'));
  }
}

int break_it(std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t most_seeds = 20'000;
  auto const& all = storm::faults();
  std::uint64_t missed = 0;
  for (auto i = first; i <= std::min<std::uint64_t>(last, all.size()); ++i) {
    auto const& f = all[i - 1];
    std::string how;
    std::uint64_t seed = 1;
    while (seed <= most_seeds && (how = noticed(f, seed)).empty()) ++seed;
    if (how.empty()) ++missed;
    std::printf("%3llu %-50s %6s  %s\n", static_cast<unsigned long long>(i), f.name.c_str(),
                how.empty() ? "-" : std::to_string(seed).c_str(), how.substr(0, 100).c_str());
  }
  return missed > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::FILE* const of_ranks =
      ::fopencookie(nullptr, "w", {.read = nullptr, .write = print, .seek = nullptr, .close = nullptr});
  std::setvbuf(of_ranks, nullptr, _IONBF, 0);
  stderr = of_ranks;
  std::uint64_t seed = 0, first = 1,
                count = std::getenv("SKEL_LONG") != nullptr ? 100'000 : test::fewer_if_slow(2'000);
  std::uint64_t first_fault = 1, last_fault = storm::faults().size();
  bool is_one = false, traces = false, breaks = false;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "--seed" && i + 1 < argc) {
      is_one = true;
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--seeds" && i + 2 < argc) {
      first = std::strtoull(argv[++i], nullptr, 10);
      count = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--faults") {
      breaks = true;
      if (i + 2 < argc) {
        first_fault = std::strtoull(argv[++i], nullptr, 10);
        last_fault = std::strtoull(argv[++i], nullptr, 10);
      }
    } else if (word == "--trace") {
      traces = true;
    } else {
      std::printf("usage: storm [--seed N [--trace] | --seeds FIRST COUNT | --faults [FIRST LAST]]\n");
      return 2;
    }
  }
  if (breaks) return break_it(first_fault, last_fault);
  return is_one ? one(seed, traces) : many(first, count);
}

// A rank that ends its process (engine/exit_status.hpp) ends its fibre.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names
[[noreturn]] void __real__exit(int code);
[[noreturn]] void __wrap__exit(int code);
void __wrap__exit(int code) {
  if (auto* const w = storm::current_world(); w != nullptr && w->current() >= 0) w->exit(code);
  __real__exit(code);
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
}
