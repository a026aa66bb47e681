// Times communication patterns. The root announces each pattern and its start to all ranks, and
// receives the time at which each rank finished.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "skel/context.hpp"

namespace skel::model {

enum class pattern : std::uint8_t { all_to_all, ping_pong, exchange };

/// A pattern to time. `supersteps` follow each other. In each of them every rank sends `messages`
/// messages to every other rank (all_to_all), or one to its partner (exchange), and waits for
/// everything that it is to receive.
struct exercise {
  pattern what = pattern::all_to_all;
  bool serialised = false;  ///< through Boost.Serialization instead of as bytes
  std::uint32_t ranks = 2;  ///< number of ranks, the lowest of the context
  std::uint32_t supersteps = 1;
  std::uint32_t messages = 1;
  std::uint64_t bytes = 4;  ///< size of the sent value
};

class calibration_run final : public detail::run {
 public:
  explicit calibration_run(context& ctx);

  /// Root only: makes all ranks run the pattern and returns the seconds from the start until the
  /// last rank finished.
  double time(exercise const& what);
  /// Root only: makes obey() return on the other ranks.
  void finish();
  /// Other ranks: executes the root's orders.
  void obey();
  /// Root only, called first: determines the differences between the clocks.
  void compare_clocks();
  /// Called on all ranks: runs `on_root` on the root and obey() on the others.
  void execute(std::function<void()> const& on_root);
  /// Bytes on the wire of one message of this pattern.
  static double wire_bytes(exercise const& what);

  void on_message(int from, std::span<std::byte const> body, transport::packet& whole) override;
  void on_rank_lost(int rank) override;
  void on_left(int rank) override { on_rank_lost(rank); }
  void on_tick(double) override {}
  void work(unsigned) override {}
  [[nodiscard]] std::string state() const override { return "calibrating"; }

 private:
  enum class kind : std::uint8_t { data, clock, start, done, finish };
  template <class Ready>
  void wait_for(Ready const& ready, double pause);
  void wait_until(double when);
  void send(int to, kind what, std::vector<std::byte> const& content);
  void send_data(int to, exercise const& what);
  double perform(exercise const& what, double when);
  void superstep(exercise const& what);

  context& ctx_;
  detail::engine& engine_;
  detail::call_slot slot_;
  detail::run_key key_;
  int lost_ = -1;
  std::uint32_t step_ = 0;                      // numbers the supersteps of all exercises
  std::map<std::uint32_t, std::uint32_t> had_;  // messages per superstep
  // root only
  std::vector<double> offsets_;  // a rank's clock minus the root's
  double round_trip_ = 0;
  std::map<int, double> told_;  // times received from the ranks
  // other ranks only
  struct order {
    exercise what;
    double when;
    std::uint32_t step;
  };
  std::vector<order> orders_;
  bool finished_ = false;
};

}  // namespace skel::model
