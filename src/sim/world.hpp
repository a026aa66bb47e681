// The simulated cluster: its ranks and their shared state.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "engine/devices.hpp"
#include "port.hpp"
#include "skel/sim/run.hpp"

namespace skel::sim {

class world {
 public:
  world(platform const& where, run_options const& options);
  /// Starts SimGrid. Must be called once only.
  outcome run(std::function<void(context&)> const& body);

  [[nodiscard]] platform const& where() const { return where_; }
  [[nodiscard]] run_options const& options() const { return options_; }
  [[nodiscard]] int size() const { return static_cast<int>(ports_.size()); }
  [[nodiscard]] port& at(int rank) { return *ports_[static_cast<std::size_t>(rank)]; }
  /// Returns the rank whose fiber calls. Throws usage_error outside of a fiber.
  [[nodiscard]] port& current(char const* caller);
  [[nodiscard]] bool dead(int rank) const;
  /// Ends every rank; the first reason is reported.
  void fail(std::string why);
  [[nodiscard]] bool failed() const { return !result_.failure.empty(); }

  /// Messages in transit belong to the world; SimGrid carries their addresses.
  [[nodiscard]] message& new_message(std::size_t bytes);
  void recycle(message& m);

 private:
  void live(port& me, std::function<void(context&)> const& body);

  platform const& where_;
  run_options const& options_;
  std::vector<detail::host_place> places_;  // the places of the ranks on their hosts
  std::vector<std::unique_ptr<port>> ports_;
  std::unordered_map<long, port*> by_fiber_;
  std::deque<message> messages_;
  std::vector<message*> unused_;
  outcome result_;
};

/// Returns the world of the running simulation, or null.
[[nodiscard]] world* current_world();

}  // namespace skel::sim
