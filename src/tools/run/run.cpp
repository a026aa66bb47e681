#include "tools/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "program/input_file.hpp"
#include "program/paths.hpp"
#include "skel/broadcast.hpp"
#include "skel/farm.hpp"
#include "skel/gather.hpp"
#include "tools/run/finished.hpp"
#include "tools/run/own_files.hpp"
#include "tools/run/ranks.hpp"
#include "tools/run/table.hpp"
#include "tools/run/words.hpp"

namespace skel::commands {

namespace {

std::string read_list(context const& ctx, std::string const& path) {
  if (path != "-") return program::read_input(path);
  if (ctx.attempt() > 1)
    throw error("the commands on standard input are lost with rank 0, which had not passed them on");
  std::string text, block(1 << 16, '\0');
  while (auto const n = std::fread(block.data(), 1, block.size(), stdin)) text.append(block, 0, n);
  if (std::ferror(stdin) != 0) throw error("cannot read standard input");
  return text;
}

// Standard input is at rank 0 only, and a file perhaps, too.
command_list list_of(context& ctx, run_settings const& s, std::optional<std::string>& text) {
  ctx.require_same("the command behind --", line_of(s.how));
  command_template how(s.how);
  if (!s.sweep.empty() && (s.list != "-" || s.null))
    throw usage_error("--sweep: expected no LIST and no --null");
  if (!s.sweep.empty()) return {sweep(s.sweep), std::move(how)};
  if (ctx.is_root() && !text) text = read_list(ctx, s.list);
  auto got = skel::broadcast(ctx, on_root([&] { return *text; }), "list").value;
  if (!got) throw error("stopped while the list was read");
  text = std::move(got);
  return {*text, s.null ? '\0' : '\n', std::move(how)};
}

// Runs commands on a rank.
class runner {
 public:
  runner(context const& ctx, supervisor& commands, surroundings where)
      : commands_(commands), where_(std::move(where)), connections_(ctx) {}

  result operator()(command const& what, worker_info const& by) const { return run(what, by, {}); }

  /// `cores`: of an MPI program.
  result run(command const& what, worker_info const& by, std::vector<std::string> cores) const {
    if (what.line.empty()) return {};
    result r{what.number, identity(what.line),
             commands_.run(connections_[by], {what, where_, std::move(cores)})};
    r.how.rank = by.rank;
    if (r.how.failed()) throw error(failure_text(r.how, what.line));
    return r;
  }

 private:
  supervisor& commands_;
  surroundings where_;
  per_thread<supervisor::connection> connections_;
};

// Runs commands that are MPI programs on a team of ranks. Its first rank starts all processes, on the cores
// of all of them; the others have nothing to do until the program ends.
class team_runner {
 public:
  team_runner(context const& ctx, runner const& run, int processes)
      : rank_(ctx.rank()), run_(run), processes_(static_cast<std::size_t>(processes)) {}

  result operator()(context& team, command const& what) const {
    if (what.line.empty()) return {};
    auto const all = skel::gather(team, own_cores());
    if (!all) return {};
    // After losses, a team may have fewer ranks than the program has processes.
    std::vector<std::string> cores;
    for (std::size_t i = 0; i < processes_; ++i)
      cores.push_back((*all)[i % all->size()].value_or(own_cores()));
    return run_.run(what, {.rank = rank_}, std::move(cores));
  }

 private:
  int rank_;
  runner const& run_;
  std::size_t processes_;
};

// Before anything runs. Later, after losses, there may be fewer ranks.
void check_ranks(context& ctx, run_settings const& s, bool root_works) {
  ctx.set_threads(1);
  if (s.where.cores > 0 || s.memory > 0 || s.seconds > 0)
    throw usage_error(
        "--ranks-per-task: expected no --cores, --memory and --task-time: a command has its ranks' cores");
  auto const hosts = skel::gather(ctx, ctx.host());
  if (!hosts || ctx.attempt() > 1) return;
  if (auto const why = why_no_ranks(); !why.empty()) throw usage_error("--ranks-per-task: " + why);
  std::map<std::string, int> ranks;
  for (std::size_t r = root_works ? 0 : 1; r < hosts->size(); ++r)
    if (auto const& host = (*hosts)[r]) ++ranks[*host];
  auto const most = std::ranges::max_element(ranks, {}, [](auto const& r) { return r.second; });
  if (most == ranks.end() || most->second < s.ranks)
    throw usage_error(
        fmt::format("--ranks-per-task {}: expected a host with that many ranks{}, found at most {}: on {}",
                    s.ranks, root_works ? "" : " beside rank 0", most == ranks.end() ? 0 : most->second,
                    most == ranks.end() ? ctx.host() : most->first));
}

farm_options options_of(program::common_options const& common, run_settings const& s) {
  farm_options o;
  o.results = common.results();
  o.root_works = common.of_farm.root_works;
  o.label = "commands";
  o.task.run_once = true;
  if (s.where.cores > 0 || s.memory > 0 || s.seconds > 0)
    o.task.needs =
        task_needs{.memory = s.memory, .threads = std::max(1U, s.where.cores), .seconds = s.seconds};
  if (s.keep_going)
    o.on_error = on_error::collect{.times = s.retries + 1};
  else if (s.retries > 0)
    o.on_error = on_error::retry{.times = s.retries + 1};
  o.task.team_size = s.ranks;
  o.task.team_on_one_host = true;
  o.checkpoint = common.checkpoint("skel-run", "commands");
  return o;
}

class table_of_run {
 public:
  table_of_run(context const& ctx, std::string const& path, command_list const& list) : list_(list) {
    if (ctx.is_root() && !path.empty()) table_.emplace(path, list.size());
  }
  void add(std::uint64_t number, std::optional<outcome> how, bool ended_ranks = false) {
    if (table_) table_->add({{number, list_[number]}, std::move(how), ended_ranks});
  }
  void write() {
    if (table_) table_->write();
  }

