// Programs that a seed draws: one to six calls of all skeletons, with results that are known beforehand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/storage/options.hpp"

namespace storm {

/// Draws what happens. The same numbers on every machine.
class dice {
 public:
  explicit dice(std::uint64_t seed) : numbers_(seed) {}
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return numbers_() % n; }
  /// From `a` to `b`, both included.
  [[nodiscard]] std::uint64_t from_to(std::uint64_t a, std::uint64_t b) { return a + below(b - a + 1); }
  [[nodiscard]] double real() { return static_cast<double>(numbers_() >> 11) * 0x1p-53; }
  [[nodiscard]] bool chance(double p) { return real() < p; }
  template <class T, std::size_t n>
  [[nodiscard]] T const& one_of(T const (&all)[n]) {
    return all[below(n)];
  }

 private:
  std::mt19937_64 numbers_;
};

using words = std::vector<std::uint64_t>;

/// Where calls save in the job that runs. Empty: nowhere.
[[nodiscard]] std::optional<skel::checkpoint_options>& present_store();

/// One call of a program.
class call {
 public:
  virtual ~call() = default;
  bool saves = false;  ///< in the present store, if it can
  /// Makes the call. Appends what is known afterwards on the root. Wrong results are reported with fail().
  virtual void make(skel::context& ctx, words& out) const = 0;
  /// What make() appends, computed without skel.
  virtual void expect(words& out) const = 0;
  [[nodiscard]] virtual std::string describe() const = 0;

 protected:
  [[nodiscard]] std::optional<skel::checkpoint_options> checkpoint() const {
    return saves ? present_store() : std::nullopt;
  }
};

/// The result of a task.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

struct program {
  std::vector<std::unique_ptr<call>> calls;
  /// Whether a task may be blamed for the losses of ranks.
  bool blames = false;

  static program draw(dice& d);
  [[nodiscard]] words expected() const;
  [[nodiscard]] std::string describe() const;
  /// The body of run_main.
  void run(skel::context& ctx, words& out) const;
};

/// The seed's job has failed. Ignored on a rank that is dead.
void fail(std::string const& text);
/// The text of the first failure since the last call, or an empty one.
[[nodiscard]] std::string take_failure();
/// Lets virtual time pass within a task of this context.
void spend(skel::context const& ctx, double seconds);

}  // namespace storm
