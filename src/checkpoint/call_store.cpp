#include "call_store.hpp"

#include <algorithm>
#include <cstdio>
#include <ranges>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/text.hpp"
#include "engine/engine.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"
#include "storage/claim.hpp"

namespace skel::detail {

namespace {

std::string executable_name() {
#ifdef __linux__
  return program_invocation_short_name;
#else
  return getprogname();
#endif
}

// Changes with the format of the content, so that no version reads what it does not know.
storage::identity writer_of(checkpoint_options const& options, store_content what) {
  return {options.program.name.empty() ? executable_name() : options.program.name, options.program.version,
          hash_text(what == store_content::calls ? "calls, format 1" : "parts, format 1")};
}

}  // namespace

void warn_of_store(std::string const& problem) {
  std::fprintf(stderr, "skel: checkpoint: %s\n", one_line(problem).c_str());
}

storage::save_cost commit_and_clear(storage::repository const& to, storage::generation_plan const& plan,
                                    storage::run_history const& history) {
  auto const begin = std::chrono::steady_clock::now();
  double const moved_before = transfer_of_this_thread();
  to.commit(plan, history);
  to.remove_old(plan);
  storage::save_cost cost;
  cost.transfer = transfer_of_this_thread() - moved_before;
  cost.sync = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() - cost.transfer;
  return cost;
}

storage::repository_options store_options(checkpoint_options const& options, store_content what,
                                          store_places const& where) {
  if (where.places.empty()) throw usage_error("a checkpoint needs at least one directory: --store");
  require_count("checkpoint", "remote.every", options.remote.every);
  storage::repository_options r;
  r.code = storage::code(options.code);
  r.places = where.places;
  r.placement = {where.home, options.remote.every};
  r.object = options.resume_object;
  if (!options.key_file.empty()) r.seal_with = storage::key::read(options.key_file);
  r.identity = writer_of(options, what);
  r.ignored.writers = {
      writer_of(options, what == store_content::calls ? store_content::parts : store_content::calls)};
  return r;
}

call_store::call_store(engine& of, checkpoint_options const& options, store_content what,
                       std::function<bool(storage::generation_plan const&)> apart)
    : engine_(of),
      options_(options),
      places_(find_places(of.disks(), options)),
      report_([&of](std::string const& problem) {
        if (!of.options().quiet && !of.disks().isolated()) warn_of_store(problem);
      }),
      store_(
          [&] {
            auto o = store_options(options, what, places_);
            o.ignored.generations = std::move(apart);
            return o;
          }(),
          report_, *places_.files),
      interval_(options) {}

std::optional<int> call_store::lost_rank() const {
  std::lock_guard const lock(engine_.mutex());
  auto const& lost = engine_.wires().lost();
  if (!lost.empty()) return *lost.begin();
  return engine_.job.attempt > 1 ? std::optional(0) : std::nullopt;
}

void call_store::ask_at_start(std::function<void(storage::repository const&)> const& ask) const {
  std::vector<std::string> problems;
  try {
    ask(store_.reporting_to([&](std::string const& problem) { problems.push_back(problem); }));
  } catch (usage_error const&) {
    throw;
  } catch (error const& bad) {
    // The disks of ranks that this job has lost may hold what is missing: a restart finds them again.
    if (auto const lost = lost_rank(); lost && !in_later_attempt()) throw lost_rank_error(*lost, bad.what());
    throw usage_error(bad.what());
  }
  for (auto const& p : problems) report_(p);
}

std::string call_store::name() const {
  auto all = options_.store;
  all.insert(all.end(), options_.remote.store.begin(), options_.remote.store.end());
  return join(all, ", ");
}

bool call_store::in_later_attempt() const {
  return engine_.disks().opened().saved_before(name(), engine_.job.attempt);
}

// An earlier root may have been lost before its announcement came here, but not before it came to others.
// They answer from inside their tasks, too.
void call_store::ask_what_is_opened() const {
  constexpr double patience = 5;
  std::unique_lock lock(engine_.mutex());
  auto const unknown = [&](int r) {
    return r != engine_.rank() && !engine_.wires().is_lost(r) && !engine_.disks().has_answered(r);
  };
  auto const ranks = std::views::iota(0, engine_.size());
  for (int const r : ranks | std::views::filter(unknown))
    engine_.wires().carrier().send_note(r, encode(store_note::question));
  engine_.driver().drive_while(lock, patience, 100e-6, [&] { return std::ranges::any_of(ranks, unknown); });
}

void call_store::announce(bool saves) const {
  opened_store const store{name(), storage::claim_owner(), engine_.job.attempt, saves};
  engine_.disks().opened().add(store);
  std::unique_lock lock(engine_.mutex());
  engine_.wires().carrier().send_note_to_all(encode(store));
  auto const under_way = [&](int r) {
    return !engine_.wires().is_lost(r) && engine_.wires().carrier().unsent(r) > 0;
  };
  engine_.driver().drive_while(
      lock, 1.0, 0, [&] { return std::ranges::any_of(std::views::iota(0, engine_.size()), under_way); });
}

void call_store::add_cost(storage::save_cost const& cost) {
  costs_.code_seconds += cost.code;
  costs_.transfer_seconds += cost.transfer;
  costs_.write_seconds += cost.write;
  costs_.sync_seconds += cost.sync;
}

}  // namespace skel::detail
