#include "recorder.hpp"

#include <span>
#include <utility>

namespace skel::detail {

steal_recorder::steal_recorder(engine& of, checkpoint_options const& options, call_description what)
    : recorder(of, options, std::move(what)) {
  std::vector<std::byte> left;
  start([&](std::span<std::byte const> saved) {
    left.assign(saved.begin(), saved.end());
    if (saved.empty()) return;  // the earlier run had not begun
    restored_ = decode_statement(saved);
    costs().restored_tasks = restored_->tasks;
  });
  latest_ = std::make_shared<std::vector<std::byte> const>(std::move(left));
}

std::optional<steal_statement> steal_recorder::take_restored() { return std::exchange(restored_, {}); }

void steal_recorder::record(steal_statement const& whole) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  encode(whole, *bytes);
  if (*bytes == *latest_) return;
  latest_ = std::move(bytes);
  changed();
}

void steal_recorder::save_now(double now) {
  save(now, [bytes = latest_] { return *bytes; });
}

}  // namespace skel::detail
