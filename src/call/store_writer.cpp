#include "store_writer.hpp"

#include <xxhash.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "base/format.hpp"
#include "base/one_line.hpp"
#include "engine/engine.hpp"
#include "skel/error.hpp"

namespace skel::detail {

void warn_of_store(std::string const& problem) {
  std::fprintf(stderr, "skel: checkpoint: %s\n", one_line(problem).c_str());
}

void add_cost(checkpoint_report& to, storage::save_cost const& cost) {
  to.code_seconds += cost.code;
  to.transfer_seconds += cost.transfer;
  to.write_seconds += cost.write;
  to.sync_seconds += cost.sync;
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

storage::repository_options store_options(checkpoint_options const& options, std::string_view what,
                                          store_places const& where) {
  if (where.places.empty()) throw usage_error("a checkpoint needs at least one directory: --store");
  require_count("checkpoint", "remote_every", options.remote_every);
  storage::repository_options r;
  r.code = storage::code(options.code);
  r.places = where.places;
  r.home = where.home;
  r.remote_every = options.remote_every;
  r.object = options.resume_object;
  if (!options.key_file.empty()) r.seal_with = storage::key::read(options.key_file);
  auto const text = options.problem + "\n" + std::string(what);
  r.identity = {options.program, options.version, XXH3_64bits(text.data(), text.size())};
  return r;
}

store_writer::store_writer(engine& of, checkpoint_options const& options, std::string_view what)
    : options_(options),
      quiet_(of.options().quiet),
      places_(find_places(of.disks(), options)),
      report_([quiet = quiet_](std::string const& problem) {
        if (!quiet) warn_of_store(problem);
      }),
      store_(store_options(options, what, places_), report_, *places_.files),
      increments_(store_, report_),
      interval_(options) {}

store_writer::~store_writer() {
  if (under_way_.valid()) under_way_.wait();
}

void ask_at_start(storage::repository const& store, bool quiet,
                  std::function<void(storage::repository const&)> const& ask) {
  std::vector<std::string> problems;
  try {
    ask(store.reporting_to([&](std::string const& problem) { problems.push_back(problem); }));
  } catch (usage_error const&) {
    throw;
  } catch (error const& bad) {
    throw usage_error(bad.what());
  }
  if (!quiet)
    for (auto const& p : problems) warn_of_store(p);
}

bool resumes_from(storage::repository const& store, checkpoint_options const& options) {
  store.check_at_start();
  auto const where = join(options.store, ", ");
  if (options.resume_or_start) {
    if (!store.unused()) return true;
    if (options.resume_object.empty()) return false;
  }
  bool const empty = store.catalogue().empty();
  bool const asked = options.resume || options.resume_or_start;
  if (asked && empty) throw usage_error("there is no checkpoint to resume from in " + where);
  if (!asked && !empty)
    throw usage_error("there is a checkpoint in " + where +
                      " already: resume it (--resume), or empty the directories");
  return asked;
}

std::optional<std::vector<std::byte>> store_writer::open() {
  std::optional<std::vector<std::byte>> left;
  if (!quiet_ && !places_.warning.empty()) warn_of_store(places_.warning);
  ask_at_start(store_, quiet_, [&](storage::repository const& store) {
    if (!resumes_from(store, options_)) return;
    auto found = store.restore();
    if (!found || found->parts.size() != 1)
      throw usage_error("the checkpoint in " + join(options_.store, ", ") + " is not of a run like this one");
    store.note_attempt(found->from.plan);
    costs_.restored_generation = found->from.plan.generation;
    left = std::move(found->parts[0]);
    increments_.resume_from(found->from, *left);
    if (found->from.history) interval_.resumed(*found->from.history);
  });
  return left;
}

store_writer::outcome store_writer::write(storage::repository const& to,
                                          std::vector<std::byte> const& content,
                                          storage::run_history const& history) {
  outcome done;
  done.bytes = done.content = content.size();
  try {
    auto const plan = to.next(1);
    done.cost = to.prepare(plan, 0, "results", content);
    done.cost += commit_and_clear(to, plan, history);
  } catch (std::exception const& bad) {
    done.error = bad.what();
  }
  return done;
}

store_writer::outcome store_writer::write_increment(storage::run_history const& history) {
  outcome done;
  try {
    auto const saved = increments_.write(history);
    done = {saved.cost, saved.bytes, saved.content, ""};
  } catch (std::exception const& bad) {
    done.error = bad.what();
  }
  return done;
}

void store_writer::account(outcome const& done) {
  add_cost(costs_, done.cost);
  if (done.error.empty()) {
    // Waiting for disks takes nothing from the computation.
    interval_.saved(done.cost.code + done.cost.write);
    ++costs_.saved;
    costs_.bytes = done.content;
    costs_.written_bytes += done.bytes;
    return;
  }
  if (costs_.failed++ == 0 && !quiet_) warn_of_store(done.error + " (the run goes on)");
}

void store_writer::save_first(std::vector<std::byte> const& content) {
  save_first([&](storage::repository const& store) { return write(store, content, history()); });
}

void store_writer::append_first() {
  save_first([&](storage::repository const& /*store*/) { return write_increment(history()); });
}

void store_writer::save_first(std::function<outcome(storage::repository const&)> const& write_to) {
  ask_at_start(store_, quiet_, [&](storage::repository const& store) {
    auto const done = write_to(store);
    if (!done.error.empty()) throw usage_error(done.error);
    account(done);
  });
}

bool store_writer::due(double now) {
  if (latest_ == 0) latest_ = now;
  if (now - latest_ < interval_.seconds()) return false;
  if (under_way_.valid()) {
    if (under_way_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    account(under_way_.get());
  }
  return true;
}

void store_writer::save(double now, std::function<std::vector<std::byte>()> content) {
  finish();
  latest_ = now;
  under_way_ = std::async(std::launch::async, [this, make = std::move(content), past = history()] {
    return write(store_, make(), past);
  });
}

void store_writer::append(double now, increments::segments const& more) {
  finish();
  latest_ = now;
  increments_.append(more);
  under_way_ = std::async(std::launch::async, [this, past = history()] { return write_increment(past); });
}

storage::run_history store_writer::history() {
  interval_.ran(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  return interval_.history(ended_);
}

void store_writer::finish() {
  if (under_way_.valid()) account(under_way_.get());
}

}  // namespace skel::detail
