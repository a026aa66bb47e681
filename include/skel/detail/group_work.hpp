// The type-erased interface of a multi_host job: units, packets and results.
// skel/multi_host.hpp implements it for the user's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "skel/context.hpp"
#include "skel/detail/erased.hpp"
#include "skel/detail/function_reference.hpp"
#include "skel/report.hpp"
#include "skel/worker.hpp"

namespace skel {

struct multi_host_options;

namespace detail {

/// The state that a host carries from unit to unit.
struct host_state : erased {};
/// A unit that has been read, or is being read.
struct host_unit : erased {};
/// Neighbouring pieces, cut from their unit.
struct host_packet : erased {};
/// The result of one piece.
struct piece_result : erased {};

/// All functions except sink() are called concurrently.
class group_work : public user_work {
 public:
  /// Number of units before `unit` that a host which starts there must read again.
  [[nodiscard]] virtual std::uint64_t history(std::uint64_t unit) const = 0;
  /// Whether pieces of a host's first unit are available before it has read that unit and its history.
  [[nodiscard]] virtual bool begins_in_parts() const = 0;

  [[nodiscard]] virtual std::unique_ptr<host_state> make_state() const = 0;
  [[nodiscard]] virtual std::shared_ptr<host_unit> make_unit() const = 0;
  /// Reads a unit and returns the number of its pieces; calls ready(n) when the first n pieces are
  /// available. `fresh`: the state is new, so the history is read as well. cut() may read the
  /// available pieces at the same time.
  virtual std::uint64_t read(std::uint64_t unit, bool fresh, host_state& carried, host_unit& into,
                             function_reference<void(std::uint64_t)> const& ready) const = 0;
  [[nodiscard]] virtual std::shared_ptr<host_packet const> cut(host_unit const& from, std::uint64_t first,
                                                               std::uint64_t count) const = 0;
  [[nodiscard]] virtual std::unique_ptr<piece_result> process(host_packet const& packet, std::uint64_t index,
                                                              worker_info const& where) const = 0;

  virtual void pack(host_packet const& packet, std::vector<std::byte>& out) const = 0;
  [[nodiscard]] virtual std::shared_ptr<host_packet const> unpack_packet(
      std::span<std::byte const> in) const = 0;
  virtual void pack(piece_result const& result, std::vector<std::byte>& out) const = 0;
  /// `in` is valid as long as `owner`.
  [[nodiscard]] virtual std::unique_ptr<piece_result> unpack_result(
      std::span<std::byte const> in, std::shared_ptr<void const> const& owner) const = 0;

  /// Not called concurrently on a rank. Returns false to end the run.
  virtual bool sink(std::uint64_t unit, std::uint64_t piece, piece_result& result) = 0;
};

[[nodiscard]] report run_multi_host(context& ctx, std::uint64_t units, group_work& work,
                                    multi_host_options const& options);

}  // namespace detail
}  // namespace skel
