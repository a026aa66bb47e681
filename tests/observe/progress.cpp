#include "skel/observe/progress.hpp"

#include <algorithm>

#include "catch.hpp"
#include "skel/error.hpp"
#include "standard_error.hpp"
#include "support.hpp"

using namespace skel::observe;

namespace {

progress_state at(std::uint64_t done, std::uint64_t total, double seconds) {
  progress_state state;
  state.done = done;
  state.total = total;
  state.seconds = seconds;
  return state;
}

}  // namespace

TEST_CASE("progress modes are parsed, others are listed") {
  CHECK(parse_progress_mode("auto") == progress_mode::automatic);
  CHECK(parse_progress_mode("always") == progress_mode::always);
  CHECK(parse_progress_mode("never") == progress_mode::never);
  CHECK(test::error_text<skel::usage_error>([] { parse_progress_mode("sometimes"); }) ==
        "unknown progress mode \"sometimes\"; known: auto, always, never");
}

TEST_CASE("a progress line shows amount, speed and time left") {
  CHECK(progress_line("rows", at(256, 512, 2), 80) ==
        "rows  [################................]   50 %  256/512 tasks  128/s  0:02 left");
  CHECK(progress_line("rows", at(512, 512, 61), 80).ends_with("100 %  512/512 tasks  8.4/s  in 1:01"));
  CHECK(progress_line("rows", at(0, 512, 0), 60) ==
        "rows  [......................]    0 %  0/512 tasks  in 0.0 s");
}

TEST_CASE("a progress line names the end if it is a minute or more away") {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  auto state = at(100, 1000, 10);
  state.now = 18 * 3600 + 30 * 60;  // 1 January 1970
  CHECK(progress_line("", state, 100).ends_with("100/1000 tasks  10.0/s  1:30 left  ends 18:31"));
  CHECK(progress_line("", state, 42).ends_with("1:30 left"));  // less important
  state.seconds = 3600;
  CHECK(progress_line("", state, 100).ends_with("9:00:00 left  ends 1970-01-02 03:30"));
  state.seconds = 5;
  CHECK(progress_line("", state, 100).ends_with("0:45 left"));
}

TEST_CASE("without a total there is no bar, share or time left") {
  progress_state state;
  state.done = 45'000;
  state.seconds = 3;
  CHECK(progress_line("stream", state, 80) == "stream  45000 tasks  15.0 k/s  in 3.0 s");
}

TEST_CASE("lost ranks are reported") {
  auto state = at(10, 20, 1);
  state.ranks = 4;
  state.lost_ranks = 1;
  CHECK(progress_line("", state, 100).ends_with("1 of 4 ranks lost"));
  state.failed = 3;
  CHECK(progress_line("", state, 100).ends_with("3 failed  1 of 4 ranks lost"));
}

TEST_CASE("100 % means that all is done, and no tasks are done") {
  CHECK(progress_line("", at(999'999, 1'000'000, 1), 80).find(" 99 %") != std::string::npos);
  CHECK(progress_line("", at(UINT64_MAX - 1, UINT64_MAX, 1), 120).find(" 99 %") != std::string::npos);
  CHECK(progress_line("", at(0, 0, 1), 80).find("100 %") != std::string::npos);
}

TEST_CASE("a progress line is never wider than the terminal") {
  for (auto const* const label :
       {"", "rows", "\xc3\xa4\xc3\xb6\xc3\xbc with a rather long label that goes on"}) {
    for (int width = -1; width <= 200; ++width) {
      for (auto state : {at(3, 1'000'000'000'000, 100'000), at(5, 5, 1e9), at(7, 3, -1)}) {
        state.lost_ranks = 2;
        auto const line = progress_line(label, state, width);
        auto const columns = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
        CHECK(columns <= std::max(width, 0));
      }
    }
  }
  CHECK(progress_line("rows", at(256, 512, 2), 20) == "rows   50 %");
  CHECK(progress_line("rows", at(256, 512, 2), 22) == "rows   50 %  0:02 left");
}

TEST_CASE("no number of seconds is too strange for a progress line") {
  CHECK(progress_line("", at(1, 1'000'000, 1e9), 80).find("> 99 h left") != std::string::npos);
  CHECK(progress_line("", at(1, 3, 3600), 80).find("2:00:00 left") != std::string::npos);
  CHECK_NOTHROW(progress_line("", at(1, 3, std::numeric_limits<double>::quiet_NaN()), 80));
}

TEST_CASE("without a terminal there is a line per 10 %") {
  auto const text = test::standard_error_of([] {
    progress_display display("rows", progress_mode::always);
    for (std::uint64_t i = 0; i <= 1000; ++i) display.update(at(i, 1000, 0.01 * static_cast<double>(i)));
    display.finish(at(1000, 1000, 10));
    display.finish(at(1000, 1000, 10));
  });
  CHECK(std::ranges::count(text, '\n') == 10);
  CHECK(text.starts_with("rows  ["));
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.ends_with("in 0:10\n"));
}

TEST_CASE("without a terminal each loss has a line at once") {
  auto const text = test::standard_error_of([] {
    progress_display display("rows", progress_mode::always);
    for (std::uint64_t i = 0; i <= 1000; ++i) {
      auto state = at(i, 1000, 0.01 * static_cast<double>(i));
      state.ranks = 4;
      state.lost_ranks = i < 333 ? 0 : i < 777 ? 1 : 2;
      display.update(state);
    }
  });
  CHECK(std::ranges::count(text, '\n') == 10 + 2);
  for (auto const* const words : {"333/1000 tasks  100/s  0:07 left  1 of 4 ranks lost\n",
                                  "777/1000 tasks  100/s  0:02 left  2 of 4 ranks lost\n"})
    CHECK(text.find(words) != std::string::npos);
}

TEST_CASE("without a terminal, auto is silent for runs shorter than a second") {
  auto const run = [](double seconds, progress_mode mode) {
    return test::standard_error_of([&] {
      progress_display display("rows", mode);
      for (std::uint64_t i = 0; i <= 10; ++i)
        display.update(at(i, 10, seconds * 0.1 * static_cast<double>(i)));
      display.finish(at(10, 10, seconds));
    });
  };
  CHECK(run(0.9, progress_mode::automatic).empty());
  CHECK(std::ranges::count(run(2, progress_mode::automatic), '\n') ==
        6);  // from the first second on: 50 % ... 100 %
  CHECK(run(2, progress_mode::never).empty());
}

TEST_CASE("a stream of unknown length has a line every 10 s") {
  auto const text = test::standard_error_of([] {
    progress_display display("stream", progress_mode::automatic);
    progress_state state;
    for (int i = 0; i <= 350; ++i) {
      state.done = static_cast<std::uint64_t>(i);
      state.seconds = 0.1 * i;
      display.update(state);
    }
    display.finish(state);
  });
  CHECK(std::ranges::count(text, '\n') == 4);
}
