// One rank's end of the simulated network, and its processor.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <unordered_map>
#include <vector>

#include "skel/sim/platform.hpp"
#include "transport/transport.hpp"

namespace skel::detail {
class engine;
}

namespace skel::sim {

class world;

/// Ends the fiber of a dead rank, or of every rank when the simulation fails. The rank sends nothing after it
/// is thrown. Code that catches it, for example as the failure of a task, is harmless: the
/// next call throws it again.
struct killed : std::exception {
  [[nodiscard]] char const* what() const noexcept override { return "this simulated rank is dead"; }
};

struct message {
  int from = 0;
  std::uint32_t number = 0;  // counts the messages from one rank to another
  bool accepted = false;     // by the receiver
  bool forgotten = false;    // by the sender
  transport::packet what;
};

/// Only the rank's own fiber may call it, except where noted.
class port {
 public:
  port(world& w, machine const& m, int rank);

  /// Called at the beginning and the end of the fiber.
  void open();
  void close();
  void attach(detail::engine* e) { engine_ = e; }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] world& where() const { return world_; }
  [[nodiscard]] machine const& processor() const { return machine_; }
  void send(int to, transport::packet what);
  [[nodiscard]] std::optional<transport::transport::arrival> receive();
  /// Lets time pass until `time` or until a packet has arrived. Returns whether one has.
  bool sleep_until(double time);
  /// Lets the rank work. It answers messages meanwhile.
  void compute(double seconds_at_power_1);

  /// The rank is dead from this time on. Any fiber may call it.
  void die_at(double time) { dies_at_ = std::min(dies_at_, time); }
  [[nodiscard]] double dies_at() const { return dies_at_; }

 private:
  void check_alive() const;
  void listen(std::size_t slot);
  void accept(message& m);
  void forget_oldest();

  // A receive is bound to the message that was sent first. With a single receive, a small message would wait
  // behind a large one of another rank that is still in transit.
  static constexpr std::size_t receives = 4;

  world& world_;
  machine const& machine_;
  int rank_;
  detail::engine* engine_ = nullptr;
  simgrid::s4u::Mailbox* mailbox_;
  std::vector<simgrid::s4u::CommPtr> pending_;
  std::array<message*, receives> slots_{};
  bool ended_ = false;
  // SimGrid has one list for all detached messages, and searches all of it at the end of each. So messages
  // are not detached, and each sender has a list of its own. Beyond this length it waits for the oldest.
  static constexpr std::size_t most_in_transit = 4096;
  struct transfer {
    simgrid::s4u::CommPtr comm;
    message* what;
    port const* to;
  };
  std::deque<transfer> sent_;
  struct channel {
    std::uint32_t sent = 0;
    std::uint32_t delivered = 0;
    std::map<std::uint32_t, transport::packet> early;  // packets that overtook others
  };
  std::unordered_map<int, channel> from_;
  std::deque<transport::transport::arrival> inbox_;
  double dies_at_ = std::numeric_limits<double>::infinity();
};

/// The engine's view of a port.
class wires final : public transport::transport {
 public:
  explicit wires(port& p) : port_(p) {}
  [[nodiscard]] int rank() const override { return port_.rank(); }
  [[nodiscard]] int size() const override;
  void send(int to, skel::transport::packet what) override { port_.send(to, std::move(what)); }
  [[nodiscard]] std::optional<arrival> receive() override { return port_.receive(); }
  [[nodiscard]] std::size_t unsent(int) const override { return 0; }
  [[nodiscard]] double now() const override;
  void wait(double seconds) override;
  [[nodiscard]] bool any_time() const override { return false; }  // no rank serves between its calls
  [[nodiscard]] bool owns_time() const override { return true; }
  [[nodiscard]] std::optional<double> power() const override;

 private:
  port& port_;
};

}  // namespace skel::sim
