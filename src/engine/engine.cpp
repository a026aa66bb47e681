#include "engine.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <tuple>
#include <utility>

#include "base/format.hpp"
#include "base/text.hpp"
#include "cores.hpp"
#include "exit_status.hpp"
#include "skel/error.hpp"
#include "warnings.hpp"

namespace skel::detail {

namespace {

context_options checked(context_options o) {
  constexpr auto where = "context_options";
  if (o.threads < 0 || o.threads > most_threads)
    throw usage_error(
        detail::format("{}: threads must be 0 to {}, found {}", where, most_threads, o.threads));
  require_seconds(where, "watchdog_seconds", o.watchdog_seconds);
  if (o.suspect_after_seconds) require_seconds(where, "suspect_after_seconds", *o.suspect_after_seconds);
  require_count(where, "largest_message", o.largest_message, 1);
  o.trace.on = o.trace.on || !o.trace.file.empty();
  return o;
}

// The host name given by the user, with %r replaced by the rank.
std::string host_name_of(context_options const& options, std::string found, int rank) {
  if (!options.host.name.empty()) return expand_disk(options.host.name, found, rank);
  return found;
}

// Empty: all of the job's ranks are left. They may be many.
std::vector<int> ranks_in_job(transport::transport& carrier) {
  std::vector<int> all;
  if (carrier.size() == carrier.below().size()) return all;
  all.reserve(static_cast<std::size_t>(carrier.size()));
  for (int r = 0; r < carrier.size(); ++r) all.push_back(carrier.in_job(r));
  return all;
}

std::shared_ptr<kept_disks> kept_by(transport::transport& carrier) {
  auto& kept = carrier.kept();
  if (!kept) kept = std::make_shared<kept_disks>();
  return std::static_pointer_cast<kept_disks>(kept);
}

}  // namespace

engine::engine(std::unique_ptr<transport::transport> carrier, context_options options, std::string host)
    : place{.host = host_name_of(options, std::move(host), carrier->in_job(carrier->rank()))},
      options_(checked(std::move(options))),
      wires_(std::move(carrier), options_),
      calls_(wires_),
      clocks_(wires_),
      farewell_(calls_, wires_, disks_),
      retirement_(calls_, wires_, farewell_),
      peers_(wires_, disks_, calls_, farewell_, retirement_),
      driver_(wires_, disks_, calls_, clocks_, farewell_, peers_),
      helper_(driver_, wires_, calls_, disks_, options_),
      disks_(rank(), ranks_in_job(wires_.carrier()), wires_.carrier().below().size(),
             {wires_.carrier().in_job(rank()), place.host, options_.host.cluster, options_.host.load},
             kept_by(wires_.carrier()), wires_.any_time(), [this] { helper_.wake(); }) {
  if (wires_.any_time() && size() > 1) helper_.start();
}

engine::~engine() { end_talk(); }

void engine::end_talk() {
  helper_.stop();
  if (wires_.carrier().size() > 1) {
    try {
      std::unique_lock lock(mutex());
      serve_disks_to_the_end(lock);
      bool const any_lost = !wires_.lost().empty();
      if (!farewell_.view_ended()) driver_.flush(lock, any_lost ? 0.1 : 5.0);
      if (any_lost) wires_.carrier().abandon();
    } catch (std::exception const&) {
      // The transport has failed. Ranks that wait for these messages detect that themselves.
    }
  }
}

// Another rank may still write its last checkpoint here. A rank that has said farewell will not.
void engine::serve_disks_to_the_end(std::unique_lock<std::mutex>& lock) {
  constexpr double pause = 100e-6, patience = 30;
  double const begin = now();
  driver_.send_pending();
  auto const used = [&] {
    return disks_.used() && !farewell_.begun() && !retirement_.done() && !farewell_.peer_has_failed() &&
           now() - std::max(begin, driver_.last_arrival()) < patience;
  };
  driver_.drive_while(lock, std::numeric_limits<double>::infinity(), pause, used);
}

void engine::close_wires(std::string const& text) {
  calls_.shut(std::make_exception_ptr(usage_error(text)));
  end_talk();
  wires_.detach();
}

void engine::open(run_key key, run& r) {
  calls_.open(key, r);
  farewell_.tell_left(r);  // ranks may have left between two calls
}

void engine::close(run_key key) {
  calls_.close(key);
  farewell_.forget_root_lost();  // the program has got the exception
}

void engine::change_ranks(std::unique_lock<std::mutex>& lock) {
  constexpr double patience = 10;  // with ranks that do not answer
  if (peers_.renew()) driver_.drive_while(lock, patience, 1e-3, [&] { return wires_.carrier().renews(); });
  auto const leaves = [&] {
    retirement_.step(true);
    return retirement_.wanted() && calls_.runs().empty() && !farewell_.view_ended() &&
           !farewell_.peer_has_failed();
  };
  if (retirement_.wanted()) driver_.drive_while(lock, patience, 1e-3, leaves);
}

void engine::measure_clocks(std::unique_lock<std::mutex>& lock, std::uint32_t call) {
  // A rank that computes answers within 2 ms.
  constexpr double longest_wait = 50e-3;
  clocks_.measure(call);
  driver_.drive_while(lock, longest_wait, 0,
                      [&] { return !farewell_.peer_has_failed() && clocks_.measures(call); });
  clocks_.stop();
}

void engine::say_warnings() {
  std::vector<std::string> texts;
  bool looks = false;
  {
    auto const lock = driver_.lock_for_call();
    texts = std::exchange(warnings, {});
    looks = !std::exchange(place.looked_for_inner_threads, true);
  }
  if (options_.quiet) return;
  if (looks && rank() == 0 && threads() > 1)
    if (auto const inner = find_inner_threads())
      if (auto text = too_many_threads(threads(), usable_cores(), *inner); !text.empty())
        texts.push_back(std::move(text));
  for (auto const& t : texts) std::fprintf(stderr, "skel: %s\n", t.c_str());
}

std::vector<rank_loss> engine::losses() {
  auto all = job.earlier_losses;
  for (auto loss : peers_.losses()) {
    loss.attempt = job.attempt;
    all.push_back(loss);
  }
  for (auto& loss : all)  // the others may have noticed it first
    if (loss.noticed == loss_notice::agreed && wires_.carrier().has_ended(loss.rank))
      loss.noticed = peers_.notice_of(loss.rank);
  return all;
}

std::optional<int> engine::say_farewell(departure const& own, std::string const& program) {
  auto const print = [&](std::string const& text) {
    if (!text.empty() && !program.empty())
      std::fprintf(stderr, "%s: %s\n", program.c_str(), one_line(text).c_str());
  };
  if (size() == 1) {
    print(own.text);
    return own.code;
  }
  std::unique_lock lock(mutex());
  farewell_.begin(own);
  for (unsigned round = 0; farewell_.waits(); ++round) {
    driver_.progress();
    farewell_.refuse_early_calls();
    if (farewell_.waits()) driver_.rest(lock, round < 200 ? 0 : 200e-6);
  }
  if (farewell_.view_ended() && !farewell_.has_verdict()) return std::nullopt;
  bool const agreed = farewell_.conclude(own);
  auto const end = farewell_.verdict();
  if (rank() == 0 || !agreed) {
    lock.unlock();
    print(end.text);
    lock.lock();
  }
  if (agreed) {
    farewell_.announce();
    driver_.flush(lock, 1.0);
  }
  return end.code;
}

void engine::end_job() {
  constexpr double last_second = 1;
  if (rank() == 0) farewell_.tell_end();
  for (double const end = now() + last_second; size() > 1 && now() < end;) {
    driver_.progress();
    wires_.wait(1e-3);
  }
  end_process(rank(), 1);
}

void engine::end_by_exit() {
  constexpr auto patience = std::chrono::seconds(1);
  std::string const text =
      "exit() was called during a skeleton call: tasks, merges, sources and sinks must return or throw";
  auto const& program = farewell_.program;
  auto const say = [&] {
    std::fprintf(stderr, "%s: %s\n", program.empty() ? "skel" : program.c_str(), text.c_str());
    end_process(rank(), 1);
  };
  if (size() == 1) say();
  // A merge that exits holds the lock.
  auto const give_up = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(mutex(), std::try_to_lock);
  while (!lock && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::ignore = lock.try_lock();
  }
  if (!lock) say();
  try {
    departure const own{.code = 1, .own = true, .text = text, .lost = true};
    if (!program.empty()) {
      lock.unlock();
      if (auto const code = say_farewell(own, program)) end_process(rank(), *code);
      say();  // the others go on without this rank
    }
    farewell_.tell_failure(own);
    driver_.flush(lock, std::chrono::duration<double>(patience).count());
  } catch (std::exception const&) {
    // The transport has failed. The other ranks detect that themselves.
  }
  say();
  _exit(1);
}

}  // namespace skel::detail
