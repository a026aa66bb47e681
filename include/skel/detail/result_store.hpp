// Results that stay objects on the rank that computed them.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "skel/detail/farm_work.hpp"

namespace skel::detail {

// What the call returns, constructed where it will stay.
template <class Call>
struct constructed_by {
  Call call;
};
template <class Call>
constructed_by(Call) -> constructed_by<Call>;

// std::vector<bool> would pack. Constructors, since clang 14 does not initialise aggregates in parentheses.
template <class R>
struct result_cell {
  explicit result_cell(R&& r) : value(std::move(r)) {}
  template <class Call>
  explicit result_cell(constructed_by<Call> const& by) : value(by.call()) {}
  R value;
};

// Memory of results that the sink has had, for the next ones: fresh pages cost more than filling them.
template <class R>
class result_pool {
 public:
  using cells = std::vector<result_cell<R>>;
  [[nodiscard]] cells take() {
    std::lock_guard const lock(mutex_);
    if (spare_.empty()) return {};
    auto c = std::move(spare_.back());
    spare_.pop_back();
    return c;
  }
  void give_back(cells c) {
    constexpr std::size_t most = 32;
    c.clear();
    std::lock_guard const lock(mutex_);
    if (spare_.size() < most) spare_.push_back(std::move(c));
  }

 private:
  std::mutex mutex_;
  std::vector<cells> spare_;
};

template <class R>
struct typed_results final : local_results {
  explicit typed_results(result_pool<R>& from) : values(from.take()), pool(from) {}
  ~typed_results() override { pool.give_back(std::move(values)); }
  typename result_pool<R>::cells values;
  result_pool<R>& pool;
};

}  // namespace skel::detail
