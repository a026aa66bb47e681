#include "catch.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "tasks/recorder.hpp"

namespace {

using skel::range_list;
using skel::detail::read_log;
using skel::detail::result_log;

std::vector<std::byte> bytes_of(std::string_view text) {
  auto const* const b = reinterpret_cast<std::byte const*>(text.data());
  return {b, b + text.size()};
}

void take(result_log& log, std::vector<std::byte>& to) {
  for (auto const& s : log.take()) to.insert(to.end(), s->begin(), s->end());
}

std::vector<std::byte> log_of(std::vector<range_list> const& entries) {
  result_log log;
  for (auto const& e : entries) log.add(e, bytes_of("result"));
  std::vector<std::byte> all;
  take(log, all);
  return all;
}

std::string complaint(std::vector<std::byte> const& log, std::uint64_t tasks = 100) {
  try {
    static_cast<void>(read_log(log, tasks));
    return "";
  } catch (skel::protocol_error const& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a log survives a round trip, also when it is taken in pieces") {
  result_log log;
  log.add({{0, 3, 1}, {10, 4, 5}}, bytes_of("first"));
  std::vector<std::byte> all;
  take(log, all);
  CHECK(read_log(all, 100).size() == 1);
  log.add({{3, 1, 1}}, bytes_of(""));
  auto const big = std::vector<std::byte>(std::size_t{3} << 20, std::byte{7});
  log.add({{40, 2, 1}}, big);
  log.add({{50, 2, 1}}, bytes_of("last"));
  take(log, all);
  CHECK(log.take().empty());
  auto const read = read_log(all, 100);
  REQUIRE(read.size() == 4);
  CHECK(read[0].ranges == range_list{{0, 3, 1}, {10, 4, 5}});
  CHECK(std::ranges::equal(read[0].results, bytes_of("first")));
  CHECK(read[1].results.empty());
  CHECK(std::ranges::equal(read[2].results, big));
  CHECK(std::ranges::equal(read[3].results, bytes_of("last")));
  CHECK(read_log({}, 0).empty());
}

TEST_CASE("a log that is cut off anywhere or names impossible tasks is refused") {
  auto const whole = log_of({{{0, 3, 1}, {10, 4, 5}}, {{50, 1, 1}}});
  for (std::size_t n = 1; n < whole.size(); ++n) {
    std::vector<std::byte> const part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    INFO(n);
    CHECK(complaint(part).empty() == (n == log_of({{{0, 3, 1}, {10, 4, 5}}}).size()));
  }
  CHECK(complaint(whole).empty());
  CHECK(complaint(whole, 50) == "a log of results names tasks that cannot exist");
  CHECK(complaint(whole, 51).empty());
  CHECK(complaint(log_of({{{5, 10, 1}}, {{14, 2, 1}}})) == "a log of results names a task twice");
  CHECK(complaint(log_of({{{5, 10, 3}}, {{8, 1, 1}}})) == "a log of results names a task twice");
  CHECK(complaint(log_of({{{5, 10, 3}}, {{6, 10, 3}}, {{7, 10, 3}}})).empty());
  CHECK(complaint(log_of({{{0, ~0ULL, 1}}})) == "a log of results names tasks that cannot exist");
  CHECK(complaint(log_of({{{1, 1ULL << 63, 2}}})) == "a log of results names tasks that cannot exist");
  CHECK(complaint(log_of({{{0, 2, 0}}})) == "a log of results names tasks that cannot exist");
}
