#include "unsent.hpp"

#include <utility>

namespace skel::detail {

void unsent_results::join(result_batch& to, result_batch& more) {
  if (more.local) {
    work_.merge(*to.local, *more.local);
  } else if (!more.in_place) {
    auto const bytes = more.packed.bytes();
    to.packed.body().insert(to.packed.body().end(), bytes.begin(), bytes.end());
  }
  to.ranges.insert(to.ranges.end(), more.ranges.begin(), more.ranges.end());
}

void unsent_results::add(result_batch batch) {
  bool const joins =
      !batches_.empty() && (merged_ || !batch.local) && batch.in_place == batches_.back().in_place;
  if (!joins) {
    batches_.push_back(std::move(batch));
    return;
  }
  try {
    join(batches_.back(), batch);
  } catch (...) {
    clear();  // a merge that throws may have changed the value
    throw;
  }
  if (batch.is_packed()) engine_.wires().recycle(std::move(batch.packed).release());
}

result_batch unsent_results::take_packed() {
  auto batches = std::exchange(batches_, {});
  result_batch all = std::move(batches.front());
  for (std::size_t k = 1; k < batches.size(); ++k) join(all, batches[k]);
  if (all.local) work_.pack_merged(*all.local, all.packed.body());
  return all;
}

}  // namespace skel::detail
