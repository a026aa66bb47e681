#include "tools/run/finished.hpp"

#include <algorithm>

#include "tools/run/own_files.hpp"

namespace skel::commands {

finished::finished(command_list const& list, surroundings where)
    : list_(list), where_(std::move(where)), done_(list.size()) {
  if (where_.have_files()) return;
  waiting_.reserve(list.size());
  for (std::uint64_t i = 0; i < list.size(); ++i) waiting_.push_back({identity(list[i]), i});
  std::ranges::sort(waiting_, [](entry const& a, entry const& b) {
    return std::pair(a.identity, a.number) < std::pair(b.identity, b.number);
  });
  used_.resize(waiting_.size());
}

std::optional<std::uint64_t> finished::take(std::uint64_t place, hash128 const& identity,
                                            std::uint64_t before, outcome const& how) {
  taken_.push_back(place);
  if (!where_.have_files()) return any_number(identity);
  if (!has_files(identity, before, how)) return std::nullopt;
  done_[before] = true;
  return before;
}

std::optional<std::uint64_t> finished::any_number(hash128 const& identity) {
  auto const same = std::ranges::equal_range(waiting_, identity, {}, &entry::identity);
  if (same.empty()) return std::nullopt;
  auto& used = used_[static_cast<std::size_t>(same.begin() - waiting_.begin())];
  if (used == same.size()) return std::nullopt;
  auto const number = same[used++].number;
  done_[number] = true;
  return number;
}

// Any command may have run with this number since, in a run with another store, too.
bool finished::has_files(hash128 const& identity, std::uint64_t number, outcome const& how) const {
  return number < list_.size() && !done_[number] && identity == commands::identity(list_[number]) &&
         how.written != 0 && how.written == own_files::written(where_, number);
}

finished::places finished::open() {
  std::ranges::sort(taken_);
  for (std::uint64_t i = 0; i < done_.size(); ++i)
    if (!done_[i]) open_.push_back(i);
  waiting_ = {};
  used_ = {};
  done_ = {};
  return places(*this);
}

std::uint64_t finished::number_in(std::uint64_t place) const {
  auto const before = std::ranges::lower_bound(taken_, place) - taken_.begin();
  auto const i = place - static_cast<std::uint64_t>(before);
  return i < open_.size() ? open_[i] : place;
}

command finished::places::iterator::operator*() const {
  if (is_taken() || all_begun()) return {};
  auto const number = of_->open_[left_];
  return {number, of_->list_[number]};
}

finished::places::iterator& finished::places::iterator::operator++() {
  if (is_taken())
    ++past_;
  else if (!all_begun())
    ++left_;
  ++place_;
  return *this;
}

}  // namespace skel::commands
