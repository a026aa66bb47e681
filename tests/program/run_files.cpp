#include "program/run_files.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"
#include "observe/support.hpp"
#include "program/options.hpp"
#include "skel/error.hpp"

using namespace skel::program;

namespace {

run_outcome some_outcome() {
  run_outcome outcome;
  outcome.run.skeleton = "farm";
  outcome.run.schedule = "guided";
  outcome.run.results = "streamed";
  outcome.run.ranks = 4;
  outcome.run.threads_per_rank = 1;
  outcome.run.tasks = 512;
  outcome.run.seconds = 1.934;
  outcome.run.busy_share = 0.96;
  outcome.fields = {{"rays", 7}};
  outcome.problem = {{"width", "512"}};
  return outcome;
}

}  // namespace

TEST_CASE("the requested files are written") {
  test::temporary_directory const directory;
  common_options options;
  write_run_files(options, "skel-x", some_outcome(), {});
  CHECK(directory.entries() == 0);
  options.files.report = directory.file("r.json");
  options.files.trace = directory.file("t.json");
  options.files.samples = directory.file("s.csv");
  write_run_files(options, "skel-x", some_outcome(), {});
  auto const report = nlohmann::json::parse(test::read_file(options.files.report));
  CHECK(report["program"] == "skel-x");
  CHECK(report["rays"] == 7);
  CHECK(nlohmann::json::parse(test::read_file(options.files.trace))["traceEvents"].empty());
  CHECK(test::read_file(options.files.samples).ends_with(",width=512\n"));
}

TEST_CASE("a page that cannot be made leaves report and trace") {
  test::temporary_directory const directory;
  common_options options;
  options.files.page = directory.file("missing/page.html");
  CHECK(options.traces());
  try {
    write_run_files(options, "skel-x", some_outcome(), {});
    FAIL("no error");
  } catch (skel::error const& bad) {
    std::string const text = bad.what();
    CHECK(text.starts_with("--page: "));
    auto const at = text.rfind(' ');
    std::filesystem::path const kept = text.substr(at + 1);
    CHECK(nlohmann::json::parse(test::read_file((kept / "report.json").string()))["tasks"] == 512);
    CHECK(std::filesystem::exists(kept / "trace.json"));
    std::filesystem::remove_all(kept);
  }
}

TEST_CASE("a file that cannot be written leaves the others") {
  test::temporary_directory const directory;
  common_options options;
  options.files.report = "/nonexistent/r.json";
  options.files.trace = "/nonexistent/t.json";
  options.files.samples = directory.file("s.csv");
  auto const text =
      test::error_text<skel::error>([&] { write_run_files(options, "skel-x", some_outcome(), {}); });
  CHECK(text == "/nonexistent/r.json: No such file or directory");
  CHECK(test::read_file(options.files.samples).ends_with(",width=512\n"));
}

TEST_CASE("a stopped run writes no sample") {
  test::temporary_directory const directory;
  common_options options;
  options.files.samples = directory.file("s.csv");
  auto outcome = some_outcome();
  outcome.run.stopped_early = true;
  write_run_files(options, "skel-x", outcome, {});
  CHECK(directory.entries() == 0);
}

TEST_CASE("a run that left tasks out names ten of them and writes no sample") {
  test::temporary_directory const directory;
  common_options options;
  options.files.samples = directory.file("s.csv");
  auto outcome = some_outcome();
  CHECK(lines_of_failures(outcome.run).empty());
  outcome.run.failed_tasks = {{.task = 7, .rank = 2, .times = 1, .text = "bad thing"},
                              {.task = 9, .rank = 1, .times = 3, .text = "worse thing"}};
  write_run_files(options, "skel-x", outcome, {});
  CHECK(directory.entries() == 0);
  CHECK(lines_of_failures(outcome.run) ==
        std::vector<std::string>{"task 7 failed on rank 2 and is left out: bad thing",
                                 "task 9 failed 3 times, last on rank 1, and is left out: worse thing",
                                 "the result is incomplete: 2 of 514 tasks left out"});
  outcome.run.failed_tasks.resize(12);
  outcome.run.checkpoint = skel::checkpoint_report{.saved = 1};
  auto const lines = lines_of_failures(outcome.run);
  CHECK(lines.size() == 11);
  CHECK(lines.back() == "the result is incomplete: 12 of 524 tasks left out; --resume tries them again");
}

TEST_CASE("a rank at fault is named, and results of it that the sink had") {
  auto outcome = some_outcome();
  outcome.run.audit = skel::audit_report{.checked = 12, .unchecked = 0, .at_fault = {}};
  CHECK(is_whole(outcome.run));
  CHECK(lines_of_failures(outcome.run).empty());
  CHECK(test::contains(summary_line(outcome.run), "; 12 tasks audited"));
  outcome.run.audit->at_fault = {{.rank = 2, .task = 17, .computed_again = 80, .in_sink = {}}};
  CHECK(is_whole(outcome.run));
  CHECK(test::contains(summary_line(outcome.run), "; 12 tasks audited, rank 2 at fault in task 17"));
  CHECK(lines_of_failures(outcome.run) ==
        std::vector<std::string>{"the audits found rank 2 at fault in task 17: 80 tasks computed again"});
  outcome.run.audit->at_fault[0].in_sink = {{3, 5}, {9, 9}};
  CHECK_FALSE(is_whole(outcome.run));
  CHECK(lines_of_failures(outcome.run).back() ==
        "the result may be wrong in 4 tasks of ranks at fault; the report names them");
}

TEST_CASE("costs of tasks are written one per line") {
  test::temporary_directory const directory;
  auto const path = directory.file("c.csv");
  write_costs(path, std::vector{1.5, 0.0, 2.5e-9});
  CHECK(test::read_file(path) == "1.500000000\n0.000000000\n0.000000003\n");
  CHECK(directory.entries() == 1);
}

TEST_CASE("the summary is one line") {
  auto outcome = some_outcome();
  CHECK(summary_line(outcome.run) ==
        "farm guided streamed: 512 tasks on 4 ranks x 1 thread in 1.93 s, 96 % busy");
  outcome.run.lost_ranks = {2, 3};
  outcome.run.tasks_handed_out_again = 1;
  CHECK(summary_line(outcome.run).ends_with("; lost: rank 2, 3, 1 task handed out again"));
  outcome.run.losses = {{.rank = 2, .noticed = skel::loss_notice::retired}};
  CHECK(summary_line(outcome.run).ends_with(" busy; retired: rank 2; lost: rank 3, 1 task handed out again"));
  outcome.run.losses.clear();
  outcome.run.checkpoint =
      skel::checkpoint_report{.restored_tasks = 1, .saved = 2, .blocked_seconds = 0.0193};
  CHECK(summary_line(outcome.run).ends_with("; 1 task restored, 2 checkpoints, 1 % of the time"));
  outcome.run.checkpoint->restore_seconds = 0.25;
  CHECK(summary_line(outcome.run).ends_with("; 1 task restored in 0.25 s, 2 checkpoints, 1 % of the time"));
  outcome.run.checkpoint->failed = 3;
  CHECK(summary_line(outcome.run).ends_with("2 checkpoints, 1 % of the time (3 failed)"));
  outcome.run.checkpoint = skel::checkpoint_report{.restored_tasks = 7};
  outcome.run.attempt = 3;
  outcome.run.losses = {
      {.rank = 0, .was_root = true}, {.rank = 2}, {.rank = 1, .attempt = 2, .was_root = true}};
  CHECK(summary_line(outcome.run)
            .ends_with("; attempt 3, after the loss of the root: rank 0, 1 of the job; 7 tasks restored"));
}
