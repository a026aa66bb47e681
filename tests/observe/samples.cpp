#include "skel/observe/samples.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "catch.hpp"
#include "skel/error.hpp"
#include "support.hpp"

using namespace skel::observe;
using test::error_text;

namespace {

skel::report measured_report() {
  skel::report run;
  run.skeleton = "farm";
  run.schedule = "hybrid:cut=80%,threshold=1";
  run.results = "streamed";
  run.ranks = 2;
  run.threads_per_rank = 1;
  run.tasks = 512;
  run.seconds = 1.5;
  run.messages = 10;
  run.bytes = 1000;
  run.per_rank.resize(2);
  run.per_rank[0].busy_seconds = 1;
  run.per_rank[1].busy_seconds = 0.25;
  return run;
}

auto const header = std::string(samples_header) + "\n";

std::vector<std::string> lines(std::string const& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("a sample is one line with quoted fields") {
  CHECK(sample_lines("skel-x", measured_report(), {{"width", "512"}, {"scene", "balls:4"}}) ==
        "2,skel-x,farm,\"hybrid:cut=80%,threshold=1\",streamed,2,1,run,,512,1.5,1.25,0,0,10,1000,"
        "width=512;scene=balls:4\n");
  CHECK(
      sample_lines("x", {}, {{"name", "a;b=c%,\"d\"\n"}}).ends_with(",\"name=a%3Bb%3Dc%25,\"\"d\"\"%0A\"\n"));
}

TEST_CASE("each phase of a run has a line of its own") {
  auto run = measured_report();
  run.phases = {{"divide", 0, 0.25, 4096, {{"M", 65536}, {"odd name;", 1.5}}}, {"combine", 1, 1e-7, 0, {}}};
  auto const all = lines(sample_lines("skel-x", run, {{"N", "9"}, {"M", "7"}}));
  REQUIRE(all.size() == 3);
  auto const common = std::string("2,skel-x,farm,\"hybrid:cut=80%,threshold=1\",streamed,2,1,");
  CHECK(all[0] == common + "run,,512,1.5,1.25,0,0,10,1000,N=9;M=7");
  CHECK(all[1] == common + "divide,0,,0.25,,,,,4096,M=65536;odd name%3B=1.5;N=9");
  CHECK(all[2] == common + "combine,1,,1e-07,,,,,0,N=9;M=7");
}

TEST_CASE("samples are appended under one header") {
  test::temporary_directory const directory;
  auto const path = directory.file("s.csv");
  append_sample(path, "skel-x", measured_report());
  append_sample(path, "skel-x", measured_report());
  auto const line = sample_lines("skel-x", measured_report(), {});
  CHECK(test::read_file(path) == header + line + line);
}

TEST_CASE("an editor that ate the last line end does not spoil two lines") {
  test::temporary_directory const directory;
  auto const path = directory.file("s.csv");
  auto const line = sample_lines("x", measured_report(), {});
  test::write_file(path, header + line.substr(0, line.size() - 1));
  append_sample(path, "x", measured_report());
  CHECK(test::read_file(path) == header + line + line);
}

TEST_CASE("other files are refused and left alone") {
  test::temporary_directory const directory;
  auto const path = directory.file("s.csv");
  auto const refused = [&](std::string const& content) {
    test::write_file(path, content);
    auto text = error_text<skel::error>([&] { append_sample(path, "x", measured_report()); });
    CHECK(error_text<skel::error>([&] { check_samples_file(path); }) == text);
    CHECK(test::read_file(path) == content);
    return text;
  };
  auto const other =
      path +
      ":1: not a samples file of schema 2 (its first line should be schema,program,skeleton,schedule,"
      "results,ranks,threads_per_rank,phase,level,tasks,...); nothing was appended";
  CHECK(refused("a,b,c\n1,2,3\n") == other);
  CHECK(refused("\n") == other);
  CHECK(refused(std::string("\0\xff\x7f", 3)) == other);
  CHECK(refused(std::string(samples_header) + ",more\n") == other);
  CHECK(refused(header.substr(0, 20)) == other);
  CHECK(refused("schema,program,skeleton,schedule,results,ranks,threads_per_rank,tasks,seconds,busy_seconds,"
                "idle_seconds,communication_seconds,messages,bytes,problem\n") ==
        path +
            ":1: samples of schema 1, this version writes schema 2 (skel-model reads both); give another "
            "file; nothing was appended");
  CHECK(refused(header + "3,skel-x\n") == path + ":2: expected samples of schema 2; nothing was appended");
}

TEST_CASE("a samples file that cannot be written names the reason") {
  test::temporary_directory const directory;
  CHECK(error_text<skel::error>([] { append_sample("/nonexistent/s.csv", "x", {}); }) ==
        "/nonexistent/s.csv: No such file or directory");
  CHECK(error_text<skel::error>([] { check_samples_file("/nonexistent/s.csv"); }) ==
        "/nonexistent/s.csv: No such file or directory");
  CHECK(error_text<skel::error>([&] { append_sample(directory.file(""), "x", {}); }) ==
        directory.file("") + ": Is a directory");
  CHECK(error_text<skel::error>([] { append_sample("/dev/full", "x", {}); }) ==
        "/dev/full: No space left on device");
  check_samples_file(directory.file("new.csv"));
  CHECK(directory.entries() == 0);
}

TEST_CASE("processes that append at once lose and mix nothing") {
  test::temporary_directory const directory;
  auto const path = directory.file("s.csv");
  constexpr int processes = 4;
  constexpr int each = 100;
  for (int p = 0; p < processes; ++p) {
    if (::fork() == 0) {
      for (int i = 0; i < each; ++i) {
        append_sample(path, "x", measured_report(),
                      {{"id", std::to_string(p * each + i)}, {"pad", std::string(500, 'x')}});
      }
      ::_exit(0);
    }
  }
  for (int p = 0; p < processes; ++p) {
    int status = 0;
    ::wait(&status);
    CHECK(status == 0);
  }
  auto const all = lines(test::read_file(path));
  REQUIRE(all.size() == 1 + processes * each);
  CHECK(all[0] == samples_header);
  CHECK(std::ranges::count(all, samples_header) == 1);
  CHECK(std::set(all.begin(), all.end()).size() == all.size());
  for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i].size() > 560);
}
