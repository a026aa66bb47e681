#include "recorder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/format.hpp"
#include "skel/bytes.hpp"
#include "skel/detail/steered_book.hpp"
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

call_description description(farm_work const& work, farm_traits const& t, std::string const& label) {
  call_description d("farm");
  d.add("label", label)
      .add("tasks", t.tasks.value_or(0))
      .add("source", t.steered     ? "steered"
                     : t.payload() ? "on_root"
                                   : "replicated")
      .add("sink", t.merged ? "reduced" : "of single results")
      .add_hidden("types", hash_text(work.types()));
  if (t.steered) d.add("window of the source", *t.steered);
  add_values(d, "task function", work);
  return d;
}

template <class Number>
range_list renumbered(range_list const& ranges, Number const& number) {
  range_list all;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) append(all, {number(r[i]), 1, 1});
  return all;
}

}  // namespace

// --- result_log

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

// --- farm_recorder

farm_recorder::farm_recorder(engine& of, farm_work& work, farm_traits const& traits,
                             checkpoint_options const& options, std::string const& label)
    : recorder(of, options, description(work, traits, label)), work_(work) {
  if (traits.steered) book_ = work.feed()->book();
  if (book_ != nullptr) book_->keep_journal();
  if (traits.merged) merged_.emplace([&work](auto& into, auto more) { work.merge_packed(into, more); });
  start([&](std::span<std::byte const> log) { read(log, traits); });
}

void farm_recorder::read(std::span<std::byte const> log, farm_traits const& traits) {
  constexpr auto endless = std::numeric_limits<std::uint64_t>::max() / 4;
  std::vector<std::uint64_t> position_of(work_.reordered() ? *traits.tasks : 0);
  for (std::uint64_t i = 0; i < position_of.size(); ++i) position_of[work_.task_at(i)] = i;
  for (auto const& e : read_log(log, traits.tasks.value_or(endless))) {
    if (merged_) merged_->add(e.ranges, e.results);
    result_batch batch;
    batch.ranges = e.ranges;
    if (work_.reordered()) batch.ranges = renumbered(e.ranges, [&](task_id id) { return position_of[id]; });
    if (book_ != nullptr) {
      auto journal = e.results;
      work_.skip_packed(count_tasks(e.ranges), journal);
      book_->restore(count_tasks(e.ranges), journal);
    }
    batch.packed = transport::packet::received({e.results.begin(), e.results.end()});
    batch.restored = true;
    restored_tasks_.insert(restored_tasks_.end(), batch.ranges.begin(), batch.ranges.end());
    restored_.push_back(std::move(batch));
  }
  costs().restored_tasks = count_tasks(restored_tasks_);
}

std::vector<result_batch> farm_recorder::take_restored() { return std::exchange(restored_, {}); }

void farm_recorder::add(range_list const& ranges, std::span<std::byte const> results) {
  if (work_.reordered())
    keep(renumbered(ranges, [&](std::uint64_t position) { return work_.task_at(position); }), results);
  else
    keep(ranges, results);
}

void farm_recorder::keep(range_list const& ranges, std::span<std::byte const> results) {
  changed();
  if (merged_)
    merged_->add(ranges, results);
  else if (book_ == nullptr)
    log_.add(ranges, results);
  else
    log_.add(ranges, with_journal(results));
}

// Adds what the state was asked for before it received these results.
std::span<std::byte const> farm_recorder::with_journal(std::span<std::byte const> results) {
  packed_.assign(results.begin(), results.end());
  book_->put_journal(packed_);
  return packed_;
}

void farm_recorder::save_now(double now) {
  if (merged_)
    save(now, [bytes = merged_->all()]() mutable { return std::move(bytes); });
  else
    append(now, log_.take());
}

}  // namespace skel::detail
