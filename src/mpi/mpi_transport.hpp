// Packets over MPI, using only Isend, Irecv and Test.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "transport/arrival_memory.hpp"
#include "transport/transport.hpp"
#include "ulfm.hpp"
#include "users_communicator.hpp"

namespace skel::transport {

/// Small packets arrive in memory where a receive from any rank is always posted: that takes two thirds of
/// the time of a probe. Any MPI sends messages of this size eagerly, so a posted receive that has begun never
/// waits for its sender. The size of a larger packet is announced in this way, and it is then received from
/// its sender alone.
///
/// Owns a duplicate of `parent`. The destructor frees it (collectively) unless a rank was lost.
class mpi_transport final : public transport {
 public:
  /// `level`: the thread level with which MPI was started.
  mpi_transport(MPI_Comm parent, int level);
  ~mpi_transport() override;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void send(int to, packet what) override;
  [[nodiscard]] std::optional<arrival> receive() override;
  [[nodiscard]] std::size_t unsent(int to) const override;
  [[nodiscard]] std::size_t arriving(int from) const override;
  [[nodiscard]] bool any_arriving() const override { return !arriving_.empty(); }
  [[nodiscard]] std::vector<int> failed() override;
  void abandon() override { abandoned_ = true; }
  [[nodiscard]] bool any_thread() const override { return level_ >= MPI_THREAD_SERIALIZED; }
  // Below MULTIPLE, the user's MPI calls and those of this class must not overlap.
  [[nodiscard]] bool any_time() const override { return level_ >= MPI_THREAD_MULTIPLE; }
  [[nodiscard]] MPI_Comm communicator() const { return comm_; }
  /// The one from which this was made.
  [[nodiscard]] detail::users_communicator const& of_user() const { return users_; }
  /// Whether MPI survives losses.
  [[nodiscard]] bool ulfm_active() const { return ulfm_ != nullptr; }
  /// A communicator of the living ranks of `comm`, in their order. Collective over them. Requires
  /// ulfm_active().
  [[nodiscard]] MPI_Comm shrink(MPI_Comm comm) const;
  /// Number of times that threads of this process have entered or left MPI to send or receive: odd
  /// while one is inside.
  [[nodiscard]] static std::uint64_t calls();

 private:
  [[nodiscard]] bool receive_the_rest() noexcept;
  void complete_sends();
  struct small_memory;
  [[nodiscard]] bool start(int to, int with_tag, packet what);
  [[nodiscard]] bool post(small_memory& m);
  [[nodiscard]] std::optional<arrival> take();
  [[nodiscard]] packet room_for(std::size_t bytes);
  void check(int code, char const* call) const;

  [[nodiscard]] bool reached(int code, char const* call, int peer);
  void note_failures();

  static constexpr std::size_t largest_small = 2048;
  struct small_memory {
    MPI_Request request = MPI_REQUEST_NULL;
    std::array<std::byte, largest_small> bytes;
  };
  // Two, so that one receive is posted while the message in the other is processed.
  struct small_receives {
    std::array<small_memory, 2> memory;
    std::size_t turn = 0;  // the one whose receive was posted first
  };
  struct outgoing {
    int to;
    MPI_Request request;
    packet what;
  };
  struct incoming {
    MPI_Request request;
    int from;
    packet what;
    bool complete;
  };
  MPI_Comm comm_ = MPI_COMM_NULL;
  // The parent, not owned: packets never travel on it, so the user may receive there with any tag.
  detail::users_communicator users_;
  int rank_ = 0;
  int size_ = 1;
  int level_;
  bool abandoned_ = false;
  ulfm const* ulfm_ = ulfm::active();
  std::vector<int> unreachable_;         // reported dead by an MPI call (ULFM)
  std::vector<std::uint64_t> sent_;      // packets per peer
  std::vector<std::uint64_t> received_;  // packets per peer
  std::deque<outgoing> sending_;
  std::unique_ptr<small_receives> small_ = std::make_unique<small_receives>();
  arrival_memory large_messages_;
  std::deque<incoming> arriving_;  // in the order of sending per pair
};

}  // namespace skel::transport
