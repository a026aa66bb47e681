// multi_host: units that are read in order, in groups of ranks with a host each; slaves process their pieces.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "skel/detail/conversion.hpp"
#include "skel/detail/group_work.hpp"
#include "skel/error.hpp"
#include "skel/sink.hpp"
#include "skel/transfer.hpp"

namespace skel {

/// How a job says, while it reads a unit, that its first n pieces are there: they may be processed at once.
using pieces_ready = std::function<void(std::uint64_t)>;

namespace detail {

template <class Job>
concept reads_whole =
    requires(Job const& job, std::uint64_t n, typename Job::carried& c, typename Job::unit& u) {
      { job.read(n, c, u) } -> std::convertible_to<std::uint64_t>;
    };
template <class Job>
concept reads_in_parts = requires(Job const& job, std::uint64_t n, typename Job::carried& c,
                                  typename Job::unit& u, pieces_ready const& ready) {
  { job.read(n, c, u, ready) } -> std::convertible_to<std::uint64_t>;
};
template <class Job>
concept begins_anywhere = requires(Job const& job, std::uint64_t n, typename Job::carried& c,
                                   typename Job::unit& u, pieces_ready const& ready) {
  { job.read_first(n, c, u, ready) } -> std::convertible_to<std::uint64_t>;
};
template <class Job>
concept has_history = requires(Job const& job) {
  { job.history() } -> std::convertible_to<std::uint64_t>;
};
template <class Job>
inline constexpr bool processes_with_worker =
    requires(Job const& job, typename Job::packet const& p, std::size_t i, worker_info const& where) {
      { job.process(p, i, where) } -> becomes<typename Job::result>;
    };
template <class Job>
inline constexpr bool processes = requires(Job const& job, typename Job::packet const& p, std::size_t i) {
  { job.process(p, i) } -> becomes<typename Job::result>;
};

// Whether read is seen to fill a copy, where it is neither overloaded nor a template.
template <class Job>
constexpr bool reads_into_copy() {
  constexpr std::size_t carried = 1, unit = 2;
  if constexpr (requires { &Job::read; })
    return takes_copy<decltype(&Job::read), carried> || takes_copy<decltype(&Job::read), unit>;
  else
    return false;
}

// What read and history return: a negative number is no number of pieces.
template <class N>
std::uint64_t counted(N n, char const* what) {
  if constexpr (std::is_signed_v<N>)
    if (n < 0) throw error(std::string(what) + " has returned a negative number");
  return static_cast<std::uint64_t>(n);
}

}  // namespace detail

/// Satisfied by a type that names its parts and has the three operations:
///
///     struct isosurfaces {
///       using carried = last_slices;    // what a host keeps from unit to unit; default constructible
///       using unit = layer;             // what it has read; default constructible
///       using packet = rows;            // neighbouring pieces of a unit, all that a slave needs
///       using result = polygons;        // of one piece
///       std::uint64_t read(std::uint64_t number, carried& c, unit& into) const;   // the number of pieces
///       packet cut(unit const& from, std::uint64_t first, std::uint64_t count) const;
///       result process(packet const& p, std::size_t i) const;                     // the packet's i-th piece
///     };
///
/// It may have more:
///
///       std::uint64_t history() const;  // units before its first that a host must read, too. Default: 0
///       // tells what is there:
///       std::uint64_t read(number, carried&, unit&, pieces_ready const& ready) const;
///       // reads the history as well:
///       std::uint64_t read_first(number, carried&, unit&, pieces_ready const& ready) const;
///       result process(packet const& p, std::size_t i, worker_info const& where) const;
template <class Job>
concept multi_host_job =
    requires(Job const& job, typename Job::unit const& u, std::uint64_t n) {
      typename Job::carried;
      typename Job::result;
      { job.cut(u, n, n) } -> detail::becomes<typename Job::packet>;
    } && (detail::reads_whole<Job> || detail::reads_in_parts<Job>)&&(detail::processes<Job> ||
                                                                     detail::processes_with_worker<Job>);

namespace detail {

template <class T, class Base>
struct holder final : Base {
  holder() = default;
  explicit holder(T v) : value(std::move(v)) {}
  T value{};
};

// Whether results may go to this sink, and a sentence about why not.
template <class Sink, class R>
constexpr bool fits_groups() {
  constexpr bool callable = std::is_invocable_v<Sink&, std::uint64_t, std::uint64_t, R&&>;
  static_assert(callable, "skel::multi_host: the sink must be callable as sink(unit, piece, result&&).");
  if constexpr (callable) {
    static_assert(holds_task_ids<std::remove_cvref_t<parameter<Sink, 0>>> &&
                      holds_task_ids<std::remove_cvref_t<parameter<Sink, 1>>> &&
                      holds_every<R, std::remove_cvref_t<parameter<Sink, 2>>>(),
                  "skel::multi_host: the sink's parameters, first the unit, then the piece and then the "
                  "result, cannot hold all of them: they are swapped, or too narrow.");
    using returned = std::remove_cvref_t<std::invoke_result_t<Sink&, std::uint64_t, std::uint64_t, R&&>>;
    static_assert(!std::is_same_v<returned, bool>,
                  "skel::multi_host: the sink returns a bool, which ends nothing: return skel::flow::stop or "
                  "skel::flow::go_on, or void.");
  }
  return callable;
}

template <class Job, class Sink>
class group_work_of final : public group_work {
  using carried = holder<typename Job::carried, host_state>;
  using unit = holder<typename Job::unit, host_unit>;
  using packet = holder<typename Job::packet, host_packet>;
  using result = holder<typename Job::result, piece_result>;

