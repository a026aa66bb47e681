// bsp: supersteps over a state that is distributed over the ranks, saved periodically, and restored
// after a loss.
//
//     struct diffusion {  // on a ring of ranks; the root starts with all
//       using state = double;
//       using message = double;
//       state begin(int rank, int size) const { return rank == 0 ? size : 0; }
//       bool step(state& mine, skel::superstep<message>& now) const {
//         for (auto const& l : now.received()) mine += l.content;
//         if (now.number() == 100) return false;  // this rank is done
//         double const part = mine / 4;
//         mine -= 2 * part;
//         now.send((now.rank() + 1) % now.size(), part);
//         now.send((now.rank() + now.size() - 1) % now.size(), part);
//         return true;
//       }
//     };
//
//     double about_one(skel::context& ctx) { return skel::bsp(ctx, diffusion{}).value; }
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/context.hpp"
#include "skel/detail/bsp_work.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/detail/parallel_loop.hpp"
#include "skel/error.hpp"
#include "skel/report.hpp"
#include "skel/stop.hpp"
#include "skel/storage/options.hpp"
#include "skel/transfer.hpp"

namespace skel {

/// Options of a bsp call. The same on every rank.
struct bsp_options {
  stop_condition stop{};                       ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early; empty: no limit
  std::string label{};                         ///< shown by progress and trace; default: "bsp"
  /// A superstep that was running on this many lost ranks, each in another attempt at it, ends the run with
  /// task_error, since it probably ended them. One more than elsewhere: every rank runs the superstep, so
  /// that two losses from other causes may meet in a long one. 1 counts as 2, 0: never.
  unsigned max_losses_per_task = 3;
  /// Saves the state of all ranks at the end of supersteps, and before the call ends early. After the loss of
  /// a rank the others resume from there, and so does a later run (docs/bsp.md, docs/reference/rollback.md).
  std::optional<checkpoint_options> checkpoint{};
};

namespace detail {
template <class P>
class bsp_work_of;
}

/// One superstep of a rank: the messages it has received, and a way to send new ones.
template <class Message>
class superstep {
 public:
  /// A message and its sender.
  struct letter {
    int from = 0;     ///< the rank that sent it, 0 to size() - 1
    Message content;  ///< the message
  };

  /// The number of this superstep, from 0.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// This rank, 0 to size() - 1, among the ranks that take part. It may change after a loss.
  [[nodiscard]] int rank() const { return rank_; }
  /// The number of ranks that take part. It shrinks after a loss.
  [[nodiscard]] int size() const { return size_; }
  /// The messages sent to this rank in the previous superstep, ordered by sender and then by the
  /// order of sending.
  [[nodiscard]] std::vector<letter>& received() { return *received_; }
  /// Sends `m` to rank `to`, which receives it in the next superstep. A rank may send to itself.
  /// Throws skel::error if there is no rank `to`, or if the program names its neighbours and `to` is
  /// none of this rank's.
  void send(int to, Message const& m) {
    if (to < 0 || to >= size_)
      throw error("superstep::send: no rank " + std::to_string(to) + ", expected 0 to " +
                  std::to_string(size_ - 1));
    if (neighbours_ != nullptr && to != rank_ &&
        !std::binary_search(neighbours_->begin(), neighbours_->end(), to))
      throw error("superstep::send: rank " + std::to_string(to) + " is not among the neighbours of rank " +
                  std::to_string(rank_));
    auto& bundle = (*bundles_)[static_cast<std::size_t>(to)];
    if (bundle.empty()) {
      bundle.reserve(2 * detail::bundle_room + packed_size(m));
      bundle.resize(detail::bundle_room);
    }
    pack(m, bundle);
    sent_ = true;
  }
  /// Deleted: the first argument is the rank, an integer.
  void send(std::floating_point auto to, Message const& m) = delete;
  /// Calls f(i) once for each i in [0, n), on the compute threads of this rank (context::threads()), and
  /// returns when all calls have. f is const and called concurrently, in any order, so each call should write
  /// to places of its own: then the state has the same bytes for any number of threads. It must not call
  /// send(). Within f, another loop runs on the calling thread.
  ///
  /// If calls throw, rethrows the exception of the lowest i; indices above it may have been left out.
  template <class F>
    requires std::invocable<F const&, std::uint64_t>
  void parallel_for(std::uint64_t n, F const& f) const {
    using index = std::remove_cvref_t<detail::parameter<F, 0>>;
    static_assert(
        detail::holds_numbers<std::uint64_t, index>(),
        "skel::bsp: the parameter of parallel_for's function cannot hold every index: it has fewer than "
        "32 bits, or is a floating-point number.");
    detail::require_all_held<index>("bsp: the parameter of parallel_for's function", task_numbers(n));
    loops_->run(n, [&f](std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i) f(detail::as_parameter<index>(i));
    });
  }
  superstep(superstep const&) = delete;
  superstep& operator=(superstep const&) = delete;
  ~superstep() = default;