 private:
  command_list const& list_;
  std::optional<table> table_;
};

// A farm knows places, users know commands. If one fails, the table has those that have ended.
template <class Number, class Farm>
report in_terms_of_commands(table_of_run& rows, Number const& number_in, Farm const& farm) {
  try {
    auto run = farm();
    for (auto& t : run.failed_tasks) t.task = number_in(t.task);
    return run;
  } catch (task_error const& bad) {
    rows.add(number_in(bad.task()), outcome_of(bad.text()));
    rows.write();
    throw error(fmt::format("command {} failed: {}{}", number_in(bad.task()), bad.text(),
                            bad.more() > 0 ? fmt::format(" (and {} more)", bad.more()) : ""));
  }
}

// Every rank knows the list, so after the loss of the root the others remember what they have run.
report run_listed(context& ctx, any_schedule const& how, command_list const& list, runner const& run,
                  table_of_run& rows, farm_options const& options) {
  auto const by_number = [&](std::uint64_t i, worker_info const& by) { return run({i, list[i]}, by); };
  auto const sink = [&](task_id, result&& r) { rows.add(r.number, std::move(r.how)); };
  return in_terms_of_commands(
      rows, [](std::uint64_t i) { return i; },
      [&] { return farm(ctx, indices(list.size()), by_number, how, sink, options).report; });
}

// Likewise on teams, whose results a farm does not remember.
report run_on_teams(context& ctx, any_schedule const& how, command_list const& list, team_runner const& run,
                    table_of_run& rows, farm_options const& options, std::vector<result>& kept) {
  std::vector<bool> done(list.size());
  if (auto const of_ranks = ctx.attempt() > 1 ? skel::all_gather(ctx, kept) : std::nullopt)
    for (auto const& of_rank : *of_ranks)
      for (auto const& r : of_rank.value_or(std::vector<result>{})) {
        if (!done[r.number]) rows.add(r.number, r.how);
        done[r.number] = true;
      }
  std::vector<std::uint64_t> open;
  for (std::uint64_t i = 0; i < list.size(); ++i)
    if (!done[i]) open.push_back(i);
  auto const by_number = [&](context& team, std::uint64_t i) {
    auto r = run(team, {i, list[i]});
    if (team.is_root()) kept.push_back(r);
    return r;
  };
  auto const sink = [&](task_id, result&& r) { rows.add(r.number, std::move(r.how)); };
  return in_terms_of_commands(
      rows, [&](std::uint64_t i) { return open[i]; },
      [&] { return farm(ctx, replicated(open), by_number, how, sink, options).report; });
}

// With checkpoints, which also serve after the loss of the root.
template <class Run>
report run_resumable(context& ctx, any_schedule const& how, command_list const& list, Run const& run,
                     table_of_run& rows, farm_options const& options, surroundings const& where) {
  std::optional<finished> done;
  if (ctx.is_root()) done.emplace(list, where);
  bool restores = true;
  auto const sink = [&](task_id place, result&& r) {
    if (restores) {
      if (auto const number = done->take(place, r.identity, r.number, r.how))
        rows.add(*number, std::move(r.how));
    } else if (r.identity != hash128{}) {
      rows.add(r.number, std::move(r.how));
    }
  };
  auto const open = [&] {
    restores = false;
    return done->open();
  };
  return in_terms_of_commands(
      rows, [&](std::uint64_t place) { return done ? done->number_in(place) : place; },
      [&] { return farm(ctx, on_root(open), run, how, sink, options).report; });
}

}  // namespace

program::run_outcome run_commands(context& ctx, program::common_options const& common, run_settings const& s,
                                  supervisor& commands, kept_data& kept) {
  if (!common.output.empty()) program::require_ending(common.output, {".csv", ".jsonl"});
  if (ctx.is_root()) own_files::check(s.where);
  if (s.ranks > 1) check_ranks(ctx, s, common.of_farm.root_works);
  auto const list = list_of(ctx, s, kept.text);
  auto const options = options_of(common, s);
  runner const run(ctx, commands, s.where);
  team_runner const on_team(ctx, run, s.ranks);
  table_of_run rows(ctx, common.output, list);
  auto const how = common.schedule();
  program::run_outcome outcome;
  if (options.checkpoint)
    outcome.run = s.ranks > 1 ? run_resumable(ctx, how, list, on_team, rows, options, s.where)
                              : run_resumable(ctx, how, list, run, rows, options, s.where);
  else
    outcome.run = s.ranks > 1 ? run_on_teams(ctx, how, list, on_team, rows, options, kept.results)
                              : run_listed(ctx, how, list, run, rows, options);
  if (!ctx.is_root()) return outcome;
  for (auto const& t : outcome.run.failed_tasks) rows.add(t.task, outcome_of(t.text), t.ended_ranks);
  rows.write();
  if (!outcome.run.stopped_early) outcome.fields = {{"commands", list.size()}};
  return outcome;
}

}  // namespace skel::commands
