#include "stream.hpp"

#include <algorithm>
#include <limits>

#include "call/user_code.hpp"
#include "skel/bytes.hpp"
#include "skel/detail/steered_book.hpp"

namespace skel::detail {

namespace {
constexpr std::uint64_t most_ahead = 16384;  // most tasks pulled before they are granted
}  // namespace

farm_stream::farm_stream(task_feed* source, bool is_root, std::uint64_t window, std::uint64_t bytes)
    : source_(source),
      book_(source == nullptr ? nullptr : source->book()),
      is_root_(is_root),
      most_ahead_(std::min(window, most_ahead)),
      bytes_ahead_(bytes > 0 ? bytes : std::numeric_limits<std::uint64_t>::max()),
      ahead_(most_ahead_) {}

void farm_stream::store(std::span<task_range const> ranges, std::span<std::byte const> bytes,
                        transport::packet const& whole) {
  auto const all = whole.bytes();
  auto const kept = std::make_shared<std::vector<std::byte> const>(all.begin(), all.end());
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) {
      auto const task = bytes::get_bytes(bytes, bytes::get_varint(bytes));
      payloads_[r[i]] = {kept, static_cast<std::size_t>(task.data() - all.data()), task.size()};
    }
}

void farm_stream::pack(std::span<task_range const> ranges, std::vector<std::byte>& out) {
  std::vector<std::byte> packed;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) {
      std::span<std::byte const> task;
      decltype(payloads_)::node_type node;  // a thief receives the node as it came
      if (is_root_) {
        packed.clear();
        source_->pack_task(r[i], packed);
        task = packed;
      } else {
        node = payloads_.extract(r[i]);
        task = node.mapped().span();
      }
      bytes::put_varint(out, task.size());
      out.insert(out.end(), task.begin(), task.end());
    }
}

void farm_stream::fetch(task_range const& range, std::vector<task_payload>& to) {
  to.clear();
  if (source_ == nullptr) return;
  for (std::uint64_t i = 0; i < range.count; ++i) {
    if (is_root_) {
      to.push_back(source_->payload_of(range[i]));
      continue;
    }
    auto const node = payloads_.extract(range[i]);
    auto const& p = node.mapped();
    to.push_back({p.bytes, nullptr, p.span()});
  }
}

void farm_stream::put_back(task_id task, task_payload const& what) {
  if (source_ == nullptr || is_root_) return;
  auto const& bytes = what.bytes;
  payloads_[task] = {std::make_shared<std::vector<std::byte> const>(bytes.begin(), bytes.end()), 0,
                     bytes.size()};
}

std::unique_lock<std::mutex> farm_stream::turn() {
  if (!is_root_ || source_ == nullptr) return {};
  std::unique_lock mine(pulling_, std::try_to_lock);
  if (mine && source_ended_) mine.unlock();
  return mine;
}

bool farm_stream::due(std::uint64_t pooled, std::uint64_t idle) const {
  return book_ == nullptr ? pooled * 2 <= ahead_ : book_->due(idle);
}

farm_stream::supply farm_stream::pull(std::uint64_t pooled, std::uint64_t idle,
                                      std::unique_lock<std::mutex>& engine) {
  supply got;
  task_feed::pulled_tasks pulled;
  got.error =
      thrown_by([&] { pulled = source_->pull(book_ == nullptr ? ahead_ - pooled : idle, bytes_ahead_); });
  engine.lock();
  if (!got.error) got.error = thrown_by([&] { source_->accept_pulled(); });
  got.ended = pulled.ended;
  source_ended_ = got.ended || got.error;
  if (!got.error) supplied_ += pulled.count;
  if (pulled.count > 0) {
    task_bytes_ = static_cast<double>(pulled.bytes) / static_cast<double>(pulled.count);
    auto const fitting = static_cast<double>(bytes_ahead_) / task_bytes_;
    ahead_ = static_cast<std::uint64_t>(std::clamp(fitting, 1.0, static_cast<double>(most_ahead_)));
  }
  got.available = supplied_;
  return got;
}

}  // namespace skel::detail