 public:
  group_work_of(Job const& job, Sink& sink) : job_(job), sink_(sink) {}

  [[nodiscard]] std::string types() const override {
    return std::string(typeid(typename Job::packet).name()) + " -> " + typeid(typename Job::result).name();
  }
  [[nodiscard]] std::string function() const override { return typeid(Job).name(); }
  [[nodiscard]] std::uint64_t history(std::uint64_t number) const override {
    if constexpr (has_history<Job>)
      return std::min(number, counted(job_.history(), "history()"));
    else
      return 0;
  }
  [[nodiscard]] std::unique_ptr<host_state> make_state() const override {
    return std::make_unique<carried>();
  }
  [[nodiscard]] std::shared_ptr<host_unit> make_unit() const override { return std::make_shared<unit>(); }

  std::uint64_t read(std::uint64_t number, bool fresh, host_state& state, host_unit& into,
                     pieces_ready const& ready) const override {
    auto& c = static_cast<carried&>(state).value;
    auto& u = static_cast<unit&>(into).value;
    if constexpr (begins_anywhere<Job>) {
      if (fresh) return counted(job_.read_first(number, c, u, ready), "read_first()");
    } else if (fresh) {
      for (auto before = number - history(number); before < number; ++before) {
        typename Job::unit unused{};
        read_one(before, c, unused, [](std::uint64_t) {});
      }
    }
    return read_one(number, c, u, ready);
  }
  [[nodiscard]] std::shared_ptr<host_packet const> cut(host_unit const& from, std::uint64_t first,
                                                       std::uint64_t count) const override {
    return std::make_shared<packet>(job_.cut(static_cast<unit const&>(from).value, first, count));
  }
  [[nodiscard]] std::unique_ptr<piece_result> process(host_packet const& p, std::uint64_t index,
                                                      worker_info const& where) const override {
    auto const& pieces = static_cast<packet const&>(p).value;
    auto const i = static_cast<std::size_t>(index);
    if constexpr (processes_with_worker<Job>)
      return std::make_unique<result>(job_.process(pieces, i, where));
    else
      return std::make_unique<result>(job_.process(pieces, i));
  }

  void pack(host_packet const& p, std::vector<std::byte>& out) const override {
    auto const& value = static_cast<packet const&>(p).value;
    out.reserve(out.size() + skel::packed_size(value));  // its slave waits for it
    skel::pack(value, out);
  }
  [[nodiscard]] std::shared_ptr<host_packet const> unpack_packet(
      std::span<std::byte const> in) const override {
    return std::make_shared<packet>(skel::unpack<typename Job::packet>(in));
  }
  void pack(piece_result const& r, std::vector<std::byte>& out) const override {
    skel::pack(static_cast<result const&>(r).value, out);
  }
  [[nodiscard]] std::unique_ptr<piece_result> unpack_result(
      std::span<std::byte const> in, std::shared_ptr<void const> const& owner) const override {
    return std::make_unique<result>(skel::unpack<typename Job::result>(in, owner));
  }

