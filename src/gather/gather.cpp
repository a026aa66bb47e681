// Implements gather as a census: each rank states its part, and the root checks that none is missing.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/format.hpp"
#include "call/census.hpp"
#include "call/user_code.hpp"
#include "skel/bytes.hpp"
#include "skel/detail/gather_adapter.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

using role::outcome;

enum class statement_kind : std::uint8_t { no_part, part, threw };

transport::packet statement_of(report const& run,
                               function_reference<void(std::vector<std::byte>&)> pack_mine) {
  transport::packet said;
  auto const begin = [&](statement_kind kind) -> std::vector<std::byte>& {
    said = {};
    auto& out = said.body();
    bytes::put_raw(out, kind);
    if (!run.part) return out;
    bytes::put_raw(out, run.part->run);
    bytes::put_varint(out, static_cast<std::uint64_t>(run.part->index));
    bytes::put_varint(out, run.part->ranks.size());
    return out;
  };
  if (!run.part) {
    begin(statement_kind::no_part);
  } else if (auto const bad = thrown_by([&] { pack_mine(begin(statement_kind::part)); })) {
    bytes::put_text(begin(statement_kind::threw), *bad);
  }
  return said;
}

// The parts by their index, each empty if it is missing.
struct gathered_parts {
  struct place {
    int rank = 0;
    std::span<std::byte const> packed;
  };
  std::uint64_t run = 0;
  std::vector<std::optional<place>> places;
};

std::optional<outcome> sort_by_index(std::vector<statement_of_rank> const& all, gathered_parts& to) {
  for (auto const& s : all) {
    auto in = s.said.bytes();
    auto const kind = bytes::get_raw<statement_kind>(in);
    if (kind == statement_kind::no_part) continue;
    auto const run = bytes::get_raw<std::uint64_t>(in);
    auto const index = bytes::get_varint(in), count = bytes::get_varint(in);
    if (to.places.empty()) {
      to.run = run;
      to.places.resize(count);
    }
    if (run != to.run || index >= to.places.size())
      return outcome{
          .how = outcome::status::refused,
          .rank = s.rank,
          .text = detail::format("gather: the part of rank {} is of another bsp call than those of "
                                 "other ranks: expected parts of one call",
                                 s.rank)};
    if (kind == statement_kind::threw)
      return outcome{
          .how = outcome::status::task_failed, .task = index, .rank = s.rank, .text = bytes::get_text(in)};
    to.places[index] = gathered_parts::place{s.rank, in};
  }
  return std::nullopt;
}

}  // namespace

bool gather_parts(context& ctx, report const& run, std::string const& types,
                  function_reference<void(std::vector<std::byte>&)> pack_mine,
                  function_reference<void(std::span<std::byte const>)> take) {
  if (run.skeleton != "bsp")
    throw usage_error(detail::format("gather: expected the result of a bsp, found that of {}",
                                     run.skeleton.empty() ? "no call" : run.skeleton));
  if (run.stopped_early) return false;
  auto const verdict = [&](std::vector<statement_of_rank> const& all) -> std::optional<outcome> {
    gathered_parts parts;
    if (auto refusal = sort_by_index(all, parts)) return refusal;
    auto const missing = std::ranges::find_if(parts.places, [](auto const& p) { return !p.has_value(); });
    if (parts.places.empty() || missing != parts.places.end()) {
      auto const index = static_cast<std::size_t>(missing - parts.places.begin());
      bool const known = run.part && index < run.part->ranks.size();
      return outcome{.how = outcome::status::part_lost, .rank = known ? run.part->ranks[index] : ctx.rank()};
    }
    for (std::uint64_t i = 0; i < parts.places.size(); ++i)
      if (auto const bad = thrown_by([&] { take(parts.places[i]->packed); }))
        return outcome{.how = outcome::status::task_failed, .task = i, .rank = ctx.rank(), .text = *bad};
    return std::nullopt;
  };
  take_census(ctx, {.skeleton = "gather", .types = types, .verdict = verdict}, statement_of(run, pack_mine));
  return true;
}

}  // namespace skel::detail
