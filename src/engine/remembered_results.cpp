#include "remembered_results.hpp"

#include <algorithm>
#include <iterator>

#include "skel/bytes.hpp"

namespace skel::detail {

namespace {

// A copy into fresh memory takes half a nanosecond per byte, and a piece 0.2 microseconds.
constexpr double seconds_per_byte = 100 * 0.5e-9, seconds_per_piece = 100 * 0.2e-6;

std::uint64_t size_of(remembered_results::piece const& p) {
  return sizeof p + p.bytes.size() + p.ranges.size() * sizeof(p.ranges[0]);
}

}  // namespace

bool remembered_results::pays(std::size_t bytes, double seconds) {
  return seconds >= seconds_per_piece + seconds_per_byte * static_cast<double>(bytes);
}

void remembered_results::add(call of, range_list const& ranges, std::span<std::byte const> bytes) {
  if (bytes.size() > limit_) return;
  pieces_.push_back({of, ranges, {bytes.begin(), bytes.end()}});
  size_ += size_of(pieces_.back());
  for (; size_ > limit_; pieces_.pop_front()) size_ -= size_of(pieces_.front());
}

std::vector<remembered_results::piece const*> remembered_results::of(call which) const {
  std::vector<piece const*> found;
  for (auto const& p : pieces_)
    if (p.of == which) found.push_back(&p);
  return found;
}

std::uint64_t remembered_results::tasks_of(call which) const {
  std::uint64_t n = 0;
  for (auto const* const p : of(which)) n += count_tasks(p->ranges);
  return n;
}

void remembered_results::put_all(std::vector<std::byte>& out) const {
  for (auto const& p : pieces_) {
    bytes::put_raw(out, p.of);
    bytes::put_varint(out, p.ranges.size());
    for (auto const& r : p.ranges) bytes::put_raw(out, r);  // one of a value may be empty
    bytes::put_varint(out, p.bytes.size());
    out.insert(out.end(), p.bytes.begin(), p.bytes.end());
  }
}

void remembered_results::take_over(std::span<std::byte const> in) {
  while (!in.empty()) {
    auto const of = bytes::get_raw<call>(in);
    range_list ranges;
    for (auto n = bytes::get_varint(in); n > 0; --n) ranges.push_back(bytes::get_raw<task_range>(in));
    add(of, ranges, bytes::get_bytes(in, bytes::get_varint(in)));
  }
}

void remembered_results::root_lost(int rank_in_job, bool from_outside) {
  auto last = std::exchange(root_, std::nullopt);
  if (!last || last->rank_in_job != rank_in_job) return;
  last->from_outside = from_outside && !last->overrun;
  lost_roots_.push_back(*std::move(last));
}

std::vector<remembered_results::root_tasks> remembered_results::ran_on_roots(call which) const {
  std::vector<root_tasks> found;
  std::ranges::copy_if(lost_roots_, std::back_inserter(found), [&](auto const& r) { return r.of == which; });
  return found;
}

}  // namespace skel::detail
