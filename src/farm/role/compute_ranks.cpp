#include "farm/role/compute_ranks.hpp"

#include <algorithm>

namespace skel::role {

compute_ranks::compute_ranks(rank_id ranks, rank_id first_computing) : all_(ranks) {
  for (rank_id r = first_computing; r < ranks; ++r) computes(r, true);
}

// Keeps the sums over computing ranks up to date.
template <class Change>
void compute_ranks::change(rank_id rank, Change const& how) {
  auto& r = all_[rank];
  auto const count = [&](int sign) {
    if (!computes(rank)) return;
    computing_ += sign;
    threads_ += sign * r.threads;
  };
  count(-1);
  how(r);
  count(1);
}

bool compute_ranks::hello(rank_id rank, std::uint64_t threads, double power) {
  bool const again = all_[rank].hello;
  change(rank, [&](state& r) {
    r.threads = static_cast<int>(std::max<std::uint64_t>(1, threads));
    r.power = power;
    r.hello = true;
  });
  return !again;
}

void compute_ranks::lost(rank_id rank) {
  change(rank, [](state& r) { r.alive = false; });
}

void compute_ranks::heard(rank_id rank) {
  if (!alive(rank)) change(rank, [](state& r) { r.alive = true; });
}

void compute_ranks::computes(rank_id rank, bool does) {
  change(rank, [does](state& r) { r.computes = does; });
}

bool compute_ranks::retires(rank_id rank, bool does, bool vacant) {
  bool const news = all_[rank].retires != does;
  change(rank, [&](state& r) {
    r.retires = does;
    r.vacant = does && vacant;
  });
  return news;
}

bool compute_ranks::all_said_hello() const {
  return computing_ > 0 && std::none_of(all_.begin(), all_.end(), [](state const& r) {
           return r.computes && r.alive && !r.retires && !r.hello;
         });
}

}  // namespace skel::role
