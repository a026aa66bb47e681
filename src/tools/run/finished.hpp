// Which commands of a list an earlier run has finished, and in which order the others run.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "skel/hash.hpp"
#include "tools/run/command_list.hpp"
#include "tools/run/request.hpp"

namespace skel::commands {

/// A farm that resumes knows its tasks by their numbers, but commands may have been inserted, removed or
/// changed since. Tasks are therefore only places: that of a command that is done belongs to it, wherever the
/// list has it now, and the commands that are left take the other places in their order. The results of an
/// earlier run come first (skel::on_root), then places() is read.
class finished {
 public:
  finished(command_list const& list, surroundings where);

  /// The result in this place is of a command with this identity and, then, this number. Returns its number
  /// in the list, or nothing if the list does not have it, or has it fewer times. If commands have files,
  /// which are named after their numbers, only if it had the same number, and its file is still there.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t place, hash128 const& identity,
                                                  std::uint64_t before, outcome const& how);

  /// The tasks of the farm, by place. Those of finished commands, and those that no command needs, hold empty
  /// ones, which run nothing.
  class places {
   public:
    class iterator {
     public:
      using value_type = command;
      using difference_type = std::ptrdiff_t;
      iterator() = default;
      explicit iterator(finished const* of) : of_(of) {}
      command operator*() const;
      iterator& operator++();
      void operator++(int) { ++*this; }
      bool operator==(std::default_sentinel_t /*end*/) const { return all_begun() && gone(); }

     private:
      [[nodiscard]] bool all_begun() const { return left_ == of_->open_.size(); }
      [[nodiscard]] bool gone() const { return past_ == of_->taken_.size(); }
      [[nodiscard]] bool is_taken() const { return !gone() && of_->taken_[past_] == place_; }

      finished const* of_ = nullptr;
      std::uint64_t place_ = 0;
      std::size_t left_ = 0, past_ = 0;  // places of commands, and of finished ones, before this one
    };
    explicit places(finished const& of) : of_(&of) {}
    [[nodiscard]] iterator begin() const { return iterator(of_); }
    [[nodiscard]] static std::default_sentinel_t end() { return {}; }

   private:
    finished const* of_;
  };
  /// No more results of an earlier run come.
  [[nodiscard]] places open();
  /// The number in the list of the command that runs in this place. After open().
  [[nodiscard]] std::uint64_t number_in(std::uint64_t place) const;

 private:
  struct entry {
    hash128 identity;
    std::uint64_t number;
  };
  [[nodiscard]] std::optional<std::uint64_t> any_number(hash128 const& identity);
  [[nodiscard]] bool has_files(hash128 const& identity, std::uint64_t number, outcome const& how) const;

  command_list const& list_;
  surroundings where_;
  std::vector<entry> waiting_;        // by identity, then number
  std::vector<std::uint64_t> used_;   // of the entries with the same identity, at the first of them
  std::vector<bool> done_;            // by number
  std::vector<std::uint64_t> taken_;  // places
  std::vector<std::uint64_t> open_;   // numbers of the commands that are left
};

}  // namespace skel::commands
