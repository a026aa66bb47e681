// Tasks of a stream: from the source into the pool, and with the messages that carry them.
#include <algorithm>
#include <utility>

#include "call/user_code.hpp"
#include "run.hpp"
#include "skel/bytes.hpp"

namespace skel::detail {

namespace {
constexpr std::uint64_t most_supply = 16384;  // tasks pulled ahead of their being given
}  // namespace

void farm_run::store_payloads(std::span<task_range const> ranges, std::span<std::byte const> bytes,
                              transport::packet& whole) {
  auto const offset_of = [base = whole.bytes().data()](std::span<std::byte const> s) {
    return static_cast<std::size_t>(s.data() - base);
  };
  struct piece {
    task_id id;
    std::size_t offset, size;
  };
  std::vector<piece> pieces;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) {
      auto const task = bytes::get_bytes(bytes, bytes::get_varint(bytes));
      pieces.push_back({r[i], offset_of(task), task.size()});
    }
  auto const all = whole.bytes();
  auto const kept = std::make_shared<std::vector<std::byte> const>(all.begin(), all.end());
  for (auto const& p : pieces) payloads_[p.id] = {kept, p.offset, p.size};
}

void farm_run::pack_payloads(std::span<task_range const> ranges, std::vector<std::byte>& out) {
  std::vector<std::byte> packed;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) {
      std::span<std::byte const> task;
      decltype(payloads_)::node_type node;  // a thief gets it as it came
      if (is_root()) {
        packed.clear();
        work_.pack_task(r[i], packed);
        task = packed;
      } else {
        node = payloads_.extract(r[i]);
        auto const& p = node.mapped();
        task = std::span(*p.bytes).subspan(p.offset, p.size);
      }
      bytes::put_varint(out, task.size());
      out.insert(out.end(), task.begin(), task.end());
    }
}

void farm_run::fetch_payloads(thread_state& t) {
  t.payloads.clear();
  if (!traits_.payload) return;
  for (std::uint64_t i = 0; i < t.todo->count; ++i) {
    task_id const id = (*t.todo)[i];
    if (is_root()) {
      t.payloads.push_back(work_.payload_of(id));
      continue;
    }
    auto const node = payloads_.extract(id);
    auto const& p = node.mapped();
    t.payloads.push_back({p.bytes, nullptr, std::span(*p.bytes).subspan(p.offset, p.size)});
  }
}

void farm_run::supply() {
  if (!is_root() || !traits_.payload) return;
  std::unique_lock const source_lock(source_mutex_, std::try_to_lock);
  if (!source_lock || source_ended_) return;
  std::uint64_t const ahead = std::min(options_.results.window, most_supply);
  std::uint64_t pooled = 0;
  {
    std::lock_guard const lock(engine_.mutex());
    if (over_ || draining_) return;
    pooled = ledger_->pooled();
  }
  if (pooled * 2 > ahead) return;
  engine_.rest_helper(false);  // the source may take its time
  bool ended = false;
  std::uint64_t pulled = 0;
  auto bad = thrown_by([&] { pulled = work_.pull(ahead - pooled, ended); });
  std::lock_guard const lock(engine_.mutex());
  if (!bad) bad = thrown_by([&] { work_.accept_pulled(); });
  role::farm_actions list;
  if (bad) {
    source_ended_ = true;
    ledger_->source_failed(*bad, list);
  } else {
    supplied_ += pulled;
    source_ended_ = ended;
    ledger_->supplied(supplied_, ended, list);
  }
  perform(list, nullptr);
}

}  // namespace skel::detail
