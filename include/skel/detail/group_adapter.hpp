// Adapts the user's job and sink of multi_host to group_work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "skel/detail/group_work.hpp"
#include "skel/detail/type_names.hpp"
#include "skel/error.hpp"
#include "skel/multi_host.hpp"
#include "skel/sink.hpp"
#include "skel/transfer.hpp"

namespace skel {

namespace detail {

// Whether read takes a copy to fill; detected if it is neither overloaded nor a template.
template <class Job>
constexpr bool reads_into_copy() {
  constexpr std::size_t carried = 1, unit = 2;
  if constexpr (requires { &Job::read; })
    return takes_copy<decltype(&Job::read), carried> || takes_copy<decltype(&Job::read), unit>;
  else
    return false;
}

// The types in which the job receives the number of a unit, and of pieces.
template <class Job>
constexpr auto unit_number() {
  if constexpr (requires { &Job::read; })
    return std::type_identity<std::remove_cvref_t<parameter<decltype(&Job::read), 0>>>{};
  else
    return std::type_identity<unseen>{};
}
template <class Job>
constexpr bool cut_holds_pieces() {
  if constexpr (requires { &Job::cut; })
    return holds_numbers<std::uint64_t, std::remove_cvref_t<parameter<decltype(&Job::cut), 1>>>() &&
           holds_numbers<std::uint64_t, std::remove_cvref_t<parameter<decltype(&Job::cut), 2>>>();
  else
    return true;
}

// Converts the return value of read and history; throws if it is negative.
template <class N>
std::uint64_t counted(N n, char const* what) {
  if constexpr (std::is_signed_v<N>)
    if (n < 0) throw error(std::string(what) + " has returned a negative number");
  return static_cast<std::uint64_t>(n);
}

template <class T, class Base>
struct holder final : Base {
  holder() = default;
  explicit holder(T v) : value(std::move(v)) {}
  T value{};
};

// Whether the sink accepts the results; static assertions explain why not.
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
    static_assert(
        !std::is_same_v<returned, bool>,
        "skel::multi_host: the sink returns a bool, which ends nothing: return skel::results::flow::stop or "
        "skel::results::flow::go_on, or void.");
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
    return type_names(typeid(typename Job::packet), typeid(typename Job::result));
  }
  [[nodiscard]] std::string function() const override { return typeid(Job).name(); }
  [[nodiscard]] std::uint64_t history(std::uint64_t number) const override {
    if constexpr (has_history<Job>) {
      auto const units = counted(job_.history(), "history()");
      return units < number ? units : number;
    } else
      return 0;
  }
  [[nodiscard]] bool begins_in_parts() const override {
    return begins_anywhere<Job> || (reads_in_parts<Job> && !has_history<Job>);
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
    out.reserve(out.size() + skel::packed_size(value));  // one allocation: a worker waits for the packet
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
    if constexpr (std::is_same_v<returned, results::flow>) {
      return sink_(number, piece, std::move(value)) == results::flow::go_on;
    } else {
      sink_(number, piece, std::move(value));
      return true;
    }
  }

 private:
  std::uint64_t read_one(std::uint64_t unit_index, typename Job::carried& c, typename Job::unit& u,
                         pieces_ready const& ready) const {
    using number = typename decltype(unit_number<Job>())::type;
    if constexpr (reads_in_parts<Job>)
      return counted(job_.read(as_parameter<number>(unit_index), c, u, ready), "read()");
    else
      return counted(job_.read(as_parameter<number>(unit_index), c, u), "read()");
  }
  Job const& job_;
  Sink& sink_;
};

}  // namespace detail

template <class Job, class Sink>
result<void> multi_host(context& ctx, std::uint64_t units, Job const& job, Sink&& sink,
                        multi_host_options const& options) {
  static_assert(multi_host_job<Job>,
                "skel::multi_host: the job must have nested types carried, unit, packet and result, and "
                "const members std::uint64_t read(std::uint64_t, carried&, unit&), packet cut(unit const&, "
                "std::uint64_t first, std::uint64_t count) and result process(packet const&, std::size_t).");
  if constexpr (multi_host_job<Job>) {
    static_assert(detail::can_travel<typename Job::packet>(),
                  "skel::multi_host: the packet type cannot be sent. Make it a plain struct without "
                  "pointers or views, give it a serialize() function (skel/serialization.hpp), or specialise "
                  "skel::transfer_traits.");
    static_assert(detail::can_travel<typename Job::result>(),
                  "skel::multi_host: the result type cannot be sent. Make it a plain struct without "
                  "pointers or views, give it a serialize() function (skel/serialization.hpp), or specialise "
                  "skel::transfer_traits.");
    static_assert(!detail::reads_into_copy<Job>(),
                  "skel::multi_host: read must take what it carries and the unit by reference, carried& and "
                  "unit&: what it writes to a copy is lost.");
    using number = typename decltype(detail::unit_number<Job>())::type;
    static_assert(
        detail::holds_numbers<std::uint64_t, number>() && detail::cut_holds_pieces<Job>(),
        "skel::multi_host: the parameters of read and cut cannot hold every number of a unit or piece: "
        "they have fewer than 32 bits, or are floating-point numbers.");
    detail::require_all_held<number>("multi_host: the first parameter of read", task_numbers(units));
    using sink_type = std::remove_reference_t<Sink>;
    constexpr bool fits = detail::fits_groups<sink_type, typename Job::result>();
    if constexpr (transferable<typename Job::packet> && transferable<typename Job::result> && fits) {
      detail::group_work_of<Job, sink_type> work(job, sink);
      return {detail::run_multi_host(ctx, units, work, options)};
    }
  }
  return {};
}

}  // namespace skel
