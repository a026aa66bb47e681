// Transports: the engine's interface to MPI, to a single process, to threads as ranks, or to a simulated
// cluster.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/packet.hpp"
#include "transport/spare_buffers.hpp"

namespace skel::transport {

/// Carries bytes between ranks. Between two living ranks, each packet arrives once and in the order
/// of sending. All calls except now() and wait() require the engine's lock, and none of them
/// blocks.
class transport {
 public:
  transport() = default;
  transport(transport const&) = delete;
  transport& operator=(transport const&) = delete;
  virtual ~transport() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Starts sending. The packet is kept until the transport no longer needs it.
  virtual void send(int to, packet what) = 0;
  struct arrival {
    int from = 0;
    packet what;
  };
  /// Returns the next packet that has arrived, if any. Also advances pending sends.
  [[nodiscard]] virtual std::optional<arrival> receive() = 0;
  /// Number of packets to `to` that are still being sent.
  [[nodiscard]] virtual std::size_t unsent(int to) const = 0;
  /// Bytes of an incomplete message of `from` that is arriving.
  [[nodiscard]] virtual std::size_t arriving(int /*from*/) const { return 0; }
  /// Whether there is an incomplete message of any rank.
  [[nodiscard]] virtual bool any_arriving() const { return false; }
  /// Ranks that the transport itself knows to be dead (ULFM, or the end of a process); most report none.
  [[nodiscard]] virtual std::vector<int> failed() { return {}; }
  /// What the engine must see to.
  struct news {
    bool failed = false;       ///< failed() names ranks for which it should not wait
    bool may_be_left = false;  ///< on rank 0: the ranks that it has lost may have gone on without it
    bool over = false;         ///< they have decided to, so that nothing more can come of this job
    bool may_restart = false;  ///< without rank 0, the others would
    bool may_renew = false;    ///< on rank 0: spare ranks could stand in for lost ones
    bool notes = false;        ///< take_notes() has some
    [[nodiscard]] bool any() const { return failed || may_be_left || over || notes; }
  };
  /// Does what is due, apart from messages. Called often.
  virtual news look(double /*now*/) { return {}; }
  /// Sends what the rank is to know in later attempts, too, and whatever attempt it works in now. It is lost
  /// if there are none.
  virtual void send_note(int /*to*/, packet const& /*note*/) {}
  /// The same for all other ranks, and for spare ones.
  virtual void send_note_to_all(packet const& /*note*/) {}
  /// Notes that have come; -1: from a rank that this attempt is without.
  [[nodiscard]] virtual std::vector<arrival> take_notes() { return {}; }
  /// Whether the process of a rank is known to have ended; for certain, unlike failed().
  [[nodiscard]] virtual bool has_ended(int /*rank_in_job*/) const { return false; }
  /// The same, if ranks on other hosts have noticed it.
  [[nodiscard]] virtual bool has_ended_elsewhere(int /*rank_in_job*/) const { return false; }
  /// A rank is lost and this process will end without it: stop waiting for other ranks.
  virtual void abandon() {}
  /// What the engine thinks of a rank. Ranks that have lost rank 0 may go on without it, as another job.
  virtual void set_lost(int /*rank*/, bool /*lost*/) {}
  /// Whether the ranks that are not lost may do so, if rank 0 is.
  [[nodiscard]] virtual bool outlives_root() const { return false; }
  /// On rank 0: spare ranks are to stand in for lost ones, if that is agreed on. Then this job is over.
  virtual void renew() {}
  /// Whether they are about to.
  [[nodiscard]] virtual bool renews() const { return false; }
  /// How many the job had at its beginning.
  [[nodiscard]] virtual int spares() const { return 0; }
  /// The number of a rank under the launcher.
  [[nodiscard]] virtual int in_job(int rank) const { return rank; }
  /// What carries this transport's packets, and keeps its time.
  [[nodiscard]] virtual transport& below() { return *this; }
  /// For the engine: what it keeps for the next one over the same job. Null at first.
  [[nodiscard]] virtual std::shared_ptr<void>& kept() { return kept_; }
  /// Whether threads other than the creator of the context may call (one at a time).
  [[nodiscard]] virtual bool any_thread() const { return true; }
  /// Whether they may call while the user's code runs between two skeleton calls.
  [[nodiscard]] virtual bool any_time() const { return true; }

  /// Seconds on the transport's clock. Default: the process's steady clock, from its first use.
  [[nodiscard]] virtual double now() const;
  /// Waits without the engine's lock for at most `seconds`; 0 only lets other threads run. A
  /// transport that owns time returns as soon as a packet has arrived.
  virtual void wait(double seconds);
  /// Whether time advances only in wait() and inside tasks (a simulation). Then a rank has one
  /// thread, which drives communication while its task runs.
  [[nodiscard]] virtual bool owns_time() const { return false; }
  /// This rank's computing power relative to the others, if the transport knows it; otherwise it is
  /// measured.
  [[nodiscard]] virtual std::optional<double> power() const { return std::nullopt; }

  /// Buffers are recycled, so that large results do not fault in fresh pages each time.
  [[nodiscard]] std::vector<std::byte> buffer(std::size_t bytes = 0) { return spare_->take(bytes); }
  void recycle(std::vector<std::byte> bytes) { spare_->give(std::move(bytes)); }
  /// A packet with several owners. Its buffer is recycled when the last owner releases it, on any
  /// thread.
  [[nodiscard]] std::shared_ptr<packet> share(packet what);

 protected:
  /// With the spare buffers of another one, which carries this one's packets.
  explicit transport(std::shared_ptr<spare_buffers> spare) : spare_(std::move(spare)) {}
  [[nodiscard]] static std::shared_ptr<spare_buffers> spare_of(transport const& t) { return t.spare_; }

 private:
  std::shared_ptr<spare_buffers> spare_ = std::make_shared<spare_buffers>();
  std::shared_ptr<void> kept_;
};

/// One process without MPI: rank 0 of 1. Never sends.
class alone final : public transport {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void send(int, packet) override {}
  [[nodiscard]] std::optional<arrival> receive() override { return std::nullopt; }
  [[nodiscard]] std::size_t unsent(int) const override { return 0; }
};

}  // namespace skel::transport
