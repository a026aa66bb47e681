// The stores that a job has claimed and opened, over all of its attempts.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace skel::detail {

/// What a root announces of a store: that it has claimed it or, if it `saves`, is about to save in it.
struct opened_store {
  std::string name{};
  std::string owner{};  ///< storage::claim_owner() of the root
  int attempt = 1;      ///< of the program's body
  bool saves = false;
};

/// A later attempt goes on from what opened stores hold, whatever the options say. A store in which no
/// attempt has saved may be another job's. Thread-safe.
class opened_stores {
 public:
  void add(opened_store const& s) {
    std::lock_guard const lock(mutex_);
    all_[s.name].add({s.attempt, s.owner, s.saves ? s.attempt : 0});
  }
  void add(opened_stores& others) {
    std::scoped_lock const lock(mutex_, others.mutex_);
    for (auto const& [name, s] : others.all_) all_[name].add(s);
  }
  /// Whether an attempt before this one has saved there.
  [[nodiscard]] bool saved_before(std::string const& name, int attempt) const {
    std::lock_guard const lock(mutex_);
    auto const at = all_.find(name);
    return at != all_.end() && at->second.saved > 0 && at->second.saved < attempt;
  }
  /// The root of the latest attempt before this one that has claimed it; empty: none, or a root of this one.
  [[nodiscard]] std::string lost_owner(std::string const& name, int attempt) const {
    std::lock_guard const lock(mutex_);
    auto const at = all_.find(name);
    return at != all_.end() && at->second.claimed < attempt ? at->second.owner : "";
  }

 private:
  struct state {
    int claimed = 0;  // the latest attempt that has
    std::string owner{};
    int saved = 0;  // the first attempt that has; 0: none
    void add(state const& more) {
      if (more.claimed >= claimed) {
        claimed = more.claimed;
        owner = more.owner;
      }
      if (more.saved > 0 && (saved == 0 || more.saved < saved)) saved = more.saved;
    }
  };
  mutable std::mutex mutex_;
  std::map<std::string, state> all_;
};

}  // namespace skel::detail
