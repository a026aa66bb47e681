#include "program/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <tuple>

#include "base/text.hpp"
#include "catch.hpp"
#include "observe/support.hpp"
#include "program/command_line.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"

using skel::observe::progress_mode;
using skel::program::common_options;

namespace {

// CLI11 takes the arguments in reverse order.
common_options parsed(std::vector<std::string> arguments) {
  common_options options;
  CLI::App app("test", "skel-x");
  skel::program::add_common_options(app, options);
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  return options;
}

std::string complaint(std::vector<std::string> const& arguments) {
  return test::error_text<CLI::ParseError>([&] { parsed(arguments); });
}

class environment {
 public:
  environment(char const* name, char const* value) : name_(name) { ::setenv(name, value, 1); }
  ~environment() { ::unsetenv(name_); }
  environment(environment const&) = delete;
  environment& operator=(environment const&) = delete;

 private:
  char const* name_;
};

}  // namespace

TEST_CASE("without arguments the common options have their defaults") {
  auto const options = parsed({});
  CHECK(options.schedule().to_string() == skel::any_schedule().to_string());
  CHECK(options.results() == skel::results::streamed());
  CHECK(options.of_farm.root_works);
  CHECK_FALSE(options.threads);
  CHECK_FALSE(options.time_limit);
  CHECK(options.on_error() == skel::error_policy());
  CHECK_FALSE(options.farm().task.time_limit_seconds);
  CHECK_FALSE(options.verify);
  CHECK_FALSE(options.quiet);
  CHECK(options.progress() == progress_mode::automatic);
  CHECK((options.output + options.files.report + options.files.trace + options.files.samples).empty());
}

TEST_CASE("every common option is parsed") {
  auto const options = parsed({"--schedule",
                               "first-come:chunk=4",
                               "--results=concentrated",
                               "--root",
                               "serves",
                               "--threads",
                               "3",
                               "--time-limit",
                               "1.5m",
                               "--on-error",
                               "collect:times=2",
                               "--task-time-limit",
                               "500ms",
                               "--audit",
                               "0.01",
                               "--report",
                               "r.json",
                               "--trace",
                               "t.json",
                               "--samples",
                               "s.csv",
                               "--progress",
                               "always",
                               "--verify",
                               "--quiet",
                               "-o",
                               "x.png"});
  CHECK(options.schedule().to_string() == "first-come:chunk=4");
  CHECK(options.results() == skel::results::concentrated());
  CHECK_FALSE(options.of_farm.root_works);
  CHECK(options.threads == 3);
  CHECK(options.time_limit->count() == 90);
  CHECK(options.on_error() == skel::error_policy(skel::on_error::collect{.times = 2}));
  auto const farm = options.farm();
  CHECK(farm.results == options.results());
  CHECK(!farm.root_works);
  CHECK(farm.on_error == options.on_error());
  CHECK(farm.task.time_limit_seconds == 0.5);
  CHECK(farm.audit == 0.01);
  CHECK(options.files.report == "r.json");
  CHECK(options.files.trace == "t.json");
  CHECK(options.files.samples == "s.csv");
  CHECK(options.progress() == progress_mode::always);
  CHECK(options.verify);
  CHECK(options.quiet);
  CHECK(options.output == "x.png");
  CHECK(parsed({"--output=y.ppm"}).output == "y.ppm");
}

TEST_CASE("--quiet silences the automatic progress only") {
  CHECK(parsed({"--quiet"}).progress() == progress_mode::never);
  CHECK(parsed({"--quiet", "--progress", "always"}).progress() == progress_mode::always);
}

namespace {

common_options with_checkpoints(std::vector<std::string> arguments) {
  common_options options;
  CLI::App app("test", "skel-x");
  skel::program::add_checkpoint_options(app, options);
  app.add_option("FILE", options.output);
  std::vector<char*> words = {nullptr};
  for (auto& a : arguments) words.push_back(a.data());
  skel::program::parse(app, static_cast<int>(words.size()), words.data());
  return options;
}

}  // namespace

TEST_CASE("checkpoint options give a code, directories and an interval") {
  auto const all = with_checkpoints({"--checkpoint", "ida:6,2", "--store", "a,b,c", "--remote", "far,farther",
                                     "--remote-every", "3", "--every", "90s", "--mtbf", "2h", "--resume"});
  auto const c = all.checkpoint("skel-x", "a problem");
  REQUIRE(c);
  CHECK(c->code == "ida:6,2");
  CHECK(c->store == std::vector<std::string>{"a", "b", "c"});
  CHECK(c->remote.store == std::vector<std::string>{"far", "farther"});
  CHECK(c->remote.every == 3);
  CHECK(c->every_seconds == 90);
  CHECK(c->mean_seconds_between_failures == 7200);
  CHECK(c->resume == skel::checkpoint_options::resume_mode::yes);
  CHECK(c->program.name == "skel-x");
  CHECK(c->problem == "a problem");
  auto const some = with_checkpoints({"--checkpoint=central", "--store", "a"}).checkpoint("skel-x", "");
  REQUIRE(some);
  CHECK(some->code == "central");
  CHECK(some->remote.every == 5);    // if any directory is remote, or a host of another cluster
  CHECK_FALSE(some->every_seconds);  // auto
  CHECK(some->mean_seconds_between_failures == 86400);
  CHECK(some->resume == skel::checkpoint_options::resume_mode::no);
  CHECK(some->resume_object.empty());
  CHECK(with_checkpoints({"--checkpoint=central", "--store", "a", "--resume", "--resume-object", "3f0a"})
            .checkpoint("skel-x", "")
            ->resume_object == "3f0a");
  auto const resuming = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--checkpoint=central", "--store", "a"});
    auto const o = with_checkpoints(more);
    auto const given = o.checkpoint("skel-x", "");
    return std::tuple(given->resume, o.output);
  };
  CHECK(resuming({"--resume", "file"}) == std::tuple(skel::checkpoint_options::resume_mode::yes, "file"));
  CHECK(resuming({"--resume", "auto"}) == std::tuple(skel::checkpoint_options::resume_mode::if_there, ""));
  CHECK(resuming({"--resume=auto", "auto"}) ==
        std::tuple(skel::checkpoint_options::resume_mode::if_there, "auto"));
  CHECK(resuming({"--resume", "file", "--resume", "auto"}) ==
        std::tuple(skel::checkpoint_options::resume_mode::if_there, "file"));
  CHECK_FALSE(with_checkpoints({"--checkpoint", "none", "--store", "a"}).checkpoint("skel-x", ""));
  CHECK_FALSE(with_checkpoints({}).checkpoint("skel-x", ""));
}

