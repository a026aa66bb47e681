#include "result_log.hpp"

#include <algorithm>
#include <utility>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

constexpr std::size_t segment_bytes = std::size_t{1} << 20;

void put_entry(std::vector<std::byte>& out, range_list const& ranges, std::span<std::byte const> results) {
  bytes::put_varint(out, ranges.size());
  for (auto const& r : ranges) {
    bytes::put_varint(out, r.first);
    bytes::put_varint(out, r.count);
    bytes::put_varint(out, r.stride);
  }
  bytes::put_varint(out, results.size());
  out.insert(out.end(), results.begin(), results.end());
}

// Intervals show whether two ranges overlap; ranges with a stride hold few tasks each.
void add_intervals(std::vector<std::pair<task_id, task_id>>& to, task_range const& r) {
  if (r.stride == 1 || r.count == 1) {
    to.emplace_back(r.first, r.last());
    return;
  }
  for (std::uint64_t i = 0; i < r.count; ++i) to.emplace_back(r[i], r[i]);
}

task_range get_range(std::span<std::byte const>& in, std::uint64_t tasks) {
  task_range r;
  r.first = bytes::get_varint(in);
  r.count = bytes::get_varint(in);
  r.stride = bytes::get_varint(in);
  bool const fits = r.count > 0 && r.stride > 0 && r.first < tasks &&
                    (r.count == 1 || r.stride <= (tasks - 1 - r.first) / (r.count - 1));
  if (!fits) throw protocol_error("a log of results names tasks that cannot exist");
  return r;
}

}  // namespace

void result_log::add(range_list const& ranges, std::span<std::byte const> results) {
  if (open_.capacity() == 0) open_.reserve(segment_bytes + results.size() + 4096);
  put_entry(open_, ranges, results);
  if (open_.size() >= segment_bytes) seal();
}

void result_log::seal() {
  if (open_.empty()) return;
  sealed_.push_back(std::make_shared<std::vector<std::byte> const>(std::exchange(open_, {})));
}

result_log::segments result_log::take() {
  seal();
  return std::exchange(sealed_, {});
}

void merged_log::add(range_list const& ranges, std::span<std::byte const> results) {
  if (ranges_.empty())
    value_.assign(results.begin(), results.end());
  else
    merge_(value_, results);
  for (auto const& r : ranges) append(ranges_, r);
}

std::vector<std::byte> merged_log::all() const {
  std::vector<std::byte> bytes;
  if (!ranges_.empty()) put_entry(bytes, ranges_, value_);
  return bytes;
}

std::vector<logged_results> read_log(std::span<std::byte const> bytes, std::uint64_t tasks) {
  std::vector<logged_results> entries;
  std::vector<std::pair<task_id, task_id>> seen;
  std::uint64_t apart = 0;  // tasks of ranges with a stride
  while (!bytes.empty()) {
    logged_results e;
    auto const n = bytes::get_varint(bytes);
    if (n > bytes.size() / 3) throw protocol_error("a log of results ends early");
    for (std::uint64_t i = 0; i < n; ++i) {
      e.ranges.push_back(get_range(bytes, tasks));
      apart += e.ranges.back().stride == 1 ? 0 : e.ranges.back().count;
      if (apart > tasks) throw protocol_error("a log of results names a task twice");
      add_intervals(seen, e.ranges.back());
    }
    e.results = bytes::get_bytes(bytes, bytes::get_varint(bytes));
    entries.push_back(std::move(e));
  }
  std::sort(seen.begin(), seen.end());
  for (std::size_t i = 1; i < seen.size(); ++i)
    if (seen[i].first <= seen[i - 1].second) throw protocol_error("a log of results names a task twice");
  return entries;
}

}  // namespace skel::detail
