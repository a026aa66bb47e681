// Adapter of bsp: presents the user's program as a bsp_work.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "skel/bsp.hpp"
#include "skel/bytes.hpp"
#include "skel/detail/bsp_work.hpp"
#include "skel/detail/contents.hpp"
#include "skel/detail/conversion.hpp"
#include "skel/detail/type_names.hpp"
#include "skel/error.hpp"
#include "skel/transfer.hpp"

namespace skel {

namespace detail {

// Whether step takes the state by value. Detected only if step is neither overloaded nor a
// template.
template <class P>
constexpr bool steps_on_copy() {
  if constexpr (requires { &P::step; })
    return takes_copy<decltype(&P::step), 0>;
  else
    return false;
}

template <class P>
class bsp_work_of final : public bsp_work {
  using state = typename P::state;
  using message = typename P::message;

 public:
  explicit bsp_work_of(P const& program) : program_(program) {}
  [[nodiscard]] std::string types() const override { return type_names(typeid(state), typeid(message), " "); }
  [[nodiscard]] std::string function() const override { return typeid(P).name(); }
  [[nodiscard]] std::optional<std::uint64_t> members() const override { return members_of(program_); }
  [[nodiscard]] bool splits() const override { return splitting_bsp_program<P>; }
  [[nodiscard]] bool has_neighbours() const override { return neighbouring_bsp_program<P>; }
  void begin(int rank, int size) override { part_ = {program_.begin(rank, size), {}}; }

  void pack_part(std::vector<std::byte>& out) const override {
    auto size = out.size() + packed_size(part_.state) + bytes::most_varint;
    for (auto const& l : part_.received) size += bytes::most_varint + packed_size(l.content);
    out.reserve(size);
    pack(part_.state, out);
    bytes::put_varint(out, part_.received.size());
    for (auto const& l : part_.received) {
      bytes::put_varint(out, static_cast<std::uint64_t>(l.from));
      pack(l.content, out);
    }
  }
  void load(part_reader const& part, int parts, int rank, int size) override {
    bsp_parts<P> const all(part, parts);
    if (parts == size) {
      part_ = all[rank];
      return;
    }
    if constexpr (splitting_bsp_program<P>) part_ = program_.split(all, rank, size);
  }

  std::vector<int> const& neighbours(int rank, int size) override {
    if constexpr (neighbouring_bsp_program<P>) {
      neighbours_ = program_.neighbours(rank, size);
      std::sort(neighbours_.begin(), neighbours_.end());
      neighbours_.erase(std::unique(neighbours_.begin(), neighbours_.end()), neighbours_.end());
      if (!neighbours_.empty() && (neighbours_.front() < 0 || neighbours_.back() >= size))
        throw error("neighbours of rank " + std::to_string(rank) + ": no rank " +
                    std::to_string(neighbours_.front() < 0 ? neighbours_.front() : neighbours_.back()) +
                    ", expected 0 to " + std::to_string(size - 1));
      std::erase(neighbours_, rank);
    }
    return neighbours_;
  }

  void receive(std::vector<std::span<std::byte const>> const& bundles) override {
    part_.received.clear();
    for (std::size_t from = 0; from < bundles.size(); ++from)
      for (auto rest = bundles[from]; !rest.empty();)
        part_.received.push_back({static_cast<int>(from), unpack<message>(rest)});
  }
  bool superstep(std::uint64_t number, int rank, int size, std::vector<std::vector<std::byte>>& bundles,
                 parallel_loop& loops) override {
    skel::superstep<message> now(number, rank, size, part_.received, bundles,
                                 has_neighbours() ? &neighbours_ : nullptr, loops);
    bool const goes_on = program_.step(part_.state, now);
    return goes_on || now.sent_;
  }

  [[nodiscard]] state take() { return std::move(part_.state); }

 private:
  P const& program_;
  bsp_part<P> part_;
  std::vector<int> neighbours_;
};

template <bsp_program P>
result<typename P::state> bsp(context& ctx, P const& program, bsp_options const& options, bool again) {
  static_assert(
      can_travel<typename P::state>(),
      "skel::bsp: the state cannot be saved. Make it a plain struct without pointers or views, give it a "
      "serialize() function (skel/serialization.hpp), or specialise skel::transfer_traits.");
  static_assert(
      can_travel<typename P::message>(),
      "skel::bsp: the message type cannot be sent. Make it a plain struct without pointers or views, "
      "give it a serialize() function (skel/serialization.hpp), or specialise skel::transfer_traits.");
  static_assert(!steps_on_copy<P>(),
                "skel::bsp: step must take the state by reference, state&: changes to a copy are lost.");
  bsp_work_of<P> work(program);
  auto r = run_bsp(ctx, work, options, again);
  return {work.take(), std::move(r)};
}

}  // namespace detail

template <bsp_program P>
result<typename P::state> bsp(context& ctx, P const& program, bsp_options const& options) {
  return detail::bsp(ctx, program, options, false);
}

}  // namespace skel