 private:
  template <class P>
  friend class detail::bsp_work_of;
  superstep(std::uint64_t number, int rank, int size, std::vector<letter>& received,
            std::vector<std::vector<std::byte>>& bundles, std::vector<int> const* neighbours,
            detail::parallel_loop& loops)
      : number_(number),
        rank_(rank),
        size_(size),
        received_(&received),
        bundles_(&bundles),
        neighbours_(neighbours),
        loops_(&loops) {}

  std::uint64_t number_;
  int rank_, size_;
  std::vector<letter>* received_;
  std::vector<std::vector<std::byte>>* bundles_;
  std::vector<int> const* neighbours_;  // sorted; null: all
  detail::parallel_loop* loops_;
  bool sent_ = false;
};

/// One rank's part of a checkpoint: its state and messages between two supersteps.
template <class P>
class bsp_part {
 public:
  /// A message and its sender.
  using letter = typename superstep<typename P::message>::letter;
  typename P::state state{};       ///< after the superstep
  std::vector<letter> received{};  ///< the messages that the next superstep receives
};

/// The parts of a checkpoint. Each is read when it is accessed.
template <class P>
class bsp_parts {
 public:
  /// The number of ranks that saved it.
  [[nodiscard]] int size() const { return size_; }
  /// Reads the part of rank `i`, 0 to size() - 1.
  [[nodiscard]] bsp_part<P> operator[](int i) const {
    auto in = read_(i);
    return unpack_part(in);
  }

 private:
  friend class detail::bsp_work_of<P>;
  using part_reader = detail::function_reference<std::span<std::byte const>(int)>;
  bsp_parts(part_reader const& read, int size) : read_(read), size_(size) {}
  static bsp_part<P> unpack_part(std::span<std::byte const>& in) {
    bsp_part<P> part;
    part.state = unpack<typename P::state>(in);
    for (auto n = bytes::get_varint(in); n > 0; --n) {
      auto const from = static_cast<int>(bytes::get_varint(in));
      part.received.push_back({from, unpack<typename P::message>(in)});
    }
    return part;
  }

  part_reader const& read_;
  int size_;
};

/// Satisfied by a program: a type that names its state and message. `begin(rank, size)` returns the
/// initial state of a rank. `step(state, superstep)` computes one superstep and returns whether
/// this rank continues. The run ends after a superstep in which no rank continues and no rank has
/// sent a message.
template <class P>
concept bsp_program = requires(P const& p, typename P::state& s, superstep<typename P::message>& step) {
  { p.begin(0, 1) } -> detail::becomes<typename P::state>;
  { p.step(s, step) } -> std::convertible_to<bool>;
};

/// Satisfied by a program that can resume on another number of ranks: `split(parts, rank, size)`
/// returns the part of `rank` among `size` ranks, made from the parts of a checkpoint.
template <class P>
concept splitting_bsp_program = bsp_program<P> && requires(P const& p, bsp_parts<P> const& parts) {
  { p.split(parts, 0, 1) } -> std::convertible_to<bsp_part<P>>;
};

/// Satisfied by a program that names the ranks with which a rank exchanges messages:
/// `neighbours(rank, size)` returns them as a vector of ranks. It is mutual: if a names b, b names a.
/// A rank may always send to itself.
///
/// The ranks of such a program wait only for their neighbours, not for each other: a superstep takes
/// one exchange of messages between neighbours. Otherwise every superstep ends with a barrier of
/// log P rounds, because any rank may send to any other. A rank that does not continue, and has no
/// neighbour that does, asks the root. That is slower than a barrier where it happens in many
/// supersteps.
template <class P>
concept neighbouring_bsp_program = bsp_program<P> && requires(P const& p) {
  { p.neighbours(0, 1) } -> std::convertible_to<std::vector<int>>;
};

/// Runs the program's supersteps on all ranks until no rank continues.
///
/// Collective. Messages are delivered in the order of ranks, so the computation does not depend on
/// timing. With a checkpoint, a separate thread saves the state of all ranks and the messages in
/// transit at the end of the first superstep after each interval, and when an early end is requested: the
/// call then ends when they are durable. When a rank is lost, the others
/// resume without it from the latest checkpoint, which requires `split`, or from the beginning if
/// there is none. The run ends when the root is lost, after which the body of run_main may begin again, or
/// when one superstep ends rank after rank (bsp_options::max_losses_per_task).
///
/// Returns this rank's final state and the report. report::part says which of the states it is: gather()
/// (skel/gather.hpp) brings them together. A rank that only seemed lost has no part, and its state means
/// nothing.
///
/// Throws, on every rank: task_error, whose task is the number of the superstep, if `begin`, `step`,
/// `neighbours` or `split` throws or ends rank after rank, or if neighbours are not mutual; usage_error if
/// the store cannot be used; lost_rank_error if a rank is lost and the program has no `split`.
///
/// Sources: [Camargo06] (state at the end of supersteps); Valiant, "A bridging model for parallel
/// computation", 1990.
template <bsp_program P>
result<typename P::state> bsp(context& ctx, P const& program, bsp_options const& options = {});

}  // namespace skel

#include "skel/detail/bsp_adapter.hpp"
