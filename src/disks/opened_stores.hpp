// The stores that a job has opened, over all of its attempts.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace skel::detail {

/// A later attempt goes on from what these hold, whatever the options say. A store that no attempt has opened
/// may be another job's. Thread-safe.
class opened_stores {
 public:
  void add(std::string const& store, int attempt) {
    std::lock_guard const lock(mutex_);
    first_.emplace(store, attempt);
  }
  void add(opened_stores& others) {
    std::scoped_lock const lock(mutex_, others.mutex_);
    first_.insert(others.first_.begin(), others.first_.end());
  }
  /// Whether an attempt before this one has opened it.
  [[nodiscard]] bool before(std::string const& store, int attempt) const {
    std::lock_guard const lock(mutex_);
    auto const at = first_.find(store);
    return at != first_.end() && at->second < attempt;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> first_;  // attempt
};

}  // namespace skel::detail
