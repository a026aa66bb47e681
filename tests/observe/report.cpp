#include <cmath>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "skel/observe/report_json.hpp"
#include "support.hpp"

using namespace skel::observe;

namespace {

skel::report some_report() {
  skel::report run;
  run.skeleton = "farm";
  run.schedule = "guided";
  run.results = "streamed";
  run.ranks = 2;
  run.threads_per_rank = 1;
  run.tasks = 512;
  run.seconds = 1.93;
  run.busy_share = 0.96;
  run.messages = 1201;
  run.bytes = 812331;
  skel::rank_report row;
  row.host = "oak";
  row.tasks = 130;
  row.busy_seconds = 1.88;
  row.peak_memory_bytes = 51380224;
  run.per_rank = {row, {}};
  run.per_rank[1].rank = 1;
  return run;
}

std::vector<std::string> keys(nlohmann::ordered_json const& object) {
  std::vector<std::string> names;
  for (auto const& [key, value] : object.items()) names.push_back(key);
  return names;
}

nlohmann::ordered_json written(skel::report const& run, report_extra const& extra) {
  return nlohmann::ordered_json::parse(report_to_json(run, extra));
}

}  // namespace

TEST_CASE("a report has the documented keys in the documented order") {
  auto run = some_report();
  run.steals = 17;
  run.lost_ranks = {3};
  auto const json = written(run, {"skel-raytrace", "0123456789abcdef", {{"rays", 5}}});
  CHECK(keys(json) == std::vector<std::string>{"skel", "schema", "program", "skeleton", "schedule", "results",
                                               "ranks", "threads_per_rank", "tasks", "seconds", "busy_share",
                                               "result_xxh3", "lost_ranks", "tasks_handed_out_again",
                                               "steals", "messages", "bytes", "rays", "per_rank"});
  CHECK(keys(json["per_rank"][0]) == std::vector<std::string>{"rank", "host", "tasks", "busy_seconds",
                                                              "idle_seconds", "communication_seconds",
                                                              "messages_sent", "bytes_sent",
                                                              "peak_memory_bytes"});
  CHECK(json["schema"] == 1);
  CHECK(json["seconds"] == 1.93);
  CHECK(json["lost_ranks"] == nlohmann::json{3});
  CHECK(json["steals"] == 17);
}

TEST_CASE("failed tasks are listed, if there are any") {
  auto run = some_report();
  CHECK_FALSE(written(run, {"skel-x", {}, {}}).contains("failed_tasks"));
  run.failed_tasks = {{.task = 7, .rank = 1, .times = 3, .text = "no \"luck\""}};
  CHECK(written(run, {"skel-x", {}, {}})["failed_tasks"].dump() ==
        R"([{"task":7,"rank":1,"times":3,"text":"no \"luck\""}])");
}

TEST_CASE("attempts and losses are listed, if there are any") {
  auto run = some_report();
  CHECK_FALSE(written(run, {"skel-x", {}, {}}).contains("attempt"));
  CHECK_FALSE(written(run, {"skel-x", {}, {}}).contains("losses"));
  run.attempt = 2;
  run.losses = {{.rank = 0, .was_root = true, .noticed = skel::loss_notice::ended, .silent_seconds = 0.25},
                {.rank = 3, .attempt = 2, .noticed = skel::loss_notice::agreed}};
  auto const json = written(run, {"skel-x", {}, {}});
  CHECK(json["attempt"] == 2);
  CHECK(json["losses"].dump() ==
        R"([{"rank":0,"attempt":1,"was_root":true,"noticed":"ended","silent_seconds":0.25},)"
        R"({"rank":3,"attempt":2,"noticed":"agreed"}])");
}

TEST_CASE("audits are reported, if there are any") {
  auto run = some_report();
  CHECK_FALSE(written(run, {"skel-x", {}, {}}).contains("audit"));
  run.audit = skel::audit_report{.checked = 12, .unchecked = 1, .at_fault = {}};
  CHECK(written(run, {"skel-x", {}, {}})["audit"].dump() == R"({"checked":12,"unchecked":1})");
  run.audit->at_fault = {{.rank = 2, .task = 17, .computed_again = 80, .in_sink = {{3, 5}}}};
  CHECK(written(run, {"skel-x", {}, {}})["audit"]["at_fault"].dump() ==
        R"([{"rank":2,"task":17,"computed_again":80,"in_sink":[[3,5]]}])");
}

