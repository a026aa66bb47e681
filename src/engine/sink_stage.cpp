#include "sink_stage.hpp"

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

std::deque<sink_stage::entry> sink_stage::take() { return std::exchange(queue_, {}); }

// Calls the sink for the first `count` results of `p` and moves p beyond them.
void sink_stage::give(pending& p, std::uint64_t count) {
  task_range const piece{p.range.first, count, p.range.stride};
  std::uint64_t done = 0;
  bool go_on = true;
  try {
    go_on = p.batch->local ? work_.sink_local(piece, done, p.index, *p.batch->local)
                           : work_.sink_packed(piece, done, p.bytes);
  } catch (std::exception const& error) {
    state_.error.emplace(piece[done], error.what());
  } catch (...) {
    state_.error.emplace(piece[done], "an exception that is no std::exception");
  }
  state_.sunk += done;
  state_.stop = state_.stop || !go_on;
  p.index += count;
  p.range.take_front(count);
}

// Splits a batch into its accepted pieces. Results of a batch are decoded in sequence, so what was not
// accepted (another rank was first with it) is stepped over.
void sink_stage::route(entry& e) {
  pending p{e.batch, {}, 0, e.batch->packed.bytes()};
  if (merged_) {
    p.range = {0, count_tasks(e.ranges), 1};
    give(p, p.range.count);
    return;
  }
  std::size_t k = 0;         // position in e.accepted
  std::uint64_t within = 0;  // and within its range
  auto const accepts = [&](task_id id) {
    if (e.all) return true;
    if (k == e.accepted.size() || e.accepted[k][within] != id) return false;
    if (++within == e.accepted[k].count) ++k, within = 0;
    return true;
  };
  for (auto const& range : e.ranges) {
    for (std::uint64_t i = 0; i < range.count;) {
      bool const accepted = accepts(range[i]);
      std::uint64_t n = 1;
      if (e.all) n = range.count;  // the common case is not looked at task by task
      task_range const piece{range[i], n, range.stride};
      i += n;
      p.range = piece;
      if (!accepted) {
        if (!e.batch->local) work_.skip_packed(n, p.bytes);
        p.index += n;
      } else if (!ordered_) {
        give(p, n);
        if (state_.error || state_.stop) return;
      } else {
        early_.emplace(piece.first, p);
        if (!e.batch->local && (i < range.count || &range != &e.ranges.back())) work_.skip_packed(n, p.bytes);
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

sink_stage::progress sink_stage::drain(std::deque<entry>& entries) {
  for (auto& e : entries) {
    if (state_.error || state_.stop) break;
    try {
      route(e);
    } catch (std::exception const& error) {  // a result that cannot be decoded
      state_.error.emplace(e.ranges.empty() ? 0 : e.ranges.front().first, error.what());
    }
    if (ordered_) deliver_in_order();
  }
  return state_;
}

}  // namespace skel::detail
