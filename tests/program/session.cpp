// The options of a user's program: what is taken out of the command line, and what becomes of it.
#include <unistd.h>

#include <atomic>
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
#include "standard_error.hpp"

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

TEST_CASE("a function is a body") {
  static std::atomic<int> ranks = 0;
  struct of {
    static void body(skel::context& ctx) { ranks += ctx.size(); }
  };
  skel::run_threads(2, of::body);
  CHECK(ranks == 4);
}

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

TEST_CASE("a program without arguments of its own refuses what is left, and has --help") {
  static std::atomic<int> helped = 0;
  auto const answer = [](std::vector<std::string> const& arguments) {
    return test::error_text<skel::usage_error>([&] {
      skel::run_threads(2, [&](skel::context& ctx) {
        command_line all(arguments);
        session const self(ctx, "own", all.argc, all.argv.data());
        if (self.answers_help("usage: own")) ++helped;
      });
    });
  };
  CHECK(answer({"--scheduel", "guided"}) ==
        "unexpected argument \"--scheduel\"; did you mean --schedule? --help lists the options");
  CHECK(answer({"--shedule=guided"}) ==
        "unexpected argument \"--shedule=guided\"; did you mean --schedule? --help lists the options");
  CHECK(answer({"--quiet", "extra"}) == "unexpected argument \"extra\"; --help lists the options");
  CHECK(answer({"--", "--help"}) == "unexpected argument \"--\"; --help lists the options");
  CHECK(helped == 0);
  skel::run_threads(1, [](skel::context& ctx) {
    command_line all({"--threads", "1"});
    session const self(ctx, "own", all.argc, all.argv.data());
    CHECK_FALSE(self.answers_help("usage: own"));
  });
  auto const help = [] {
    skel::run_threads(2, [](skel::context& ctx) {
      command_line all({"--help"});
      session const self(ctx, "own", all.argc, all.argv.data());
      if (self.answers_help("usage: own")) ++helped;
    });
  };
  CHECK(test::printed_by(help, STDOUT_FILENO) == "usage: own\n\n" + skel::program::help_of_options());
  CHECK(helped == 2);
}

TEST_CASE("the options of checkpoints reach the farm, with the rest of the command line as its problem") {
  using mode = skel::checkpoint_options::resume_mode;
  skel::run_threads(1, [](skel::context& ctx) {
    auto const farm = [&](std::vector<std::string> const& arguments, std::string const& left) {
      command_line all(arguments);
      session const self(ctx, "own", all.argc, all.argv.data());
      CHECK(all.left() == left);
      return self.farm().checkpoint;
    };
    CHECK_FALSE(farm({"7"}, "7"));
    CHECK_FALSE(farm({"--checkpoint", "none", "--store", "a"}, ""));
    auto const c = farm({"--size", "7", "--checkpoint", "ida:2,1", "--store=a,b", "--remote", "c",
                         "--remote-every", "3", "--every", "90s", "--mtbf=2h", "--resume", "auto", "in.txt"},
                        "--size 7 in.txt")
                       .value();
    CHECK(c.code == "ida:2,1");
    CHECK(c.store == std::vector<std::string>{"a", "b"});
    CHECK(c.remote.store == std::vector<std::string>{"c"});
    CHECK(c.remote.every == 3);
    CHECK(c.every_seconds == 90.0);
    CHECK(c.mean_seconds_between_failures == 7200);
    CHECK(c.resume == mode::if_there);
    CHECK(c.program.name == "own");
    CHECK(c.problem == "own\n--size\n7\nin.txt\n");
    CHECK(farm({"--checkpoint=central", "--store", "a", "--resume", "in.txt"}, "in.txt")->resume ==
          mode::yes);
    CHECK(farm({"--checkpoint=central", "--store", "a", "--resume=auto"}, "")->resume == mode::if_there);
  });
  CHECK(refused({"--checkpoint", "central"}) == "--checkpoint requires --store");
  CHECK(refused({"--checkpoint", "none"}) == "(nothing thrown)");
  CHECK(refused({"--store", "a"}) == "--store requires --checkpoint");
  CHECK(refused({"--resume"}) == "--resume requires --checkpoint");
  CHECK(refused({"--checkpoint", "central", "--store", "a", "--resume=later"}) ==
        "--resume: expected auto or nothing, found \"later\"");
  CHECK(test::contains(refused({"--checkpoint", "raid:5", "--store", "a"}), "--checkpoint: "));
}

TEST_CASE("a program of one's own resumes with its options") {
  test::temporary_directory const d;
  std::atomic<int> runs = 0;
  auto const store = d.file("");
  auto const sum = [&](std::vector<std::string> words) {
    std::uint64_t total = 0;
    for (auto const* word :
         {"--checkpoint", "central", "--store", store.c_str(), "--every", "1ms", "--quiet"})
      words.emplace_back(word);
    skel::run_threads(2, [&](skel::context& ctx) {
      command_line all(words);
      session self(ctx, "own", all.argc, all.argv.data());
      auto const [report] = skel::farm(
          ctx, skel::indices(50),
          [&](std::uint64_t i) {
            ++runs;
            return i;
          },
          self.schedule(), [&](skel::task_id, std::uint64_t i) { total += i; }, self.farm());
      static_cast<void>(self.finish({.run = report}));
    });
    return total;
  };
  CHECK(sum({"7"}) == 1225);
  auto const first = runs.load();
  CHECK(sum({"7", "--resume"}) == 1225);
  CHECK(runs == first);
  CHECK(test::contains(test::error_text<skel::usage_error>([&] { sum({"8", "--resume"}); }), "problem"));
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