TEST_CASE("teams are listed, if there are any") {
  auto run = some_report();
  CHECK_FALSE(written(run, {"skel-x", {}, {}}).contains("teams"));
  run.teams = {{.ranks = {0, 2}, .tasks = 5}, {.ranks = {1}, .tasks = 9}};
  CHECK(written(run, {"skel-x", {}, {}})["teams"].dump() ==
        R"([{"ranks":[0,2],"tasks":5},{"ranks":[1],"tasks":9}])");
}

TEST_CASE("values that were not measured are absent, never 0") {
  auto run = some_report();
  run.busy_share = std::nan("");
  auto const json = written(run, {"skel-raytrace", {}, {{"share", std::nan("")}}});
  for (auto const* const key : {"result_xxh3", "steals", "stopped_early", "busy_share", "share"}) {
    CHECK_FALSE(json.contains(key));
  }
  CHECK_FALSE(json["per_rank"][1].contains("peak_memory_bytes"));
  CHECK_FALSE(json["per_rank"][1].contains("host"));
  CHECK(json["lost_ranks"].empty());  // known: none
}

TEST_CASE("programs add numbers, texts, lists and objects") {
  auto const json = written(some_report(), {"skel-x",
                                            {},
                                            {{"n", std::uint64_t{18446744073709551615U}},
                                             {"size", report_object{{"width", 3}, {"unit", "px"}}},
                                             {"iso", report_value::list{1.5, 2.5}},
                                             {"ok", true},
                                             {"text", "\xff"}}});
  CHECK(json["n"] == 18446744073709551615U);
  CHECK(json["size"]["width"] == 3);
  CHECK(json["iso"] == nlohmann::json{1.5, 2.5});
  CHECK(json["ok"] == true);
  CHECK(written(some_report(), {"x", {}, {{"a", 1U}, {"b", -2LL}, {"c", std::uint8_t{3}}}})["c"] == 3);
}

TEST_CASE("an extra field cannot hide a documented one") {
  for (auto const* const key : {"tasks", "per_rank"}) {
    CHECK(test::error_text<std::logic_error>([&] {
            report_to_json(some_report(), {"x", {}, {{key, 1}}});
          }) == std::string("report: the key ") + key + " already exists");
  }
}

TEST_CASE("phases are written where there are some") {
  auto run = some_report();
  run.phases = {{"divide", 1, 0.25, 4096, {{"M", 65536}, {"bad", NAN}}}, {"sequential", 2, 1, 0, {}}};
  auto const json = written(run, {});
  REQUIRE(json["phases"].size() == 2);
  CHECK(json["phases"][0].dump() ==
        R"({"phase":"divide","level":1,"seconds":0.25,"bytes":4096,"sizes":{"M":65536.0}})");
  CHECK_FALSE(json["phases"][1].contains("sizes"));
  CHECK_FALSE(written(some_report(), {}).contains("phases"));
}

TEST_CASE("a report contains the cost of checkpoints, if there were any") {
  skel::report run;
  CHECK_FALSE(written(run, {}).contains("checkpoint"));
  run.checkpoint = skel::checkpoint_report{.restored_tasks = 31,
                                           .restored_generation = 4,
                                           .restore_seconds = 0.5,
                                           .saved = 2,
                                           .bytes = 100,
                                           .blocked_seconds = 0.25};
  auto const c = written(run, {})["checkpoint"];
  CHECK(c["restored_tasks"] == 31);
  CHECK(c["restored_generation"] == 4);
  CHECK(c["restore_seconds"] == 0.5);
  CHECK(c["saved"] == 2);
  CHECK(c["failed"] == 0);
  CHECK(c["blocked_seconds"] == 0.25);
  skel::observe::report_extra taken;  // a program's field cannot have the name of ours
  taken.fields = {{"checkpoint", 1}};
  CHECK_THROWS(written(run, taken));
}

TEST_CASE("a multi_host report describes its groups") {
  auto run = some_report();
  CHECK_FALSE(written(run, {}).contains("groups"));
  run.groups = skel::group_report{.sizes = {8, 7}, .size_found = true, .reassigned = 3, .read_seconds = 1.22};
  auto const groups = written(run, {})["groups"];
  CHECK(keys(groups) == std::vector<std::string>{"sizes", "size_found", "reassigned", "split", "taken_over",
                                                 "units_read", "read_seconds", "compute_seconds",
                                                 "send_seconds", "sink_seconds", "host_idle_seconds",
                                                 "worker_idle_seconds", "worker_idle_spread_seconds"});
  CHECK(groups["sizes"] == std::vector<int>{8, 7});
  CHECK(groups["read_seconds"] == 1.22);
}