TEST_CASE("incomplete checkpoint options and invalid codes are refused") {
  auto const refusal = [](std::vector<std::string> const& arguments) {
    return test::error_text<skel::usage_error>([&] { with_checkpoints(arguments); });
  };
  CHECK(refusal({"--checkpoint", "ida:6,2"}) == "--checkpoint requires --store");
  CHECK_FALSE(with_checkpoints({"--checkpoint", "none"}).saves());
  CHECK_FALSE(with_checkpoints({"--checkpoint", "none", "--every", "9s", "--resume"}).saves());
  CHECK(refusal({"--store", "a"}) == "--store requires --checkpoint");
  CHECK(refusal({"--resume"}) == "--resume requires --checkpoint");
  CHECK(refusal({"--checkpoint", "ida:2,1", "--store", "a", "--resume-object", "3f"}) ==
        "--resume-object requires --resume");
  CHECK(test::contains(refusal({"--checkpoint", "central", "--store", "a", "--resume=later"}),
                       "--resume: expected auto or nothing, found \"later\""));
  CHECK(test::contains(refusal({"--checkpoint", "raid:5", "--store", "a"}), "--checkpoint: "));
  CHECK(test::contains(refusal({"--checkpoint", "ida:200,100", "--store", "a"}), "256"));
  CHECK(test::contains(refusal({"--checkpoint", "ida:2,1", "--store", "a", "--every", "soon"}),
                       "is not a duration"));
}

TEST_CASE("unknown names are errors that list the known ones") {
  CHECK(complaint({"--schedule", "foo"})
            .starts_with("--schedule: unknown schedule \"foo\"; known: auto, blocks, interleaved, "));
  CHECK(complaint({"--schedule", "guided:max=3"}) ==
        "--schedule: \"guided:max=3\": unknown option \"max=3\"; known: min=N");
  CHECK(complaint({"--results", "late"}) ==
        "--results: unknown results policy \"late\"; known: streamed[:batch=N], concentrated");
  CHECK(complaint({"--on-error", "ignore"})
            .starts_with("--on-error: unknown choice \"ignore\"; known: stop, retry[:times=N,"));
  CHECK(complaint({"--task-time-limit", "0"}).starts_with("--task-time-limit: \"0\" is not a duration"));
  CHECK(complaint({"--root", "sleeps"}) == "--root: unknown role \"sleeps\"; known: works, serves");
  CHECK(complaint({"--progress", "maybe"}) ==
        "--progress: unknown progress mode \"maybe\"; known: auto, always, never");
}

TEST_CASE("bad numbers are refused with the option's name") {
  for (auto const* const bad : {"0", "-1", "4x", "five", "99999999999999999999", ""}) {
    CAPTURE(bad);
    CHECK(test::contains(complaint({"--threads", bad}), "--threads"));
  }
  CHECK(complaint({"--time-limit", "soon"}) ==
        "--time-limit: \"soon\" is not a duration; expected for example 90, 90s, 500ms, 20us, 1.5m or 2h");
  CHECK(test::contains(complaint({"--colour"}), "--colour"));
  CHECK(test::contains(complaint({"--report"}), "--report"));
}

TEST_CASE("the progress mode may come from the environment; the command line wins") {
  environment const progress("SKEL_PROGRESS", "never");
  CHECK(parsed({}).progress() == progress_mode::never);
  CHECK(parsed({"--progress", "always"}).progress() == progress_mode::always);
  environment const typo("SKEL_PROGRESS", "nevr");
  CHECK(test::contains(complaint({}), "unknown progress mode \"nevr\""));
}

TEST_CASE("vectors with a minus sign can be given to an option") {  // skel-raytrace --from -1,2,3
  std::vector<double> from;
  CLI::App app("test", "skel-x");
  app.add_option("--from", from)->delimiter(',')->expected(3);
  std::vector<std::string> arguments = {"-1,-2.5,3", "--from"};
  app.parse(arguments);
  CHECK(from == std::vector<double>{-1, -2.5, 3});
}

TEST_CASE("durations have a unit, by default seconds") {
  using skel::detail::parse_duration;
  CHECK(parse_duration("90").count() == 90);
  CHECK(parse_duration("90s").count() == 90);
  CHECK(parse_duration("500ms").count() == 0.5);
  CHECK(parse_duration("1.5m").count() == 90);
  CHECK(parse_duration("2h").count() == 7200);
  for (auto const* const bad : {"", "s", "0", "-1s", "1d", "1 s", "nan", "inf", "1e400", "1s2"}) {
    CAPTURE(bad);
    CHECK(test::error_text<skel::usage_error>([&] { parse_duration(bad); }) ==
          std::string("\"") + bad +
              "\" is not a duration; expected for example 90, 90s, 500ms, 20us, 1.5m or 2h");
  }
}
