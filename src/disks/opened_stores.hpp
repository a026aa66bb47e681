// The stores that a job has claimed and opened, over all of its attempts.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

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
    auto& known = all_[s.name];
    if (s.attempt >= known.claimed) {
      known.claimed = s.attempt;
      known.owner = s.owner;
    }
    if (s.saves && (known.saved == 0 || s.attempt < known.saved)) known.saved = s.attempt;
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
  /// What add() has to hear to know the same.
  [[nodiscard]] std::vector<opened_store> all() const {
    std::lock_guard const lock(mutex_);
    std::vector<opened_store> list;
    for (auto const& [name, s] : all_) {
      list.push_back({name, s.owner, s.claimed, false});
      if (s.saved > 0) list.push_back({name, s.owner, s.saved, true});
    }
    return list;
  }

 private:
  struct state {
    int claimed = 0;  // the latest attempt that has
    std::string owner{};
    int saved = 0;  // the first attempt that has; 0: none
  };
  mutable std::mutex mutex_;
  std::map<std::string, state> all_;
};

}  // namespace skel::detail
