#include "recorder.hpp"

#include <span>
#include <utility>

#include "call/timed.hpp"
#include "skel/error.hpp"

namespace skel::detail {

steal_recorder::steal_recorder(engine& of, checkpoint_options const& options, call_description what)
    : writer_(of, options, std::move(what)) {
  auto left = writer_.open().value_or(std::vector<std::byte>{});
  if (!left.empty()) {  // otherwise the earlier run had not begun
    try {
      std::span<std::byte const> in(left);
      restored_ = decode_statement(in);
    } catch (protocol_error const& bad) {
      throw usage_error(std::string("the checkpoint cannot be used: ") + bad.what());
    }
    writer_.costs().restored_tasks = restored_->tasks;
  }
  latest_ = std::make_shared<std::vector<std::byte> const>(std::move(left));
  writer_.begin_saving();
}

std::optional<steal_statement> steal_recorder::take_restored() { return std::exchange(restored_, {}); }

void steal_recorder::record(steal_statement const& whole) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  encode(whole, *bytes);
  if (*bytes == *latest_) return;
  latest_ = std::move(bytes);
  dirty_ = true;
}

void steal_recorder::start(double now) {
  dirty_ = false;
  writer_.save(now, [bytes = latest_] { return *bytes; });
}

void steal_recorder::save_if_due(double now) {
  if (!dirty_ || !writer_.due(now)) return;
  timed const t(writer_.costs().blocked_seconds);
  start(now);
}

void steal_recorder::close() {
  timed const t(writer_.costs().blocked_seconds);
  writer_.hurry();
  writer_.finish();
  if (dirty_) start(0);
  writer_.finish();
}

}  // namespace skel::detail
