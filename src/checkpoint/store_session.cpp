#include "store_session.hpp"

#include <algorithm>

#include "engine/engine.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

std::vector<std::byte> encode(call_record const& head) {
  std::vector<std::byte> out;
  bytes::put_varint(out, head.number);
  bytes::put_varint(out, head.keeps_later ? 1 : 0);
  bytes::put_varint(out, head.at);
  bytes::put_text(out, head.what);
  bytes::put_varint(out, head.length);
  return out;
}

saved_calls read_calls(std::span<std::byte const> log) {
  saved_calls all;
  while (!log.empty()) {
    auto const number = bytes::get_varint(log);
    bool const keeps_later = bytes::get_varint(log) != 0;
    auto& call = all[number];
    if (!keeps_later) all.erase(all.upper_bound(number), all.end());
    auto const at = bytes::get_varint(log);
    call.what = bytes::get_text(log);
    auto const more = bytes::get_bytes(log, bytes::get_varint(log));
    // Earlier content is lost. A steered source cannot go on without it.
    if (at > call.content.size() && call.what.find("\nsource\tsteered\n") != std::string::npos) continue;
    call.content.resize(std::min<std::uint64_t>(at, call.content.size()));
    call.content.insert(call.content.end(), more.begin(), more.end());
  }
  return all;
}

store_sessions& store_sessions::of(engine& e) {
  if (e.job.is_process) {
    static std::mutex mutex;
    static std::map<int, store_sessions> of_attempt;
    std::lock_guard const lock(mutex);
    of_attempt.erase(of_attempt.begin(), of_attempt.lower_bound(e.job.attempt));
    return of_attempt[e.job.attempt];
  }
  if (!e.stores) e.stores = std::make_shared<store_sessions>();
  return *static_cast<store_sessions*>(e.stores.get());
}

std::shared_ptr<store_session> store_sessions::enter(std::string const& store, bool again) {
  std::lock_guard const lock(mutex_);
  auto& s = all_[store];
  if (!s) s = std::make_shared<store_session>();
  if (s->busy)
    throw usage_error(
        store + ": another call of this program saves in this store at the same time: use another store");
  s->busy = true;
  if (!again) ++s->calls;
  return s;
}

void store_sessions::leave(store_session& s) {
  std::lock_guard const lock(mutex_);
  s.busy = false;
}

void store_sessions::forget(std::string const& store) {
  std::lock_guard const lock(mutex_);
  all_.erase(store);
}

}  // namespace skel::detail
