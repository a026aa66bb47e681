// What a process knows of a store between the calls that save in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "increments.hpp"
#include "skel/storage/generation.hpp"

namespace skel::detail {

class engine;

/// What a store holds of one call of the program.
struct saved_call {
  std::string what;                // its call_description
  std::vector<std::byte> content;  // what its skeleton has saved
};
using saved_calls = std::map<std::uint64_t, saved_call>;  // by the number of the call, from 1 on

/// A store holds a log of all calls of the program, since a program that resumes makes all of them again.
/// Each record replaces the content of its call from byte `at` on. It makes what was saved of later calls
/// void, because their input may have been another, unless `keeps_later`.
struct call_record {
  std::uint64_t number = 0, at = 0, length = 0;
  bool keeps_later = false;
  std::string what{};
};
/// The bytes of a record without those of its content, which follow.
[[nodiscard]] std::vector<std::byte> encode(call_record const& head);
/// Throws protocol_error if the bytes are not a log. A content with a gap, see increments::write(), is
/// closed.
[[nodiscard]] saved_calls read_calls(std::span<std::byte const> log);

struct store_session {
  std::vector<std::shared_ptr<void const>> claims;
  std::uint64_t calls = 0;        // made so far
  std::uint64_t length = 0;       // of what the last of them has saved
  bool busy = false;              // one of them is in progress
  saved_calls left;               // what an earlier run left of calls that this one has not made yet
  std::uint64_t first_saved = 0;  // the first call of which the log holds something; 0: none
  std::string origin{};           // names the directory and the generation that were restored
  storage::generation_plan restored;
  std::optional<storage::run_history> history;
  increments::state log;
  /// The stamps of the generations of each bsp call, which are not in the log.
  std::map<std::uint64_t, std::set<std::uint64_t>> stamps;
};

/// The stores in which the calls of a program have saved.
class store_sessions {
 public:
  /// Those of the process, since a program may make several contexts, unless several jobs share it. Each
  /// attempt of the program makes its calls anew, maybe on another rank.
  [[nodiscard]] static store_sessions& of(engine& e);
  /// Begins a call that saves in this store, or repeats the last one. Throws usage_error while another one
  /// does.
  [[nodiscard]] std::shared_ptr<store_session> enter(std::string const& store, bool again);
  void leave(store_session& s);
  /// As if no call had saved in this store.
  void forget(std::string const& store);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<store_session>> all_;
};

}  // namespace skel::detail
