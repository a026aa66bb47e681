// The options of a user's program: what is taken out of the command line, and what becomes of it.
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"
#include "skel/program.hpp"
#include "skel/run_threads.hpp"

namespace {

using skel::program::session;

// A command line of its own for each rank.
struct command_line {
  std::vector<std::string> words;
  std::vector<char*> argv;
  int argc;
  explicit command_line(std::vector<std::string> arguments) : words(std::move(arguments)) {
    words.insert(words.begin(), "own");
    for (auto& w : words) argv.push_back(w.data());
    argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
  }
  [[nodiscard]] std::string left() const {
    std::string text;
    for (int i = 1; i < argc; ++i)
      text += (i == 1 ? "" : " ") + std::string(argv[static_cast<std::size_t>(i)]);
    return text;
  }
};

std::string refused(std::vector<std::string> const& arguments) {
  return test::error_text<skel::usage_error>([&] {
    skel::run_threads(1, [&](skel::context& ctx) {
      command_line all(arguments);
      session const self(ctx, "own", all.argc, all.argv.data());
    });
  });
}

// A farm of ten tasks, of which `bad` throws.
int run(skel::context& ctx, command_line all, std::uint64_t bad = 10) {
  session self(ctx, "own", all.argc, all.argv.data());
  auto const task = [=](std::uint64_t i) {
    if (i == bad) throw std::runtime_error("bad task");
    return i;
  };
  auto const [report] = skel::farm(
      ctx, skel::indices(10), task, self.schedule(), [](skel::task_id, std::uint64_t) {}, self.farm());
  return self.finish({.run = report, .fields = {{"mine", 7}}, .problem = {{"n", "10"}}});
}

}  // namespace

TEST_CASE("a session takes its options and leaves the others") {
  skel::run_threads(2, [](skel::context& ctx) {
    command_line all({"--size", "7", "--schedule", "guided:min=2", "in.txt", "--threads=2", "--quiet",
                      "--on-error", "collect", "-v", "--", "--report", "x"});
    session const self(ctx, "own", all.argc, all.argv.data());
    if (!ctx.is_root()) return;
    CHECK(all.left() == "--size 7 in.txt -v -- --report x");
    CHECK(all.argv[static_cast<std::size_t>(all.argc)] == nullptr);
    CHECK(self.schedule().to_string() == "guided:min=2");
    CHECK(self.farm().on_error.collects);
    CHECK(self.options().files.report.empty());
    CHECK(ctx.threads() == 2);
  });
}

TEST_CASE("the session of a later attempt finds the options that the first one took") {
  skel::run_threads(1, [](skel::context& ctx) {
    command_line all({"--size", "7", "--schedule", "guided:min=2", "--quiet"});
    for (int const attempt : {1, 2, 3}) {
      skel::detail::context_access::engine_of(ctx).job.attempt = attempt;
      session const self(ctx, "own", all.argc, all.argv.data());
      CHECK(all.left() == "--size 7");
      CHECK(self.schedule().to_string() == "guided:min=2");
      CHECK(self.options().quiet);
    }
    command_line other({"--size", "8", "--threads", "2"});
    session const self(ctx, "own", other.argc, other.argv.data());
    CHECK(other.left() == "--size 8");
    CHECK(ctx.threads() == 2);
  });
}

TEST_CASE("the errors of a session name the option") {
  CHECK(refused({"--report"}) == "--report: expected FILE.json");
  CHECK(refused({"--threads", "0"}) == "--threads: expected 1 to 4096, found \"0\"");
  CHECK(refused({"--threads", "1e2"}) == "--threads: expected 1 to 4096, found \"1e2\"");
  CHECK(refused({"--watch", "1.5"}) == "--watch: expected 0 to 65535, found \"1.5\"");
  CHECK(refused({"--audit="}) == "--audit: expected 0 to 1, found \"\"");
  CHECK(refused({"--root", "sleeps"}) == "--root: unknown role \"sleeps\"; known: works, serves");
  CHECK(refused({"--report", "/nonexistent/r.json"}) == "/nonexistent/r.json: No such file or directory");
  CHECK(test::contains(skel::program::help_of_options(), "\n  --threads N             compute threads"));
}

TEST_CASE("ranks with other options are refused") {
  auto const text = test::error_text<skel::usage_error>([] {
    skel::run_threads(2, [](skel::context& ctx) {
      command_line all(
          {"--schedule", ctx.is_root() ? "guided" : "auto", "--threads", ctx.is_root() ? "1" : "2"});
      session const self(ctx, "own", all.argc, all.argv.data());
    });
  });
  CHECK(test::contains(text, "--schedule"));
}

TEST_CASE("a session writes the files that its options name") {
  test::temporary_directory const d;
  skel::run_threads(2, [&](skel::context& ctx) {
    auto const code = run(ctx, command_line({"--report", d.file("r.json"), "--samples", d.file("s.csv"),
                                             "--trace", d.file("t.json"), "--quiet"}));
    if (ctx.is_root()) CHECK(code == 0);
  });
  auto const report = nlohmann::json::parse(test::read_file(d.file("r.json")));
  CHECK(report["program"] == "own");
  CHECK(report["mine"] == 7);
  CHECK(report["tasks"] == 10);
  CHECK(test::read_file(d.file("s.csv")).ends_with(",n=10\n"));
  CHECK(nlohmann::json::parse(test::read_file(d.file("t.json")))["traceEvents"].size() > 2);
}

TEST_CASE("a session returns the exit code of a run that left tasks out") {
  skel::run_threads(1, [&](skel::context& ctx) {
    CHECK(run(ctx, command_line({"--on-error", "collect", "--quiet"}), 3) == skel::program::exit_incomplete);
  });
}
