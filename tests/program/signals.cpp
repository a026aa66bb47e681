#include "program/signals.hpp"

#include <csignal>
#include <map>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "catch.hpp"

using namespace std::chrono_literals;
using skel::program::stop_signals;

namespace {

bool stops_within(std::stop_token const& token, std::chrono::milliseconds limit) {
  auto const deadline = std::chrono::steady_clock::now() + limit;
  while (!token.stop_requested() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
  return token.stop_requested();
}

auto handler_of(int number) {
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  return now.sa_handler;
}

}  // namespace

TEST_CASE("SIGINT, SIGTERM and SIGUSR1 request a stop") {
  std::map<int, std::string> const names{{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGUSR1, "SIGUSR1"}};
  for (auto const& [number, name] : names) {
    stop_signals const signals;
    CHECK(signals.reason().empty());
    CHECK_FALSE(signals.token().stop_requested());
    std::raise(number);
    CHECK(stops_within(signals.token(), 5s));
    CHECK(signals.reason() == name);
    CHECK(handler_of(number) == SIG_DFL);  // a second signal ends an unresponsive program
  }
}

TEST_CASE("signals and the time limit hold when the body runs again") {
  using skel::program::signals_of_process;
  using seconds = std::chrono::duration<double>;
  auto* const former = handler_of(SIGTERM);
  {
    signals_of_process const first(std::nullopt);
    first.keep();
  }
  std::raise(SIGTERM);  // before the next attempt begins
  {
    signals_of_process const second(std::nullopt, 2);
    CHECK(stops_within(second->token(), 5s));
    CHECK(second->reason() == "SIGTERM");
  }
  CHECK(handler_of(SIGTERM) == former);
  {
    signals_of_process const first(seconds(0.05));
    first.keep();
  }
  std::this_thread::sleep_for(100ms);
  signals_of_process const second(seconds(0.05), 2);
  CHECK(stops_within(second->token(), 5s));
  CHECK(second->reason() == "the time limit");
}

TEST_CASE("the time limit counts from the first attempt") {
  using skel::program::signals_of_process;
  using seconds = std::chrono::duration<double>;
  { signals_of_process const first(seconds(1)); }
  std::this_thread::sleep_for(1s);
  {
    signals_of_process const second(seconds(1), 2);
    CHECK(stops_within(second->token(), 900ms));
  }
  signals_of_process const other(seconds(1000));
  CHECK_FALSE(other->token().stop_requested());
}

TEST_CASE("SIGUSR2 is no stop: the rank is to retire") {
  stop_signals const signals;
  for (int k = 0; k < 2; ++k) std::raise(SIGUSR2);  // a second one changes nothing
  CHECK(stops_within(signals.retirement(), 5s));
  CHECK_FALSE(signals.token().stop_requested());
  CHECK(signals.reason().empty());
}

TEST_CASE("the previous handlers are restored") {
  auto* const ours = +[](int) {};
  auto* const former = std::signal(SIGTERM, ours);
  {
    stop_signals const signals;
    CHECK(handler_of(SIGTERM) != ours);
  }
  CHECK(handler_of(SIGTERM) == ours);
  CHECK(handler_of(SIGUSR1) == SIG_DFL);
  std::signal(SIGTERM, former);
}

TEST_CASE("an ignored signal stays ignored") {
  auto* const former = std::signal(SIGUSR1, SIG_IGN);
  {
    stop_signals const signals;
    CHECK(handler_of(SIGUSR1) == SIG_IGN);
    CHECK(handler_of(SIGTERM) != SIG_DFL);
    std::raise(SIGUSR1);
    CHECK_FALSE(stops_within(signals.token(), 20ms));
  }
  CHECK(handler_of(SIGUSR1) == SIG_IGN);
  std::signal(SIGUSR1, former);
}

TEST_CASE("the time limit requests a stop") {
  stop_signals const signals(std::chrono::duration<double>(0.05));
  CHECK_FALSE(signals.token().stop_requested());
  CHECK(stops_within(signals.token(), 5s));
  CHECK(signals.reason() == "the time limit");
  std::raise(SIGUSR1);  // still watched
  std::this_thread::sleep_for(20ms);
  CHECK(signals.reason() == "the time limit");  // the first reason counts
}

TEST_CASE("without a time limit, the end of a Slurm job requests a stop, a tenth of its time before") {
  auto const now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  auto const times = [&](long start, long end) {
    ::setenv("SLURM_JOB_START_TIME", std::to_string(now + start).c_str(), 1);
    ::setenv("SLURM_JOB_END_TIME", std::to_string(now + end).c_str(), 1);
  };
  times(-100, 9);  // 109 s, of which 9 s are left
  {
    stop_signals const signals;
    CHECK(stops_within(signals.token(), 5s));
    CHECK(signals.reason() == "the time limit");
  }
  {
    stop_signals const signals(std::chrono::duration<double>(1000));
    CHECK_FALSE(stops_within(signals.token(), 20ms));
  }
  times(-100000, 70);  // a minute before the end
  {
    stop_signals const signals;
    CHECK_FALSE(stops_within(signals.token(), 20ms));
  }
  ::setenv("SLURM_JOB_END_TIME", "soon", 1);
  {
    stop_signals const signals;
    CHECK_FALSE(stops_within(signals.token(), 20ms));
  }
  ::unsetenv("SLURM_JOB_START_TIME");
  ::unsetenv("SLURM_JOB_END_TIME");
}

TEST_CASE("a time limit of years neither overflows nor stops") {
  for (double const seconds : {1e8, 1e12, 1e300}) {
    stop_signals const signals{std::chrono::duration<double>(seconds)};
    CHECK_FALSE(stops_within(signals.token(), 10ms));
  }
}

TEST_CASE("a second instance is refused") {
  stop_signals const signals;
  CHECK_THROWS_AS(stop_signals(), std::logic_error);
  std::raise(SIGUSR1);
  CHECK(stops_within(signals.token(), 5s));
}
