// Checks the options of a multi_host call, configures its roles, and sums up its times.
#pragma once

#include <cstdint>
#include <tuple>

#include "call/call_description.hpp"
#include "multi_host/role/host.hpp"
#include "multi_host/role/member.hpp"
#include "multi_host/role/root.hpp"
#include "skel/context.hpp"
#include "skel/detail/group_work.hpp"
#include "skel/multi_host.hpp"

namespace skel::detail {

/// Measures one rank; on the root, in the end, all ranks.
struct group_clock {
  std::uint64_t taken_back = 0;  ///< pieces, from lost ranks
  std::uint64_t units_read = 0;  ///< history included
  double read_seconds = 0;
  std::uint64_t pieces = 0;  ///< processed
  double compute_seconds = 0;
  std::uint64_t pieces_sent = 0;
  double send_seconds = 0;
  double started_at = -1;  ///< on the root: when every host had read its first units; stays on this rank

  template <class Clock>
  static auto sums(Clock& c) {
    return std::tie(c.taken_back, c.units_read, c.read_seconds, c.pieces, c.compute_seconds, c.pieces_sent,
                    c.send_seconds);
  }
  /// What the root sums up.
  auto fields() { return sums(*this); }
  auto fields() const { return sums(*this); }
  void add(group_clock const& other) {
    auto const sum = [&](auto&... own) {
      std::apply([&](auto const&... theirs) { ((own += theirs), ...); }, other.fields());
    };
    std::apply(sum, fields());
  }
};

class engine;

/// The options of a call, and the configurations of its roles.
struct group_setup {
  multi_host_options options;
  std::uint64_t units = 0;
  int size = 1;  ///< ranks of the context
  int rank = 0;
  int root = 0;
  bool remembers = false;  ///< hosts keep the results of their units for another attempt
  bool recalls = false;    ///< and may have some of an earlier one

  /// Throws usage_error for contradictory options, on all ranks, before any message is sent.
  group_setup(context const& ctx, std::uint64_t number, multi_host_options const& with, int root_rank);

  [[nodiscard]] bool sink_on_hosts() const {
    return options.results == multi_host_options::unit_results::on_hosts;
  }
  [[nodiscard]] char const* results() const;
  /// Adds what must be the same on all ranks.
  void describe(call_description& call, group_work const& work) const;
  [[nodiscard]] role::group_member_config member_config(engine& of, std::uint64_t call_hash,
                                                        unsigned threads) const;
  [[nodiscard]] role::group_host_config host() const;
  [[nodiscard]] role::group_root_config root_config(group_work const& work) const;

 private:
  [[nodiscard]] unsigned group_size(group_work const& work) const;
  void check_choices() const;
  [[nodiscard]] bool measures_power() const { return options.measures.measure_power && size > 1; }
};

}  // namespace skel::detail
