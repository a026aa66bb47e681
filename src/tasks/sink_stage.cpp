#include "sink_stage.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace skel::detail {

void sink_stage::push(result_batch batch, range_list const& accepted) {
  entry e;
  e.ranges = batch.ranges;
  e.all = count_tasks(accepted) == count_tasks(batch.ranges);
  if (!e.all) e.accepted = accepted;
  e.batch = std::make_shared<result_batch>(std::move(batch));
  queue_.push_back(std::move(e));
}

void sink_stage::reuse(std::vector<entry>& had) {
  had.clear();
  if (queue_.empty()) queue_.swap(had);
}

// Calls the sink for the first `count` results of `p` and advances p past them.
void sink_stage::give(pending& p, std::uint64_t count) {
  call_sink(p, count);
  p.index += count;
  p.range.take_front(count);
}

void sink_stage::call_sink(pending& p, std::uint64_t count) {
  task_range const piece{p.range.first, count, p.range.stride};
  std::uint64_t done = 0;
  bool go_on = true;
  try {
    if (p.batch->left_out)
      go_on = work_.sink_failed(*p.batch->left_out);
    else if (p.batch->in_place)
      done = count;
    else
      go_on = p.batch->local ? work_.sink_local(piece, done, p.index, *p.batch->local)
                             : work_.sink_packed(piece, done, p.bytes);
  } catch (std::exception const& error) {
    state_.error.emplace(piece[done], error.what());
  } catch (...) {
    state_.error.emplace(piece[done], "an exception that is no std::exception");
  }
  state_.sunk += done;
  state_.stop = state_.stop || !go_on;
}

namespace {

// Tells which tasks of an entry were accepted; asked in the order of its ranges.
class acceptance {
 public:
  explicit acceptance(sink_stage::entry const& e) : e_(e) {}
  [[nodiscard]] bool next(task_id id) {
    if (e_.all) return true;
    if (k_ == e_.accepted.size() || e_.accepted[k_][within_] != id) return false;
    if (++within_ == e_.accepted[k_].count) ++k_, within_ = 0;
    return true;
  }

 private:
  sink_stage::entry const& e_;
  std::size_t k_ = 0;         // position in accepted
  std::uint64_t within_ = 0;  // and within its range
};

}  // namespace

void sink_stage::keep(entry const& e) {
  if (!recorder_ || e.batch->restored || e.batch->left_out) return;
  auto const begin = std::chrono::steady_clock::now();
  if (e.all)
    keep_all(e);
  else
    keep_accepted(e);
  recording_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void sink_stage::keep_all(entry const& e) {
  auto& batch = *e.batch;
  if (batch.is_packed()) {
    recorder_(e.ranges, batch.packed.bytes());
    return;
  }
  packed_.clear();
  if (batch.in_place)
    for (auto const& range : e.ranges) work_.pack_in_place(range, packed_);
  else if (merged_)
    work_.pack_merged(*batch.local, packed_);
  else
    work_.pack_local(count_tasks(e.ranges), 0, *batch.local, packed_);
  recorder_(e.ranges, packed_);
}

void sink_stage::keep_accepted(entry const& e) {
  acceptance accepted(e);
  auto rest = e.batch->packed.bytes();
  std::uint64_t index = 0;
  for (auto const& range : e.ranges)
    for (std::uint64_t i = 0; i < range.count; ++i, ++index) {
      auto const from = rest;
      if (e.batch->is_packed()) work_.skip_packed(1, rest);
      if (!accepted.next(range[i])) continue;
      if (e.batch->is_packed()) {
        recorder_({{range[i], 1, 1}}, from.first(from.size() - rest.size()));
        continue;
      }
      packed_.clear();
      if (e.batch->in_place)
        work_.pack_in_place({range[i], 1, 1}, packed_);
      else
        work_.pack_local(1, index, *e.batch->local, packed_);
      recorder_({{range[i], 1, 1}}, packed_);
    }
}

void sink_stage::record_only(std::span<entry const> entries) {
  for (auto const& e : entries) keep(e);
}

// Splits a batch into its accepted pieces. A batch is decoded in sequence, so results that were not accepted
// (another rank was first) are skipped.
void sink_stage::route(entry& e) {
  pending p{e.batch, {}, 0, e.batch->packed.bytes()};
  keep(e);
  if (merged_) {
    p.range = {0, count_tasks(e.ranges), 1};
    give(p, p.range.count);
    return;
  }
  acceptance accepts(e);
  for (auto const& range : e.ranges) {
    for (std::uint64_t i = 0; i < range.count;) {
      bool const accepted = accepts.next(range[i]);
      std::uint64_t n = 1;
      // The common case needs no look at each task.
      if (e.all && !(ordered_ && work_.reordered())) n = range.count;
      task_range const piece{range[i], n, range.stride};
      i += n;
      p.range = piece;
      if (!accepted) {
        if (e.batch->is_packed()) work_.skip_packed(n, p.bytes);
        p.index += n;
      } else if (!ordered_) {
        give(p, n);
        if (state_.error || state_.stop) return;
      } else {
        early_.emplace(work_.task_at(piece.first), p);
        if (e.batch->is_packed() && !e.batch->left_out && (i < range.count || &range != &e.ranges.back()))
          work_.skip_packed(n, p.bytes);
        p.index += n;
      }
    }
  }
}

void sink_stage::deliver_in_order() {
  while (!early_.empty() && early_.begin()->first == state_.next && !state_.error && !state_.stop) {
    auto node = early_.extract(early_.begin());
    auto& p = node.mapped();
    std::uint64_t const n = p.range.stride == 1 ? p.range.count : 1;
    give(p, n);
    state_.next += n;
    if (p.range.empty()) continue;
    node.key() = p.range.first;
    early_.insert(std::move(node));
  }
}

sink_stage::progress sink_stage::drain(std::span<entry> entries) {
  for (auto& e : entries) {
    try {
      if (state_.error || state_.stop) {  // its results are recorded all the same
        keep(e);
        continue;
      }
      route(e);
    } catch (std::exception const& error) {  // a result that cannot be decoded
      if (!state_.error && !state_.stop)
        state_.error.emplace(e.ranges.empty() ? 0 : e.ranges.front().first, error.what());
    }
    if (ordered_) deliver_in_order();
  }
  return state_;
}

}  // namespace skel::detail
