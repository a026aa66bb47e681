// Bulk synchronous parallel programs: supersteps over a state that is spread over the ranks, saved now and
// then, and had again after a loss.
//
//     struct diffusion {  // on a ring of ranks, one of which holds all
//       using state = double;
//       using message = double;
//       state begin(int rank, int size) const { return rank == 0 ? size : 0; }
//       bool step(state& mine, skel::superstep<message>& now) const {
//         for (auto const& l : now.received()) mine += l.content;
//         if (now.number() == 100) return false;  // has no more to do
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

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/context.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/error.hpp"
#include "skel/report.hpp"
#include "skel/storage/options.hpp"
#include "skel/transfer.hpp"

namespace skel {

/// Everything about a bsp call beside the program. The same on every rank.
struct bsp_options {
  std::stop_token stop{};                      ///< ends the run early when requested on any rank
  std::optional<double> time_limit_seconds{};  ///< ends the run early
  std::string label{};                         ///< for progress and trace; default: "bsp"
  /// A superstep that one more lost rank than this was computing, each in another attempt and without
  /// progress beyond it, ends the run with task_error: it is likely to end the others, too. 1 counts as 2; 0:
  /// none does.
  unsigned max_losses_per_task = 2;
  /// The state of all ranks is saved at the end of a superstep; after the loss of a rank the others go on
  /// from there, and so does a later run (docs/rollback.md).
  std::optional<checkpoint_options> checkpoint{};
};

namespace detail {
template <class P>
class bsp_work_of;
}

/// What a program does within one superstep, beside its state.
template <class Message>
class superstep {
 public:
  struct letter {
    int from = 0;
    Message content;
  };

  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// This rank's place among those that take part, which are fewer after a loss.
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// What the others have sent in the superstep before, in the order of ranks, and of each in its order.
  [[nodiscard]] std::vector<letter>& received() { return *received_; }
  /// `to` has it in the next superstep; a rank may send to itself.
  void send(int to, Message const& m) {
    if (to < 0 || to >= size_)
      throw error("superstep::send: to rank " + std::to_string(to) + ", expected 0 to " +
                  std::to_string(size_ - 1));
    pack(m, (*bundles_)[static_cast<std::size_t>(to)]);
    sent_ = true;
  }
  /// A rank is a whole number: this one is swapped with the message.
  void send(std::floating_point auto to, Message const& m) = delete;
  superstep(superstep const&) = delete;
  superstep& operator=(superstep const&) = delete;
  ~superstep() = default;

 private:
  template <class P>
  friend class detail::bsp_work_of;
  superstep(std::uint64_t number, int rank, int size, std::vector<letter>& received,
            std::vector<std::vector<std::byte>>& bundles)
      : number_(number), rank_(rank), size_(size), received_(&received), bundles_(&bundles) {}

  std::uint64_t number_;
  int rank_, size_;
  std::vector<letter>* received_;
  std::vector<std::vector<std::byte>>* bundles_;
  bool sent_ = false;
};

/// What one rank has between two supersteps.
template <class P>
class bsp_part {
 public:
  using letter = typename superstep<typename P::message>::letter;
  typename P::state state{};
  std::vector<letter> received{};
};

/// The parts of a checkpoint, read as they are asked for.
template <class P>
class bsp_parts {
 public:
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bsp_part<P> operator[](int i) const {
    auto const bytes = read_(i);
    std::span<std::byte const> in(bytes);
    return unpack_part(in);
  }

 private:
  friend class detail::bsp_work_of<P>;
  using part_reader = std::function<std::vector<std::byte>(int)>;
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

/// A program: `begin` makes the state of a rank, `step` is one superstep (true: this rank goes on). The run
/// ends after a superstep in which no rank goes on and none has sent anything.
template <class P>
concept bsp_program = requires(P const& p, typename P::state& s, superstep<typename P::message>& step) {
  { p.begin(0, 1) } -> detail::becomes<typename P::state>;
  { p.step(s, step) } -> std::convertible_to<bool>;
};

/// One that says how the parts of so many ranks become those of another number: `split(parts, rank, size)`
/// makes the part of `rank` among `size`.
template <class P>
concept splitting_bsp_program = bsp_program<P> && requires(P const& p, bsp_parts<P> const& parts) {
  { p.split(parts, 0, 1) } -> std::convertible_to<bsp_part<P>>;
};

/// Runs the program's supersteps on all ranks until none goes on.
///
/// Collective. The messages of a superstep come in the order of ranks: what is computed does not depend on
/// time. With a checkpoint the state of all ranks, and the messages that are to be received, are saved at the
/// end of a superstep when the interval is over, by threads that do nothing else. When a rank is lost, the
/// others go on from the last checkpoint, or from the beginning, without it; that needs `split` where there
/// is a checkpoint. The run ends with the loss of the root, or when a superstep ends one rank after another
/// (bsp_options::max_losses_per_task).
///
/// The value is the state of the root at the end; elsewhere this rank's, unless it was given up.
///
/// Throws, on every rank: task_error, whose task is the superstep, when `begin`, `step` or `split` throws or
/// ends one rank after another; usage_error for a store that is
/// not what it should be; lost_rank_error where a rank is lost and the program cannot be split.
///
/// Sources: de Camargo, Cerqueira and Kon, "Strategies for checkpoint storage on opportunistic grids" (state
/// at the end of supersteps); Valiant, "A bridging model for parallel computation", 1990.
template <bsp_program P>
result<typename P::state> bsp(context& ctx, P const& program, bsp_options const& options = {});

}  // namespace skel

#include "skel/detail/bsp_adapter.hpp"
