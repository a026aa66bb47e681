// A rank's part in the end of a call.
#include "protocol/attendance.hpp"

#include <vector>

#include "catch.hpp"

using namespace skel::role;

namespace {

using action = std::variant<tell_root, drain, end, fail>;
using actions = std::vector<action>;

actions heard(attendance& a, call_message const& m) {
  actions out;
  a.on(m, out);
  return out;
}
actions quiet(attendance& a) {
  actions out;
  a.quiet(out);
  return out;
}
actions lost(attendance& a, rank_id rank) {
  actions out;
  a.lost(rank, out);
  return out;
}
actions only(action a) { return {std::move(a)}; }

}  // namespace

TEST_CASE("a call ends with stop, drain, stopped and finish") {
  attendance a(1, 0);
  CHECK(a.active());
  CHECK(quiet(a).empty());  // the root has not asked for a stop yet
  CHECK(heard(a, stop{true}) == only(drain{true}));
  CHECK(heard(a, stop{true}).empty());
  CHECK(a.awaited());
  CHECK(quiet(a) == only(tell_root{stopped{}}));
  CHECK(quiet(a).empty());
  outcome const how{.how = outcome::status::stopped_early};
  CHECK(heard(a, finish{how}) == only(end{how}));
  CHECK(a.ended());
  CHECK(heard(a, finish{how}).empty());
  CHECK(lost(a, 0).empty());
}

TEST_CASE("a rank reports a failed task and drains before the root sends stop") {
  attendance a(1, 0);
  actions out;
  a.failed(7, "why", out);
  CHECK(out == actions{tell_root{failed{7, "why"}}, drain{}});
  CHECK(quiet(a).empty());
  CHECK(heard(a, stop{}).empty());
  CHECK(quiet(a) == only(tell_root{stopped{}}));
}

TEST_CASE("an abort or the loss of the root ends the call at once") {
  attendance a(1, 0);
  CHECK(heard(a, skel::role::abort{"why"}) == only(fail{fail::reason::protocol, "why"}));
  attendance b(1, 0);
  CHECK(lost(b, 2).empty());
  CHECK(lost(b, 0) == only(fail{fail::reason::lost_root, {}}));
  attendance root(0, 0);
  CHECK(lost(root, 0).empty());
}

TEST_CASE("a rank repeats messages that the root has not answered") {
  attendance a(1, 0);
  auto const again = [&] {
    actions out;
    a.say_again(out);
    return out;
  };
  CHECK(again().empty());
  actions out;
  a.please_stop(out);
  CHECK(again() == only(tell_root{please_stop{}}));
  a.failed(7, "why", out);
  CHECK(again() == only(tell_root{failed{7, "why"}}));
  heard(a, stop{});
  CHECK(again().empty());
  quiet(a);
  CHECK(again() == only(tell_root{stopped{}}));
  CHECK(heard(a, stop{}).empty());  // repeated, because the root has not received the answer
  CHECK(quiet(a) == only(tell_root{stopped{}}));
  heard(a, finish{});
  CHECK(again().empty());
}

TEST_CASE("only an active rank requests an early end") {
  attendance a(1, 0);
  actions out;
  a.please_stop(out);
  CHECK(out == only(tell_root{please_stop{}}));
  heard(a, stop{});
  out.clear();
  a.please_stop(out);
  CHECK(out.empty());
}
