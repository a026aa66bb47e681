// The tasks and results of a ring_steal call on one rank: those of its debts, and those that it has lent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ring_steal/role/lender.hpp"
#include "skel/detail/steal_work.hpp"

namespace skel::detail {

/// Running the remaining tasks and everything they spawn, and merging their results into the sum,
/// gives the result of the whole. Holds bytes only, since the types are the user's.
struct steal_statement {
  std::uint64_t tasks = 0;           ///< tasks whose results are in the sum
  std::vector<std::byte> sum{};      ///< one packed result; empty if there is none
  std::uint64_t bags = 0;            ///< number of bags of remaining tasks:
  std::vector<std::byte> waiting{};  ///< packed, one after the other
};

/// Appends the statement's bytes.
void encode(steal_statement const& s, std::vector<std::byte>& out);
/// Reads a statement from the front of `in` and removes it. Throws protocol_error if the bytes do
/// not hold one.
[[nodiscard]] steal_statement decode_statement(std::span<std::byte const>& in);

/// The tasks of a debt wait in one bag per debt. A compute thread takes some into its hand and returns the
/// rest. A loan keeps a packed copy of its tasks, later the borrower's latest statement. Functions that call
/// the user's code may throw anything.
class steal_books {
 public:
  using debt_id = role::debt_id;
  using loan_id = role::loan_id;
  struct debt {
    std::unique_ptr<task_bag> waiting;
    std::unique_ptr<merged_result> sum;  // results of repaid loans, and of threads that have finished
    std::uint64_t tasks = 0;             // in `sum`
    unsigned running = 0;                // threads working on it
    unsigned copied = 0;                 // number of these that have left a copy of the tasks they took
    bool changed = false;                // since its latest statement
    double state_at = 0;                 // for a suspect debt: earliest time of the next statement
  };
  /// Work of one compute thread. Padded, so that threads do not share cache lines.
  struct alignas(128) hand {
    std::unique_ptr<task_bag> bag;       // the tasks in progress
    std::unique_ptr<merged_result> sum;  // the result of its tasks of debt `sum_of`
    std::optional<debt_id> sum_of;
    std::uint64_t sum_tasks = 0;
    bool runs = false;             // tasks of debt `sum_of`
    bool copied = false;           // `taken` holds a copy of the running tasks
    std::vector<std::byte> taken;  // the bag at the start of the quantum, packed
  };

  steal_books(steal_work& work, unsigned threads);

  /// A new debt without tasks.
  debt& open(debt_id id);
  /// Null if it is void.
  [[nodiscard]] debt* find(debt_id id);
  [[nodiscard]] std::map<debt_id, debt>& debts() { return debts_; }
  /// The call ends: nothing is needed any more.
  void clear();

  // --- compute threads
  [[nodiscard]] hand& of(unsigned thread) { return hands_[thread]; }
  /// Takes the newest tasks of the debt.
  void take(hand& h, debt& from, std::size_t tasks);
  /// Leaves a copy of the tasks taken, so that the debt can be stated however long they run.
  void copy(hand& h, debt_id id);
  void begin(hand& h, debt_id id);
  /// The thread has run `tasks` tasks; returns the rest. Returns the debt, or null if it became void
  /// meanwhile.
  debt* end(hand& h, std::uint64_t tasks);
  /// Merges the results of the threads into the debt's, except of those that still work on it.
  void gather(debt_id id);

  // --- the actions of the member
  void act(role::steal::accept const& a, std::span<std::byte const> payload);
  void act(role::steal::settle const& a, std::span<std::byte const> payload);
  void act(role::steal::take_back const& a, std::span<std::byte const> payload);
  void act(role::steal::restate const& a, std::span<std::byte const> payload);
  void act(role::steal::absorb const& a, std::span<std::byte const> payload);
  void act(role::steal::forget const& a, std::span<std::byte const> payload);
  void act(role::steal::drop const& a, std::span<std::byte const> payload);
  /// Moves the stated result of a loan into its debt. Returns the remaining tasks; null if the loan is void.
  [[nodiscard]] std::unique_ptr<task_bag> set_apart(role::steal::set_apart const& a);
  /// Cuts the tasks of a loan that was set apart into parcels.
  void cut(loan_id number, task_bag& all, role::loan_book::pieces const& pieces);
  /// The parcel becomes the loan `number`. Returns its debt; nothing if it is void.
  std::optional<debt_id> lend_again(loan_id parcel, loan_id number);

  // --- what travels with messages
  /// Half of what waits, or the oldest task, which is the root of the largest subtree.
  void pack_loan(loan_id number, debt_id of, bool half, std::vector<std::byte>& out);
  void pack_loan(loan_id number, std::vector<std::byte>& out) const;
  /// Ends the debt.
  void pack_paid(debt_id id, std::vector<std::byte>& out);
  /// The value of a debt: the threads' tasks as they were at the start of the quantum, and loans as last
  /// stated by their borrowers, unless only its own part is wanted.
  [[nodiscard]] steal_statement statement_of(debt_id id, bool with_loans = true);
  /// Its own part, and that of each loan made from it.
  void pack_parts(debt_id id, std::vector<role::steal::legacy> const& loans, std::vector<std::byte>& out);
  /// The statement's tasks wait on this rank; its result joins the debt's.
  void add(debt& to, steal_statement const& s);
  /// Ends debt 0. Returns the number of its tasks.
  std::uint64_t complete(merged_result& total);

 private:
  struct loan {
    debt_id of = 0;
    steal_statement worth{};  // initially the tasks lent, later the borrower's latest statement
  };
  void gather_from(hand& h, debt_id id);
  void move_half(task_bag& from, task_bag& to) const;
  void add_sum(merged_result& to, steal_statement const& s);

  steal_work& work_;
  std::map<debt_id, debt> debts_;
  std::map<loan_id, loan> lent_;
  std::vector<hand> hands_;
};

}  // namespace skel::detail