  bool sink(std::uint64_t number, std::uint64_t piece, piece_result& r) override {
    auto& value = static_cast<result&>(r).value;
    using returned = std::invoke_result_t<Sink&, std::uint64_t, std::uint64_t, typename Job::result&&>;
    if constexpr (std::is_same_v<returned, flow>) {
      return sink_(number, piece, std::move(value)) == flow::go_on;
    } else {
      sink_(number, piece, std::move(value));
      return true;
    }
  }

 private:
  std::uint64_t read_one(std::uint64_t number, typename Job::carried& c, typename Job::unit& u,
                         pieces_ready const& ready) const {
    if constexpr (reads_in_parts<Job>)
      return counted(job_.read(number, c, u, ready), "read()");
    else
      return counted(job_.read(number, c, u), "read()");
  }
  Job const& job_;
  Sink& sink_;
};

}  // namespace detail

/// Reads units 0 ... units - 1 in groups of ranks, processes their pieces, and gives each result once to
/// `sink(unit, piece, result&&)`: on the root, by default in order of unit and piece, so that what the sink
/// writes has the same bytes for every number of ranks, grouping, re-assignment and loss.
///
/// Collective: every rank of `ctx` makes the same call. Each group reads a contiguous share of the units, one
/// after the other, on its host: `job.read(number, carried, into)`, where `carried` is what the host keeps
/// from unit to unit (new at the beginning of a share). `job.cut(unit, first, count)` takes neighbouring
/// pieces out of a unit; it is called at any time, also while the same or another unit is read, under a lock:
/// copying is what it is for. `job.process(packet, i)` is called concurrently by the compute threads of all
/// ranks. All on a const object. A host holds read_ahead + 2 units at most. The sink is called by one thread
/// at a time; it may return flow::stop.
///
/// Losses: a lost slave's pieces are given to others; another rank takes over a lost host's share from its
/// first unit whose results have not reached the root. Results count once.
///
/// Throws, on every rank and after the run has drained: task_error when a function of the job (or a sink on a
/// host) throws, with the unit as its task number; sink_error when the sink on the root throws, likewise;
/// usage_error for choices that exclude each other; protocol_error when the ranks do not make the same call;
/// lost_rank_error elsewhere when the root is lost.
///
/// Source: Bajaj and Lin, "Scalar field modeling & visualization on the Intel Delta", sections 4 and 5.
/// docs/multi-host.md has an example and says what each option is worth.
template <class Job, class Sink>
report multi_host(context& ctx, std::uint64_t units, Job const& job, Sink&& sink,
                  multi_host_options const& options = {}) {
  static_assert(
      multi_host_job<Job>,
      "skel::multi_host: the job must have nested types carried, unit, packet and result, and const "
      "members std::uint64_t read(std::uint64_t, carried&, unit&), packet cut(unit const&, "
      "std::uint64_t first, std::uint64_t count) and result process(packet const&, std::size_t).");
  if constexpr (multi_host_job<Job>) {
    static_assert(detail::can_travel<typename Job::packet>(),
                  "skel::multi_host: the packet type cannot be sent. Make it trivially copyable without "
                  "pointers or views, give it a "
                  "serialize() function, or specialise skel::transfer_traits.");
    static_assert(detail::can_travel<typename Job::result>(),
                  "skel::multi_host: the result type cannot be sent. Make it trivially copyable without "
                  "pointers or views, give it a "
                  "serialize() function, or specialise skel::transfer_traits.");
    static_assert(!detail::reads_into_copy<Job>(),
                  "skel::multi_host: read must take what it carries and the unit by reference, carried& and "
                  "unit&: what it writes to a copy is lost.");
    using sink_type = std::remove_reference_t<Sink>;
    constexpr bool fits = detail::fits_groups<sink_type, typename Job::result>();
    if constexpr (transferable<typename Job::packet> && transferable<typename Job::result> && fits) {
      detail::group_work_of<Job, sink_type> work(job, sink);
      return detail::run_multi_host(ctx, units, work, options);
    }
  }
  return {};
}

}  // namespace skel
