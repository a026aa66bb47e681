// Idle TCP connections to a few other ranks, whose kernels close them when the processes end.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace skel::transport {

/// The connections of a rank to its neighbours, see neighbours_of(). The end of a process closes its end
/// of them in order, so the neighbour learns of it after one network delay, for certain: a process that
/// leaves on purpose says so before. A connection that breaks in another way proves nothing, and neither does
/// the silence of a host that vanished.
///
/// Only ranks that know the secrets of the job get a connection. The rank that is called proves first that it
/// is the right one. Both secrets are sent in the clear, as MPI's own messages are. IPv4 only. What the
/// system does not permit is left out: such ranks are watched in other ways.
///
/// Never blocks, and throws nothing but std::bad_alloc. Not thread-safe.
class idle_connections {
 public:
  static constexpr std::size_t most_addresses = 4;
  using secret = std::array<std::byte, 16>;

  /// What a neighbour needs to connect to this rank. It travels over MPI, as bytes.
  struct card {
    secret call{}, answer{};
    std::array<std::uint32_t, most_addresses> addresses{};  ///< in network order; 0: none
    std::uint16_t port = 0;  ///< in network order; 0: no connection is accepted
  };

  /// Listens on all addresses of this host. `patience`: time until a connection must have been made.
  explicit idle_connections(int self, std::chrono::milliseconds patience = std::chrono::seconds(20));
  idle_connections(idle_connections const&) = delete;
  idle_connections& operator=(idle_connections const&) = delete;
  /// Closes the connections. Without leave() before, that counts as the end of the process.
  ~idle_connections();

  [[nodiscard]] card const& own() const { return own_; }
  /// Begins to connect to a rank that expects this one. `same_host`: it can be reached without a network.
  void call(int rank, card const& of, bool same_host);
  /// Accepts one connection from each of these ranks, and none from others. Called once.
  void expect(std::set<int> ranks);

  /// Does what is due. Returns the ranks whose processes have ended since this was last called.
  [[nodiscard]] std::vector<int> ended();
  /// Says that this process leaves on purpose, and closes all connections.
  void leave();
  /// Connections that are complete.
  [[nodiscard]] int open() const;

 private:
  enum class stage : std::uint8_t {
    calling,  // awaits the other rank's secret
    called,   // awaits this rank's secret, and the number of the caller
    agreed,   // has sent them; awaits that the other rank accepts
    complete  // awaits nothing but the end
  };
  struct connection {
    stage at = stage::calling;
    int rank = -1;  // unknown while called
    secret call{}, answer{};
    std::chrono::steady_clock::time_point until{};
    std::array<std::byte, sizeof(secret) + sizeof(std::uint32_t)> in{};
    std::size_t arrived = 0;  // bytes
  };
  void close_all();
  void accept_all();
  void add(int descriptor, connection c);
  void close(int descriptor);
  void close_incomplete(int rank);
  void stop_listening();
  void drop_late();
  [[nodiscard]] bool read(int descriptor, connection& c, std::vector<int>& ranks);
  [[nodiscard]] bool advance(int descriptor, connection& c);

  int self_;
  std::chrono::milliseconds patience_;
  card own_;
  int listener_ = -1, events_ = -1;
  std::chrono::steady_clock::time_point listens_until_{};
  std::set<int> expected_;
  std::map<int, connection> connections_;  // by descriptor
};

/// The ranks in groups, each of which knows the ends of its own processes. The groups form a ring, and each
/// rank has a connection to one rank of the next group at least, and to one of the previous group. So a rank
/// has few connections in a job of any size, and the loss of a whole group is noticed by its two neighbours.
struct neighbours {
  std::set<int> calls, expects;  ///< the ranks that this one calls, and those that call it
};
/// `groups`: of each rank, the lowest rank of its group.
[[nodiscard]] neighbours neighbours_of(int rank, std::vector<int> const& groups);

}  // namespace skel::transport
