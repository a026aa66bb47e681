#include "ring_steal/role/loan_book.hpp"

#include <algorithm>
#include <utility>

namespace skel::role {

loan_id loan_book::lend(rank_id to, debt_id of) {
  loan_id const number = next_++;
  loans_[number] = {.borrower = to, .of = of, .origin = number};
  return number;
}

loan_book::loan const* loan_book::find(loan_id number, rank_id borrower) const {
  auto const at = loans_.find(number);
  return at != loans_.end() && at->second.borrower == borrower ? &at->second : nullptr;
}

loan_book::loan loan_book::close(loan_id number) {
  auto const l = loans_.extract(number);
  suspects_.acquit(l.mapped().origin);
  return std::move(l.mapped());
}

void loan_book::clear() {
  for (auto const& [number, l] : loans_) suspects_.acquit(l.origin);
  loans_.clear();
}

void loan_book::begun(loan_id number, std::vector<rank_id> const& lost) {
  auto& l = loans_.at(number);
  for (rank_id const r : lost) {
    suspects_.add(l.origin, r, true, false);
    l.lost.push_back(r);
  }
  if (suspects_.contains(l.origin)) suspects_.given(l.origin, *l.borrower);
}

void loan_book::stated(loan_id number) {
  auto& l = loans_.at(number);
  suspects_.acquit(l.origin);
  l.lost.clear();
  l.watched = l.single = false;
}

void loan_book::set_apart(loan_id number, std::optional<rank_id> lost) {
  auto& l = loans_.at(number);
  l.borrower.reset();
  l.whole = true;
  if (!lost) return;
  suspects_.add(l.origin, *lost, true, l.single && suspects_.holds(*lost, l.origin));
  l.lost.push_back(*lost);
}

loan_book::pieces loan_book::cut(loan_id number, std::uint64_t tasks, std::uint64_t most) {
  auto const at = loans_.find(number);
  if (at == loans_.end()) return {};
  auto& l = at->second;
  pieces const all{std::clamp<std::uint64_t>(tasks, 1, most), next_};
  l.whole = false;
  l.single = tasks <= most;
  if (all.count > 1) suspects_.divide(l.origin, l.origin);
  for (; next_ - all.others < all.count - 1; ++next_) {
    auto& piece = loans_[next_] = l;
    piece.origin = next_;
    suspects_.divide(l.origin, piece.origin);
  }
  return all;
}

loan_id loan_book::lend_again(loan_id parcel, rank_id to) {
  auto l = loans_.extract(parcel);
  l.key() = next_++;
  l.mapped().borrower = to;
  l.mapped().again = l.mapped().watched = true;
  l.mapped().waited = false;
  return loans_.insert(std::move(l)).position->first;
}

std::optional<loan_id> loan_book::next_parcel() const {
  for (auto const& [number, l] : loans_)
    if (!l.borrower && !l.whole && !suspects_.blames(l.origin)) return number;
  return std::nullopt;
}

bool loan_book::has_parcel(rank_id rank) const {
  return std::any_of(loans_.begin(), loans_.end(), [&](auto const& entry) {
    return entry.second.watched && entry.second.borrower == rank;
  });
}

std::optional<loan_id> loan_book::next_parcel(rank_id to) const {
  return has_parcel(to) ? std::nullopt : next_parcel();
}

std::vector<loan_id> loan_book::overdue() {
  std::vector<loan_id> all;
  for (auto& [number, l] : loans_)
    if (!l.borrower && !l.whole && !suspects_.blames(l.origin) && std::exchange(l.waited, true))
      all.push_back(number);
  return all;
}

std::vector<loan_id> loan_book::borrowed_by(rank_id rank) const {
  return numbers([&](loan const& l) { return l.borrower == rank; });
}
std::vector<loan_id> loan_book::parcels() const {
  return numbers([](loan const& l) { return !l.borrower; });
}
std::vector<loan_id> loan_book::parts_of(debt_id debt) const {
  return numbers([&](loan const& l) { return l.of == debt; });
}

std::map<rank_id, std::vector<loan_id>> loan_book::by_borrower() const {
  std::map<rank_id, std::vector<loan_id>> all;
  for (auto const& [number, l] : loans_)
    if (l.borrower) all[*l.borrower].push_back(number);
  return all;
}

}  // namespace skel::role
