#include "store_writer.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "base/format.hpp"
#include "call/timed.hpp"
#include "call/user_code.hpp"
#include "engine/engine.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"
#include "storage/paths.hpp"

namespace skel::detail {

namespace {

// Whether the run resumes from the store. Throws a usage_error that names a directory or a file if the store
// holds what the options do not permit.
bool resumes_from(storage::repository const& store, checkpoint_options const& options) {
  auto const where = join(options.store, ", ");
  if (options.resume == checkpoint_options::resume_mode::if_there) {
    if (!store.unused()) return true;
    if (options.resume_object.empty()) return false;
  }
  bool const empty = store.catalogue().empty();
  bool const asked = options.resume != checkpoint_options::resume_mode::no;
  if (asked && empty) throw usage_error("there is no checkpoint to resume from in " + where);
  if (!asked && !empty)
    throw usage_error("there is a checkpoint in " + where +
                      " already: resume it (--resume), or empty the directories");
  return asked;
}

}  // namespace

store_writer::store_writer(engine& of, checkpoint_options const& options, call_description what)
    : call_store(of, options, store_content::calls), increments_(store_, report_), what_(std::move(what)) {
  what_.add_hidden("problem", hash_text(options.problem));
}

store_writer::~store_writer() {
  if (under_way_.valid()) under_way_.wait();
  if (!session_) return;
  ended_ = true;
  std::ignore = history();
  session_->log = increments_.take();
  session_->length = length_;
  auto& all = store_sessions::of(engine_);
  all.leave(*session_);
  if (number_ == 1 && !begun_) all.forget(name());
}

// The first call of the program.
void store_writer::open_store() {
  if (!places_.warning.empty()) report_(places_.warning);
  if (engine_.job.attempt > 1) ask_what_is_opened();
  ask_at_start([&](storage::repository const& store) {
    auto const lost_owner = engine_.disks().opened().lost_owner(name(), engine_.job.attempt);
    for (auto const& p : places_.places)
      if (auto claim = places_.files->claim(p.directory, lost_owner))
        session_->claims.push_back(std::move(claim));
    announce(false);
    if (engine_.job.attempt > 1) increments_.leave_out_numbers();
    store.check_at_start();
    bool const resumes = in_later_attempt() || resumes_from(store, options_);
    if (options_.problem.empty() && options_.resume != checkpoint_options::resume_mode::no)
      report_(
          "checkpoint_options::problem is empty: a run with other constants, captured values or files "
          "resumes all the same");
    if (!resumes) return;
    auto found = read_back([&] {
      timed const t(costs_.restore_seconds);
      return store.restore();
    });
    if (!found && in_later_attempt()) return;
    if (!found && options_.resume == checkpoint_options::resume_mode::if_there)  // there was one
      throw error(name() + ": no generation can be restored");
    if (!found) throw usage_error("there is no checkpoint to resume from in " + join(options_.store, ", "));
    resume(*found);
  });
}

void store_writer::resume(storage::repository::restored const& found) {
  if (found.parts.size() != 1)
    throw usage_error("the checkpoint in " + join(options_.store, ", ") + " is not of a run like this one");
  auto& s = *session_;
  try {
    s.left = read_calls(found.parts[0]);
  } catch (protocol_error const& bad) {
    throw usage_error(std::string("the checkpoint cannot be used: ") + bad.what());
  }
  if (!s.left.empty()) s.first_saved = s.left.begin()->first;
  auto const bsp = call_description("bsp").text();
  for (auto const& [number, call] : s.left)
    if (call.what.starts_with(bsp))  // its content: the stamps of its generations
      for (std::span<std::byte const> in(call.content); !in.empty();)
        s.stamps[number].insert(bytes::get_raw<std::uint64_t>(in));
  auto const& from = found.from;
  increments_.resume_from(from, found.parts[0]);
  s.restored = from.plan;
  s.history = from.history;
  auto const& who = store_.options().identity;
  s.origin = detail::format(
      "{}: contains generation {} of {}", storage::directory_of(from.parts.at(0).shards.begin()->second),
      from.plan.generation, who.version.empty() ? who.program : who.program + " " + who.version);
  s.log = increments_.take();
}

std::optional<std::vector<std::byte>> store_writer::open(bool again) {
  session_ = store_sessions::of(engine_).enter(name(), again);
  number_ = session_->calls;
  if (number_ == 1 && !again) open_store();
  increments_.resume_from(std::move(session_->log));
  increments_.begin_call(session_->first_saved > 0 && session_->first_saved < number_);
  if (session_->history) interval_.resumed(*session_->history);
  if (again) length_ = session_->length;
  begun_ = again;  // the store was tried
  auto mine = session_->left.extract(number_);
  if (mine.empty()) return {};
  auto& saved = mine.mapped();
  if (!agree(saved.what, what_.text())) {
    auto const other = detail::format("{} (call {}: {}) with other options or input", session_->origin,
                                      number_, difference(saved.what, what_.text()));
    if (!in_later_attempt()) throw usage_error(other + "; repeat those of that run, or use another store");
    report_(other + ": the call starts anew");  // they depend on the number of ranks
    session_->stamps.erase(number_);
    return {};
  }
  if (number_ == 1) store_.note_attempt(session_->restored);
  restored_ = true;
  length_ = saved.content.size();
  costs_.restored_generation = session_->restored.generation;
  return std::move(saved.content);
}

bool store_writer::is_of_another_call(std::uint64_t stamp) const {
  return std::ranges::any_of(session_->stamps, [&](auto const& call) {
    return call.first != number_ && call.second.contains(stamp);
  });
}

store_writer::outcome store_writer::write_increment(storage::run_history const& history, bool both) {
  outcome done;
  double taken = 0;
  auto const bad = thrown_by([&] {
    timed const t(taken);
    done.what = both ? increments_.write_both(history) : increments_.write(history);
  });
  if (!bad) return done;
  done.what.cost.write = taken;
  done.error = *bad;
  return done;
}

void store_writer::account(outcome const& done) {
  add_cost(done.what.cost);
  // Waiting for disks takes nothing from the computation.
  double const cost = done.what.cost.code + done.what.cost.write;
  failure_ = done.error;
  if (done.error.empty()) {
    interval_.saved(cost);
    ++costs_.saved;
    costs_.bytes = done.what.content;
    costs_.written_bytes += done.what.bytes;
    return;
  }
  interval_.not_saved(cost);
  if (costs_.failed++ == 0) report_(done.error + " (the run goes on)");
}

void store_writer::report_failure() {
  if (owes() && costs_.failed > 1) report_(failure_ + " (the last checkpoint)");
}

// The head of a record of this call, which will be saved.
std::shared_ptr<std::vector<std::byte> const> store_writer::head(std::uint64_t at, std::uint64_t length,
                                                                 bool keeps_later) {
  auto& s = *session_;
  if (!keeps_later) {
    s.left.erase(s.left.upper_bound(number_), s.left.end());
    s.stamps.erase(s.stamps.upper_bound(number_), s.stamps.end());
  }
  if (s.first_saved == 0 || s.first_saved > number_) s.first_saved = number_;
  length_ = at + length;
  return std::make_shared<std::vector<std::byte> const>(
      encode(call_record{number_, at, length, keeps_later, what_.text()}));
}

void store_writer::begin_saving(std::vector<std::byte> const& more, bool keeps_later) {
  bool const first = number_ == 1 && !begun_;
  if (first) announce(true);  // should this root be lost, its successor goes on from what it saves
  if (!first && more.empty() && !increments_.merges()) return;
  if (!more.empty() || (first && !restored_))
    increments_.append(
        {head(length_, more.size(), keeps_later), std::make_shared<std::vector<std::byte> const>(more)});
  ask_at_start([&](storage::repository const& /*store*/) {
    auto const& disks = engine_.disks();
    auto before = disks.losses();
    auto done = write_increment(history(), !more.empty());
    // The loss of a rank may have taken what was just written, or the quorum: the disks that are left
    // suffice.
    while (first && !done.error.empty() && before != disks.losses()) {
      before = disks.losses();
      done = write_increment(history(), !more.empty());
    }
    if (first && !done.error.empty()) throw error(done.error);
    account(done);
  });
  begun_ = true;
}

bool store_writer::due(double now) {
  if (latest_ == 0) latest_ = now;
  if (now - latest_ < interval_.seconds()) return false;
  if (auto const done = outcome_of(under_way_)) account(*done);
  return !under_way_.valid();
}

void store_writer::save(double now, std::function<std::vector<std::byte>()> content) {
  finish();
  latest_ = now;
  under_way_ = std::async(std::launch::async, [this, make = std::move(content), past = history()] {
    auto const all = std::make_shared<std::vector<std::byte> const>(make());
    increments_.replace({head(0, all->size()), all});
    return write_increment(past);
  });
}

void store_writer::append(double now, increments::segments const& more) {
  finish();
  latest_ = now;
  std::uint64_t length = 0;
  for (auto const& s : more) length += s->size();
  if (length > 0) {  // otherwise what a failed checkpoint has left
    increments_.append({head(length_, length)});
    increments_.append(more);
  }
  under_way_ = std::async(std::launch::async, [this, past = history()] { return write_increment(past); });
}

storage::run_history store_writer::history() {
  interval_.ran(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  session_->history = interval_.history(ended_);
  return *session_->history;
}

void store_writer::finish() {
  if (under_way_.valid()) account(under_way_.get());
}

}  // namespace skel::detail
