// Sends and receives packets: the transport, with one link per rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "call_gate.hpp"
#include "detector.hpp"
#include "skel/context.hpp"
#include "transport/link.hpp"
#include "transport/transport.hpp"

namespace skel::detail {

/// Context 0 is the engine's own: the messages of each of its parts have a run number there.
enum class part : std::uint32_t { farewell, disks, calls, clocks, peers, retirement };
[[nodiscard]] constexpr run_key key_of(part p) { return {0, static_cast<std::uint32_t>(p)}; }

/// Seconds of silence after which a rank is declared dead; 0: never.
[[nodiscard]] double patience_of(transport::transport const& carrier, context_options const& options);

/// Every packet of the engine leaves through put() and enters through accept(), so a field that all packets
/// carry or a rule for all of them has its place there (and in transport::header).
///
/// Requires the engine's lock, except for what never changes, now(), wait() and the buffers.
class wires {
 public:
  wires(std::unique_ptr<transport::transport> carrier, context_options const& options);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool any_thread() const { return any_thread_; }
  /// Whether communication is also driven between skeleton calls.
  [[nodiscard]] bool any_time() const { return any_time_; }
  /// Seconds on the transport's clock; see transport::now and owns_time.
  [[nodiscard]] double now() const { return clock_->now(); }
  [[nodiscard]] bool owns_time() const { return owns_time_; }
  void wait(double seconds) { carrier_->wait(seconds); }
  [[nodiscard]] transport::transport& carrier() { return *carrier_; }
  /// MPI ends while the context lives on.
  void detach() {
    carrier_ = std::make_unique<transport::alone>();
    clock_ = carrier_.get();
  }
  [[nodiscard]] std::vector<std::byte> buffer() { return carrier_->buffer(); }
  void recycle(std::vector<std::byte> bytes) { carrier_->recycle(std::move(bytes)); }

  /// With a thread level below SERIALIZED, only the thread that made the context may call MPI.
  [[nodiscard]] bool may_call() const { return any_thread_ || std::this_thread::get_id() == owner_; }
  /// Queues a message and sends what credit allows. Messages for a lost rank wait until it is heard from
  /// again: over TCP, every send to a dead rank would try to connect.
  void send(int to, run_key key, transport::packet body);
  /// Sends what credit allows of the messages that wait for living ranks.
  void send_waiting();
  /// The same for one rank, also if it is lost.
  void send_anyway(int to) { send_waiting(to, link_to(to)); }
  void send_heartbeat(int to) { put(to, link_to(to).heartbeat()); }
  /// Accepts a packet that carrier().receive() has returned. `deliver(from, delivery)` gets the message that
  /// it completes, if any. Answers are sent before an acknowledgement, which they may carry.
  template <class Deliver>
  void accept(transport::transport::arrival&& a, Deliver const& deliver) {
    detector_.heard(a.from);
    auto& l = link_to(a.from);
    auto d = l.accept(std::move(a.what));
    send_waiting(a.from, l);  // it may carry an acknowledgement
    if (d) deliver(a.from, *d);
    if (auto ack = l.acknowledgement()) transmit(a.from, *std::move(ack));
  }
  /// Whether packets to living ranks are still to be sent.
  [[nodiscard]] bool sending() const;
  /// Whether no packet to any rank is to be sent, and none is half received.
  [[nodiscard]] bool quiet() const;

  [[nodiscard]] detail::detector& detector() { return detector_; }
  /// The ranks that are lost until they are heard from again; `peers` decides which.
  [[nodiscard]] std::set<int> const& lost() const { return lost_; }
  [[nodiscard]] bool is_lost(int rank) const { return lost_.contains(rank); }
  /// Returns whether that is new.
  bool set_lost(int rank, bool lost) {
    carrier_->set_lost(rank, lost);
    return lost ? lost_.insert(rank).second : lost_.erase(rank) > 0;
  }
  /// Whether calls hear of its loss. If the others may go on without the root, or spare ranks stand in for
  /// it, their calls wait instead.
  [[nodiscard]] bool ends_calls(int lost_rank) const {
    return lost_rank != 0 ? !carrier_->renews() : !carrier_->outlives_root();
  }
  [[nodiscard]] std::uint64_t messages_sent() const { return messages_sent_; }
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  [[nodiscard]] transport::link& link_to(int peer) {
    return links_.try_emplace(peer, largest_message_).first->second;
  }
  void send_waiting(int to, transport::link& l);
  void transmit(int to, transport::packet&& p) {
    detector_.sent(to);
    put(to, std::move(p));
  }
  void put(int to, transport::packet&& p);

  std::unique_ptr<transport::transport> carrier_;
  transport::transport* clock_;
  int rank_, size_;
  bool any_thread_, any_time_, owns_time_;
  std::size_t largest_message_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::unordered_map<int, transport::link> links_;  // each is created with the first message to its rank
  detail::detector detector_;
  std::set<int> lost_;
  std::uint64_t messages_sent_ = 0, bytes_sent_ = 0;
};

}  // namespace skel::detail
