// The wires: what the engine needs from MPI, from a single process, or from a simulated cluster.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/packet.hpp"
#include "transport/spare_buffers.hpp"

namespace skel::transport {

/// A transport carries bytes between ranks: between two living ranks each packet arrives once and in the
/// order of sending. All calls but now() and wait() are made under the engine's lock, none of them blocks.
class transport {
 public:
  transport() = default;
  transport(transport const&) = delete;
  transport& operator=(transport const&) = delete;
  virtual ~transport() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Starts sending; the packet is kept until the wire has taken it.
  virtual void send(int to, packet what) = 0;
  struct arrival {
    int from = 0;
    packet what;
  };
  /// The next packet that has arrived, if any; also moves what is being sent.
  [[nodiscard]] virtual std::optional<arrival> receive() = 0;
  /// Packets to `to` that the wire has not taken yet.
  [[nodiscard]] virtual std::size_t unsent(int to) const = 0;
  /// Bytes of a message of `from` that has begun to arrive and is not complete.
  [[nodiscard]] virtual std::size_t arriving(int /*from*/) const { return 0; }
  /// Ranks that the wires themselves know to be gone (ULFM); most know of none.
  [[nodiscard]] virtual std::vector<int> failed() { return {}; }
  /// A rank is lost and this process will end without it: wait for nobody any more.
  virtual void abandon() {}
  /// Whether threads other than the one that made the context may call (one at a time).
  [[nodiscard]] virtual bool any_thread() const { return true; }
  /// Whether they may call while the user's own code runs between two skeleton calls.
  [[nodiscard]] virtual bool any_time() const { return true; }

  /// Seconds on the clock of these wires. By default the process's steady clock, from its first use on.
  [[nodiscard]] virtual double now() const;
  /// Lets time pass, without the engine's lock: at most `seconds`, 0 only lets other threads run. Wires with
  /// a time of their own return as soon as a packet has arrived.
  virtual void wait(double seconds);
  /// Whether time passes only in wait() and inside tasks (a simulation). Then a rank has one thread, which
  /// moves the messages while its task runs.
  [[nodiscard]] virtual bool owns_time() const { return false; }
  /// This rank's computing power relative to others, where the wires know it; otherwise it is measured.
  [[nodiscard]] virtual std::optional<double> power() const { return std::nullopt; }

  /// Buffers come from here and go back, so that large results do not fault in fresh pages each time.
  [[nodiscard]] std::vector<std::byte> buffer(std::size_t bytes = 0) { return spare_->take(bytes); }
  void recycle(std::vector<std::byte> bytes) { spare_->give(std::move(bytes)); }
  /// A packet that several refer to: its buffer goes back when the last of them is gone, on any thread.
  [[nodiscard]] std::shared_ptr<packet> share(packet what);

 private:
  std::shared_ptr<spare_buffers> spare_ = std::make_shared<spare_buffers>();
};

/// One process without MPI: rank 0 of 1. Nothing is ever sent.
class alone final : public transport {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void send(int, packet) override {}
  [[nodiscard]] std::optional<arrival> receive() override { return std::nullopt; }
  [[nodiscard]] std::size_t unsent(int) const override { return 0; }
};

}  // namespace skel::transport
