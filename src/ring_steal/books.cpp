#include "books.hpp"

#include <algorithm>
#include <utility>

#include "call/user_code.hpp"
#include "skel/bytes.hpp"

namespace skel::detail {

void encode(steal_statement const& s, std::vector<std::byte>& out) {
  bytes::put_varint(out, s.tasks);
  bytes::put_block(out, s.sum);
  bytes::put_varint(out, s.bags);
  bytes::put_block(out, s.waiting);
}

steal_statement decode_statement(std::span<std::byte const>& in) {
  steal_statement s;
  s.tasks = bytes::get_varint(in);
  s.sum = bytes::get_block(in);
  s.bags = bytes::get_varint(in);
  s.waiting = bytes::get_block(in);
  return s;
}

steal_books::steal_books(steal_work& work, unsigned threads) : work_(work), hands_(threads) {
  for (auto& h : hands_) h.bag = work_.make_bag();
}

steal_books::debt& steal_books::open(debt_id id) {
  auto& d = debts_[id];
  d.waiting = work_.make_bag();
  d.sum = work_.make_result();
  return d;
}

steal_books::debt* steal_books::find(debt_id id) {
  auto const at = debts_.find(id);
  return at == debts_.end() ? nullptr : &at->second;
}

void steal_books::clear() {
  debts_.clear();
  lent_.clear();
}

// --- compute threads

void steal_books::take(hand& h, debt& from, std::size_t tasks) {
  work_.move_newest(*from.waiting, tasks, *h.bag);
}

void steal_books::copy(hand& h, debt_id id) {
  gather_from(h, id);
  h.taken.clear();
  work_.pack_bag(*h.bag, h.taken);
  h.copied = true;
  ++debts_.at(id).copied;
}

void steal_books::begin(hand& h, debt_id id) {
  if (h.sum_of != id) {
    h.sum = work_.make_result();
    h.sum_of = id;
    h.sum_tasks = 0;
  }
  ++debts_.at(id).running;
  h.runs = true;
}

steal_books::debt* steal_books::end(hand& h, std::uint64_t tasks) {
  h.runs = false;
  bool const copied = std::exchange(h.copied, false);
  h.sum_tasks += tasks;
  auto* const d = find(*h.sum_of);
  if (d == nullptr) {
    h.bag = work_.make_bag();
    return nullptr;
  }
  --d->running;
  d->copied -= copied ? 1 : 0;
  d->changed = true;
  work_.move_newest(*h.bag, h.bag->size(), *d->waiting);
  return d;
}

void steal_books::gather(debt_id id) {
  for (auto& h : hands_) gather_from(h, id);
}

void steal_books::gather_from(hand& h, debt_id id) {
  if (h.sum_of != id || h.runs) return;
  auto& d = debts_.at(id);
  h.sum_of.reset();
  work_.merge(*d.sum, *h.sum);
  d.tasks += h.sum_tasks;
}

// --- the actions of the member

void steal_books::act(role::steal::accept const& a, std::span<std::byte const> payload) {
  auto& waiting = *open(a.debt).waiting;
  for (auto n = bytes::get_varint(payload); n > 0; --n) work_.unpack_bag(payload, waiting);
}

// A result of a loan comes back into the debt it was part of.
void steal_books::act(role::steal::settle const& a, std::span<std::byte const> payload) {
  lent_.erase(a.loan);
  auto* const d = find(a.debt);
  if (d == nullptr) return;  // a draining rank
  d->changed = true;
  d->tasks += bytes::get_varint(payload);
  auto const part = work_.make_result();
  work_.unpack_result(payload, *part);
  work_.merge(*d->sum, *part);
}

void steal_books::act(role::steal::take_back const& a, std::span<std::byte const> /*payload*/) {
  auto const l = lent_.extract(a.loan);
  if (l.empty()) return;  // the run has failed meanwhile
  auto& d = debts_.at(a.debt);
  d.changed = true;
  add(d, l.mapped().worth);
}

void steal_books::act(role::steal::restate const& a, std::span<std::byte const> payload) {
  not_of_the_user([&] {
    lent_.at(a.loan).worth = decode_statement(payload);
    for (auto const number : a.inherited) lent_[number] = {a.debt, decode_statement(payload)};
  });
  debts_.at(a.debt).changed = true;
}

// Its threads work on the other debt from now on.
void steal_books::act(role::steal::absorb const& a, std::span<std::byte const> /*payload*/) {
  lent_.erase(a.loan);
  if (find(a.own) == nullptr || find(a.debt) == nullptr) return;  // the run has failed meanwhile
  gather(a.own);
  auto const own = std::move(debts_.extract(a.own).mapped());
  auto& all = debts_.at(a.debt);
  all.changed = true;
  all.tasks += own.tasks;
  all.running += own.running;
  all.copied += own.copied;
  for (auto& h : hands_)
    if (h.sum_of == a.own) h.sum_of = a.debt;
  for (auto& [number, l] : lent_)
    if (l.of == a.own) l.of = a.debt;
  work_.move_newest(*own.waiting, own.waiting->size(), *all.waiting);
  work_.merge(*all.sum, *own.sum);
}

void steal_books::act(role::steal::forget const& a, std::span<std::byte const> /*payload*/) {
  lent_.erase(a.loan);
}

void steal_books::act(role::steal::drop const& a, std::span<std::byte const> /*payload*/) {
  debts_.erase(a.debt);
}

std::unique_ptr<task_bag> steal_books::set_apart(role::steal::set_apart const& a) {
  auto const at = lent_.find(a.loan);
  if (at == lent_.end()) return nullptr;  // the run has failed meanwhile
  auto& worth = at->second.worth;
  auto& d = debts_.at(a.debt);
  add_sum(*d.sum, worth);
  d.changed = true;
  d.tasks += std::exchange(worth.tasks, 0);
  worth.sum.clear();
  auto all = work_.make_bag();
  std::span<std::byte const> packed = worth.waiting;
  for (; worth.bags > 0; --worth.bags) work_.unpack_bag(packed, *all);
  return all;
}

void steal_books::cut(loan_id number, task_bag& all, role::loan_book::pieces const& pieces) {
  auto const tasks = all.size();
  auto const of = lent_.at(number).of;
  for (std::uint64_t i = 0; i < pieces.count; ++i) {
    auto const piece = work_.make_bag();
    work_.move_oldest(all, tasks * (i + 1) / pieces.count - tasks * i / pieces.count, *piece);
    auto& to = lent_[pieces[i]];
    to = {of, {.bags = 1}};
    work_.pack_bag(*piece, to.worth.waiting);
  }
}

std::optional<steal_books::debt_id> steal_books::lend_again(loan_id parcel, loan_id number) {
  auto l = lent_.extract(parcel);
  if (l.empty()) return std::nullopt;  // the run has failed meanwhile
  l.key() = number;
  return lent_.insert(std::move(l)).position->second.of;
}

// --- what travels with messages

// Every other task, from the oldest on, in at most `most_moves` moves: the thief gets half of the work at
// each depth of a tree. The oldest half would be nearly all of it, and this rank would soon be a thief
// itself.
void steal_books::move_half(task_bag& from, task_bag& to) const {
  constexpr std::size_t most_moves = 64;
  auto const kept = work_.make_bag();
  auto const step = from.size() / (2 * most_moves) + 1;
  while (from.size() > step) {
    work_.move_oldest(from, step, to);
    work_.move_oldest(from, std::min(step, from.size()), *kept);
  }
  if (to.size() == 0) return work_.move_oldest(from, 1, to);
  work_.move_newest(from, from.size(), *kept);
  work_.move_newest(*kept, kept->size(), from);
}

void steal_books::pack_loan(loan_id number, debt_id of, bool half, std::vector<std::byte>& out) {
  auto& waiting = *debts_.at(of).waiting;
  auto const given = work_.make_bag();
  if (half)
    move_half(waiting, *given);
  else
    work_.move_oldest(waiting, 1, *given);
  bytes::put_varint(out, 1);
  auto const begin = static_cast<std::ptrdiff_t>(out.size());
  work_.pack_bag(*given, out);
  lent_[number] = {of, {.bags = 1, .waiting = {out.begin() + begin, out.end()}}};
}

void steal_books::pack_loan(loan_id number, std::vector<std::byte>& out) const {
  auto const& worth = lent_.at(number).worth;
  bytes::put_varint(out, worth.bags);
  out.insert(out.end(), worth.waiting.begin(), worth.waiting.end());
}

void steal_books::pack_paid(debt_id id, std::vector<std::byte>& out) {
  auto const d = debts_.extract(id);
  bytes::put_varint(out, d.mapped().tasks);
  work_.pack_result(*d.mapped().sum, out);
}

void steal_books::add(debt& to, steal_statement const& s) {
  std::span<std::byte const> waiting(s.waiting);
  for (auto n = s.bags; n > 0; --n) work_.unpack_bag(waiting, *to.waiting);
  add_sum(*to.sum, s);
  to.tasks += s.tasks;
}

void steal_books::add_sum(merged_result& to, steal_statement const& s) {
  if (s.tasks == 0) return;
  std::span<std::byte const> sum(s.sum);
  auto const part = work_.make_result();
  work_.unpack_result(sum, *part);
  work_.merge(to, *part);
}

void steal_books::pack_parts(debt_id id, std::vector<role::steal::legacy> const& loans,
                             std::vector<std::byte>& out) {
  encode(statement_of(id, false), out);
  for (auto const& l : loans) encode(lent_.at(l.number).worth, out);
}

steal_statement steal_books::statement_of(debt_id id, bool with_loans) {
  gather(id);
  auto& d = debts_.at(id);
  d.changed = false;
  steal_statement s;
  s.tasks = d.tasks;
  if (d.tasks > 0) work_.pack_result(*d.sum, s.sum);
  auto const sum = work_.make_result();
  add_sum(*sum, s);
  auto const add_bags = [&](std::uint64_t bags, std::vector<std::byte> const& packed) {
    s.bags += bags;
    s.waiting.insert(s.waiting.end(), packed.begin(), packed.end());
  };
  if (d.waiting->size() > 0) {
    s.bags = 1;
    work_.pack_bag(*d.waiting, s.waiting);
  }
  for (auto const& h : hands_)
    if (h.runs && h.sum_of == id) add_bags(1, h.taken);
  for (auto const& [number, l] : lent_) {
    if (l.of != id || !with_loans) continue;
    add_bags(l.worth.bags, l.worth.waiting);
    add_sum(*sum, l.worth);
    s.tasks += l.worth.tasks;
  }
  s.sum.clear();
  if (s.tasks > 0) work_.pack_result(*sum, s.sum);
  return s;
}

std::uint64_t steal_books::complete(merged_result& total) {
  gather(0);
  auto const d = debts_.extract(0);
  work_.merge(total, *d.mapped().sum);
  return d.mapped().tasks;
}

}  // namespace skel::detail
