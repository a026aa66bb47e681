#include "skel/observe/samples.hpp"

#include "catch.hpp"
#include "model_support.hpp"
#include "skel/error.hpp"
#include "skel/model/sample.hpp"

using namespace skel::model;
using test::error_text;

namespace {

std::string const header = std::string(skel::observe::samples_header) + "\n";
std::string const header_1 =
    "schema,program,skeleton,schedule,results,ranks,threads_per_rank,tasks,seconds,busy_seconds,idle_seconds,"
    "communication_seconds,messages,bytes,problem\n";

std::string samples_error(std::string const& text) {
  return error_text<skel::usage_error>([&] { (void)parse_samples(text, "s.csv"); });
}

}  // namespace

TEST_CASE("written samples are read again") {
  skel::report run;
  run.skeleton = "divide_and_conquer";
  run.schedule = "hybrid:cut=80%,threshold=1";
  run.ranks = 4;
  run.threads_per_rank = 1;
  run.seconds = 1.5;
  run.phases = {{"divide", 1, 0.25, 4096, {{"M", 65536}, {"odd;name", 2}}}};
  auto const text = header + skel::observe::sample_lines("skel-x", run, {{"N", "7"}, {"graph", "a \"b\",c"}});
  auto const all = parse_samples(text, "s.csv");
  REQUIRE(all.size() == 2);
  CHECK(all[0].phase == "run");
  CHECK(all[0].schedule == run.schedule);
  CHECK(all[0].labels.at("graph") == "a \"b\",c");
  CHECK(all[0].line == 2);
  CHECK(all[1].phase == "divide");
  CHECK(all[1].level == 1);
  CHECK(all[1].variables == point{{"M", 65536}, {"N", 7}, {"P", 4}, {"odd;name", 2}, {"threads", 1}});
  CHECK(all[1].measured == point{{"bytes", 4096}, {"seconds", 0.25}});
}

TEST_CASE("files of schema 1 are read") {
  auto const all =
      parse_samples(header_1 + "1,p,farm,guided,streamed,2,1,300,1.5,70,0,0,1,1,width=512\r\n", "s.csv");
  REQUIRE(all.size() == 1);
  CHECK(all[0].phase == "run");
  CHECK(all[0].variables.at("tasks") == 300);
  CHECK(all[0].variables.at("width") == 512);
  CHECK(all[0].measured.at("busy_seconds") == 70);
}

TEST_CASE("bad samples give one line with file and line number") {
  std::string const good = "2,p,s,,,2,1,divide,0,,0.5,,,,,,M=1\n";
  CHECK(samples_error(header + "2,p,s,,,2,1,divide,0,,0.5,,,,,,P=3\n")
            .ends_with(":2: problem has \"P\" twice, or it is a column"));
  CHECK(samples_error(header + "2,p,s,,,2,1,divide,0,,0.5,,,,,,N=1;N=2\n")
            .ends_with(":2: problem has \"N\" twice, or it is a column"));
  CHECK(parse_samples(header + good, "s.csv").size() == 1);
  CHECK(samples_error("") == "s.csv:1: file is empty, expected samples");
  CHECK(samples_error("a,b\n").starts_with(
      "s.csv:1: found the first line \"a,b\", expected that of a samples file"));
  CHECK(samples_error(header + "2,p\n") == "s.csv:2: 2 fields, expected 17");
  CHECK(samples_error(header + good.substr(0, 12)) == "s.csv:2: 8 fields, expected 17");
  auto const with = [&](std::string const& seconds) {
    return samples_error(header + good + "2,p,s,,,2,1,divide,0,," + seconds + ",,,,,,M=1\n");
  };
  CHECK(with("nan") == "s.csv:3: seconds is \"nan\", expected a number from 0 to 1e30");
  CHECK(with("inf") == "s.csv:3: seconds is \"inf\", expected a number from 0 to 1e30");
  CHECK(with("-1") == "s.csv:3: seconds is \"-1\", expected a number from 0 to 1e30");
  CHECK(with("1e999") == "s.csv:3: seconds is \"1e999\", expected a number from 0 to 1e30");
  CHECK(with("1e31") == "s.csv:3: seconds is \"1e31\", expected a number from 0 to 1e30");
  CHECK(with("") == "s.csv:3: seconds is empty, expected a number");
  CHECK(with("\"1") == "s.csv:3: unterminated quote");
  CHECK(samples_error(header + "1" + good.substr(1)) == "s.csv:2: schema is \"1\", expected 2");
  CHECK(samples_error(header + "2,p,s,,,2,1,divide,0,,1,,,,,,M\n") ==
        "s.csv:2: problem has \"M\", expected key=value");
  CHECK(samples_error(header + std::string("2,\0", 3)) == "s.csv:2: found a zero byte, expected text");
  CHECK(samples_error(header + "2,\x1b[31m\n").find('\x1b') == std::string::npos);
  CHECK(error_text<skel::usage_error>([] { (void)read_samples("/nonexistent/s.csv"); }) ==
        "/nonexistent/s.csv: No such file or directory");
  CHECK(error_text<skel::usage_error>([] { (void)read_samples("/"); }) == "/: Is a directory");
}

TEST_CASE("any bytes give samples or an error of one line") {
  test::dice dice(7);
  auto const whole =
      header + "2,p,s,\"a,b\",,2,1,divide,0,,0.5,,,,,3,M=1;N=%41\n2,p,s,,,2,1,run,,9,1,,,,,,M=1\n";
  for (int i = 0; i < 3000; ++i) {
    auto text = whole.substr(0, header.size() + dice.below(whole.size() - header.size() + 1));
    for (std::uint64_t n = dice.below(4); n > 0; --n)
      text[header.size() - 1 + dice.below(text.size() - header.size() + 1)] =
          static_cast<char>(dice.below(256));
    try {
      (void)parse_samples(text, "s.csv");
    } catch (skel::usage_error const& e) {
      std::string const what = e.what();
      CHECK(what.starts_with("s.csv:"));
      CHECK(what.find('\n') == std::string::npos);
    }
  }
}
