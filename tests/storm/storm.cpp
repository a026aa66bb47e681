// One seed, one job: whole jobs in one thread and in virtual time, with everything that may happen to them.
//     storm --seed N [--trace]       one job, with all that happens
//     storm --seeds FIRST COUNT      many; every hundredth runs twice, and must run alike
//     storm --faults [FIRST LAST]    for each deliberate fault (faults.hpp): the first seed that notices it
// storm_broken has other faults, in the source (faults_in_source.txt).
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "fewer.hpp"
#include "scenario.hpp"

#ifdef STORM_BROKEN
int storm_fault = 0;  // none
#endif

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

// Seeds that found faults of skel or of this test, and are replayed with the first ones. They draw other jobs
// once the scenario changes.
constexpr std::uint64_t wrong_once[] = {5300,   37624,  65651,  69201,  81632,  83085,  86297,  93994,
                                        100290, 102677, 106776, 112326, 115402, 115518, 115699, 125043,
                                        128108, 128389, 129945, 136443, 136676, 138228, 138258, 140857,
                                        145939, 166742, 169146, 170892, 175279, 192440};

int many(std::vector<std::uint64_t> const& seeds) {
  constexpr std::uint64_t twice = 100;
  std::uint64_t count = 0, events = 0, deaths = 0, wrong = 0, succeeded = 0, again = 0;
  auto const begin = std::chrono::steady_clock::now();
  for (std::uint64_t const seed : seeds) {
    ++count;
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

#ifdef STORM_BROKEN
// A fault is switched on in this process.
constexpr char const* names_of_faults[] = {
#include "faults.inl"
};
std::string name_of_fault(std::uint64_t number) { return names_of_faults[number - 1]; }
std::uint64_t number_of_faults() { return std::size(names_of_faults); }
void run_broken(std::uint64_t number, std::uint64_t seed) {
  storm_fault = static_cast<int>(number);
  static_cast<void>(storm::run(storm::scenario::draw(seed)));
}
#else
std::string name_of_fault(std::uint64_t number) { return storm::faults()[number - 1].name; }
std::uint64_t number_of_faults() { return storm::faults().size(); }
void run_broken(std::uint64_t number, std::uint64_t seed) {
  static_cast<void>(storm::run(storm::scenario::draw(seed), nullptr, &storm::faults()[number - 1]));
}
#endif

// What a process that runs broken jobs tells of them.
struct progress {
  std::uint64_t seed;
  char text[200];  // the first line of what is noticed
};

// In a process of its own: a fault may end it, or keep it for ever.
[[noreturn]] void look_for(std::uint64_t number, std::uint64_t most_seeds, progress& p) {
  constexpr unsigned longest = 60;  // seconds
  for (p.seed = 1; p.seed <= most_seeds; ++p.seed) try {
      ::alarm(longest);
      run_broken(number, p.seed);
    } catch (std::exception const& e) {
      std::string const text = e.what();
      text.substr(0, std::min(text.find('\n'), sizeof p.text - 1)).copy(p.text, sizeof p.text - 1);
      ::_exit(1);
    }
  ::_exit(0);
}

int break_it(std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t most_seeds = 20'000;
  auto* const p = static_cast<progress*>(
      ::mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (p == MAP_FAILED) return 2;
  std::uint64_t missed = 0;
  for (auto i = first; i <= std::min(last, number_of_faults()); ++i) {
    *p = {};
    auto const child = ::fork();
    if (child == 0) look_for(i, most_seeds, *p);
    int how = 0;
    if (child < 0 || ::waitpid(child, &how, 0) != child) return 2;
    bool const seen = how != 0;
    if (!seen) ++missed;
    if (WIFSIGNALED(how))
      std::snprintf(p->text, sizeof p->text,
                    WTERMSIG(how) == SIGALRM ? "it does not end" : "signal %d ends it", WTERMSIG(how));
    std::printf("%3llu %-70s %6s  %.100s\n", static_cast<unsigned long long>(i), name_of_fault(i).c_str(),
                seen ? std::to_string(p->seed).c_str() : "-", p->text);
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
  std::uint64_t first_fault = 1, last_fault = number_of_faults();
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
  if (is_one) return one(seed, traces);
  std::vector<std::uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), first);
  if (argc == 1) seeds.insert(seeds.end(), std::begin(wrong_once), std::end(wrong_once));
  return many(seeds);
}
