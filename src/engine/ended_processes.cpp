#include "ended_processes.hpp"

#include <algorithm>

namespace skel::detail {

ended_processes::ended_processes(watch here, watch elsewhere)
    : watch_here_(std::move(here)), watch_elsewhere_(std::move(elsewhere)) {}

std::vector<int> ended_processes::look() {
  if (watch_here_) add(watch_here_(), false);
  if (!watch_elsewhere_) return {};
  auto found = watch_elsewhere_();
  add(found, true);
  return found;
}

void ended_processes::add(std::span<int const> ranks, bool elsewhere) {
  for (int const r : ranks) {
    if (is_known(r)) continue;
    ending_.push_back(r);
    if (elsewhere) elsewhere_.insert(r);
  }
}

bool ended_processes::is_known(int rank) const {
  return gone_.contains(rank) || std::ranges::find(ending_, rank) != ending_.end();
}

std::vector<int> ended_processes::settle() {
  auto settled = std::exchange(ending_, {});
  gone_.insert(settled.begin(), settled.end());
  news_.insert(news_.end(), settled.begin(), settled.end());
  return settled;
}

}  // namespace skel::detail
