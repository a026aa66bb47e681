// Implements gather as a census: each rank states its part, and the root checks which are missing.
#include <algorithm>
#include <cstdint>
#include <functional>
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

// Which part a rank has, of how many.
struct part_of_rank {
  std::uint64_t run = 0, index = 0, count = 0;
};

transport::packet statement_of(std::optional<part_of_rank> const& mine,
                               function_reference<void(std::vector<std::byte>&)> pack_mine) {
  transport::packet said;
  auto const begin = [&](statement_kind kind) -> std::vector<std::byte>& {
    said = {};
    auto& out = said.body();
    bytes::put_raw(out, kind);
    if (!mine) return out;
    bytes::put_raw(out, mine->run);
    bytes::put_varint(out, mine->index);
    bytes::put_varint(out, mine->count);
    return out;
  };
  if (!mine) {
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

using pack_function = function_reference<void(std::vector<std::byte>&)>;
using take_function = function_reference<void(std::uint64_t, std::span<std::byte const>)>;

// `lost`: what a missing part means, if it is not passed over.
void gather_all(context& ctx, std::optional<part_of_rank> const& mine, std::string const& types,
                pack_function pack_mine, take_function take,
                std::function<outcome(std::uint64_t index)> const& lost) {
  auto const verdict = [&](std::vector<statement_of_rank> const& all) -> std::optional<outcome> {
    gathered_parts parts;
    if (auto refusal = sort_by_index(all, parts)) return refusal;
    auto const missing = std::ranges::find_if(parts.places, [](auto const& p) { return !p.has_value(); });
    if (lost && (parts.places.empty() || missing != parts.places.end()))
      return lost(static_cast<std::uint64_t>(missing - parts.places.begin()));
    for (std::uint64_t i = 0; i < parts.places.size(); ++i)
      if (auto const& place = parts.places[i])
        if (auto const bad = thrown_by([&] { take(i, place->packed); }))
          return outcome{.how = outcome::status::task_failed, .task = i, .rank = ctx.rank(), .text = *bad};
    return std::nullopt;
  };
  bool const needed = lost != nullptr;
  take_census(ctx, {.skeleton = "gather", .types = types, .verdict = verdict, .is_needed = needed},
              statement_of(mine, pack_mine));
}

}  // namespace

bool gather_parts(context& ctx, report const& run, std::string const& types, pack_function pack_mine,
                  take_function take) {
  if (run.skeleton != "bsp")
    throw usage_error(detail::format("gather: expected the result of a bsp, found that of {}",
                                     run.skeleton.empty() ? "no call" : run.skeleton));
  if (run.stopped_early) return false;
  std::optional<part_of_rank> mine;
  if (run.part) mine = {run.part->run, static_cast<std::uint64_t>(run.part->index), run.part->ranks.size()};
  gather_all(ctx, mine, types, pack_mine, take, [&](std::uint64_t index) {
    bool const known = run.part && index < run.part->ranks.size();
    return outcome{.how = outcome::status::part_lost,
                   .rank = known ? run.part->ranks[static_cast<std::size_t>(index)] : ctx.rank()};
  });
  return true;
}

void gather_values(context& ctx, std::string const& types, pack_function pack_mine, take_function take) {
  part_of_rank const mine{0, static_cast<std::uint64_t>(ctx.rank()), static_cast<std::uint64_t>(ctx.size())};
  gather_all(ctx, mine, types, pack_mine, take, {});
}

}  // namespace skel::detail
