// Stores results as objects on the rank that computed them.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "skel/detail/farm_work.hpp"

namespace skel::detail {

// Constructs the return value of a call in its final place.
template <class Call>
struct constructed_by {
  Call call;
};
template <class Call>
constructed_by(Call) -> constructed_by<Call>;

// std::vector<bool> would pack bits. Has constructors, because clang 14 does not initialise
// aggregates in parentheses.
template <class R>
struct result_cell {
  explicit result_cell(R&& r) : value(std::move(r)) {}
  template <class Call>
  explicit result_cell(constructed_by<Call> const& by) : value(by.call()) {}
  R value;
};

// Admits one thread at a time and rejects the others. Compiled in the library: <atomic> and <mutex>
// take 0.05 s.
class one_at_a_time {
 public:
  [[nodiscard]] bool enter();
  void leave();

 private:
  bool busy_ = false;
};

// Recycles the memory of results that the sink has consumed: fresh pages cost more than filling
// them.
template <class R>
class result_pool {
 public:
  using cells = std::vector<result_cell<R>>;
  [[nodiscard]] cells take() {
    cells c;
    if (gate_.enter()) {
      if (count_ > 0) c = std::exchange(spare_[--count_], {});
      gate_.leave();
    }
    return c;
  }
  void give_back(cells c) {
    c.clear();
    if (gate_.enter()) {
      if (count_ < spare_.size()) spare_[count_++] = std::move(c);
      gate_.leave();
    }
  }

 private:
  static constexpr std::size_t most = 32;
  one_at_a_time gate_;  // a rejected thread uses fresh memory, which costs less than waiting
  std::size_t count_ = 0;
  std::array<cells, most> spare_;
};

template <class R>
struct typed_results final : local_results {
  explicit typed_results(result_pool<R>& from) : values(from.take()), pool(from) {}
  ~typed_results() override { pool.give_back(std::move(values)); }
  typename result_pool<R>::cells values;
  result_pool<R>& pool;
};

}  // namespace skel::detail
