#include "tools/run/table.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "catch.hpp"
#include "observe/support.hpp"

using namespace skel::commands;

namespace {

outcome const good{0, 0, false, 1764355555.25, 1.5, 0.25, 0.125, 4096, "node7", 3};

}  // namespace

TEST_CASE("a row of the table is a line of CSV") {
  CHECK(csv_row({{7, "./model --a 1"}, good}) ==
        "7,ok,0,,1764355555.250000,1.500000,0.250000,0.125000,4096,3,node7,./model --a 1\n");
  outcome killed = good;
  killed.signal = 9;
  CHECK(csv_row({{0, "a, \"b\"\nc"}, killed}) ==
        "0,failed,,9,1764355555.250000,1.500000,0.250000,0.125000,4096,3,node7,\"a, \"\"b\"\"\nc\"\n");
  auto const fields = [](std::string const& line) { return skel::detail::csv_fields(line)->size(); };
  CHECK(fields(csv_row({{1, "a"}, {}})) == fields(csv_header()));
  CHECK(csv_row({{1, "a"}, {}}) == "1,lost,,,,,,,,,,a\n");
  CHECK(csv_row({{1, "a"}, {}, false}) == "1,failed,,,,,,,,,,a\n");
}

TEST_CASE("a row of the table is a line of JSON") {
  outcome late = good;
  late.late = true;
  late.exit_code = 143;
  auto const j = nlohmann::json::parse(json_row({{7, "a\n\xff"}, late}));
  CHECK(j["number"] == 7);
  CHECK(j["status"] == "late");
  CHECK(j["exit_code"] == 143);
  CHECK(j["signal"].is_null());
  CHECK(j["seconds"] == 1.5);
  CHECK(j["peak_bytes"] == 4096);
  CHECK(j["host"] == "node7");
  CHECK(j["command"] == "a\n\xEF\xBF\xBD");
  CHECK(json_row({{7, "a\nb"}, good}).find('\n') == json_row({{7, "a\nb"}, good}).size() - 1);
  CHECK(nlohmann::json::parse(json_row({{1, "a"}, {}}))["rank"].is_null());
}

TEST_CASE("a table has its rows in the order of the commands, one for each") {
  test::temporary_directory const directory;
  auto const path = directory.file("t.csv");
  constexpr std::uint64_t count = 3000;
  table t(path, count);
  std::string expected = csv_header();
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const number = i * 7 % count;
    t.add({{number, "old"}, good});
    t.add({{number, std::string(i % 100, 'x')}, good});
  }
  for (std::uint64_t i = 0; i < count; ++i)  // 7 * 2143 = 1 modulo 3000
    expected += csv_row({{i, std::string(i * 2143 % count % 100, 'x')}, good});
  t.write();
  CHECK(test::read_file(path) == expected);
  t.write();  // again, with what has come since
  CHECK(test::read_file(path) == expected);
}

TEST_CASE("an empty table has a header, or nothing") {
  test::temporary_directory const directory;
  table(directory.file("t.csv"), 0).write();
  table(directory.file("t.jsonl"), 5).write();
  CHECK(test::read_file(directory.file("t.csv")) == csv_header());
  CHECK(test::read_file(directory.file("t.jsonl")).empty());
  CHECK_THROWS_AS(table(directory.file("missing/t.csv"), 1), skel::error);
}

TEST_CASE("the figures of a failed command are in the text of its failure") {
  outcome failed = good;
  failed.exit_code = 3;
  CHECK(failure_text(failed, "./a (b): c") ==
        "exit code 3 after 1.500000 s (0.250000 s user, 0.125000 s system, 4096 bytes, began "
        "1764355555.250000, rank 3 "
        "on node7): ./a (b): c");
  CHECK(outcome_of(failure_text(failed, "./a (b): c")) == failed);
  failed.exit_code = 0;
  failed.signal = 15;
  failed.late = true;
  CHECK(outcome_of(failure_text(failed, "")) == failed);
  CHECK(outcome_of("it has ended 2 ranks") == std::nullopt);
  CHECK(outcome_of("") == std::nullopt);
}
