#include "skel/context.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/duration.hpp"
#include "base/format.hpp"
#include "base/text.hpp"
#include "context_access.hpp"
#include "cores.hpp"
#include "engine.hpp"
#include "exit_guard.hpp"
#include "exit_status.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"
#include "system_host.hpp"
#include "team.hpp"
#include "trace_file.hpp"
#include "warnings.hpp"

namespace skel::detail {

call_slot::call_slot(context const& ctx)
    : engine_(context_access::engine_of(ctx)),
      context_(context_access::id(ctx)),
      number_(engine_.calls().gate().enter(context_, engine_.helper().owns_this_thread())) {
  guard_exit(engine_, true);
}

void call_slot::throw_if_nested() const {
  for (auto const& failure : engine_.calls().gate().take_failures({context_, number_}))
    throw usage_error(failure.text);
}

call_slot::~call_slot() {
  guard_exit(engine_, false);
  engine_.calls().gate().leave(context_);
}

}  // namespace skel::detail

namespace skel {

namespace {

char const* environment(char const* name) {
  char const* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

double parse_seconds(char const* name, char const* text) {
  try {
    return detail::parse_duration(text).count();
  } catch (usage_error const& bad) {
    throw usage_error(std::string(name) + ": " + bad.what());
  }
}

std::optional<bool> yes_or_no(char const* name) {
  auto const* const text = environment(name);
  if (text == nullptr) return std::nullopt;
  std::string_view const word = text;
  if (word != "yes" && word != "no")
    throw usage_error(detail::format("{} must be yes or no, found \"{}\"", name, word));
  return word == "yes";
}

}  // namespace

context_options context_options::from_environment() {
  context_options o;
  auto const threads = [](char const* name, int& to) {
    auto const* const t = environment(name);
    if (t == nullptr) return;
    auto const n = detail::to_number<int>(t);
    if (!n || *n < 1 || *n > detail::most_threads)
      throw usage_error(
          detail::format("{} must be a number from 1 to {}, found \"{}\"", name, detail::most_threads, t));
    to = *n;
  };
  threads("SKEL_THREADS", o.threads);
  threads("SKEL_THREADS_PER_DEVICE", o.threads_per_device);
  if (auto const* p = environment("SKEL_PROGRESS")) o.progress = observe::parse_progress_mode(p);
  if (auto const* f = environment("SKEL_TRACE")) {
    o.trace = {true, f};
  }
  if (auto const* w = environment("SKEL_WATCHDOG")) o.watchdog_seconds = parse_seconds("SKEL_WATCHDOG", w);
  if (auto const* s = environment("SKEL_SUSPECT_AFTER"))
    o.suspect_after_seconds = parse_seconds("SKEL_SUSPECT_AFTER", s);
  if (auto const* h = environment("SKEL_HOST")) {
    o.host.name = h;
    try {
      std::ignore = detail::expand_disk(o.host.name, "", 0);
    } catch (usage_error const& bad) {
      throw usage_error(std::string("SKEL_HOST: ") + bad.what());
    }
  }
  if (auto const* c = environment("SKEL_CLUSTER")) o.host.cluster = c;
  if (auto const* l = environment("SKEL_HOST_LOAD")) {
    auto const load = detail::to_number<double>(l);
    if (!load || !std::isfinite(*load) || *load < 0)
      throw usage_error(detail::format("SKEL_HOST_LOAD must be a number of at least 0, found \"{}\"", l));
    o.host.load = *load;
  }
  o.check.inputs = yes_or_no("SKEL_CHECK_INPUTS");
  o.check.tasks = yes_or_no("SKEL_CHECK_TASKS");
  return o;
}

std::string detail::system_host_name() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

void detail::check_trace_file(context_options const& options) {
  if (options.trace.file.empty()) return;
  try {
    observe::check_trace_file(options.trace.file);
  } catch (error const& bad) {
    auto const* const variable = environment("SKEL_TRACE");
    bool const from_environment = variable != nullptr && options.trace.file == variable;
    throw usage_error(std::string(from_environment ? "SKEL_TRACE: " : "trace.file: ") + bad.what());
  }
}

context::context(context_options options) {
  detail::check_trace_file(options);
  if (options.threads == 0)
    options.threads = detail::default_threads(detail::usable_cores(), detail::usable_cores(), 1);
  engine_ = std::make_shared<detail::engine>(std::make_unique<transport::alone>(), std::move(options),
                                             detail::system_host_name());
  engine_->warnings = detail::unknown_variables(environ);
  engine_->is_process = true;
  team_ = std::make_shared<detail::team const>(1);
}

context::context(std::shared_ptr<detail::engine> engine) : engine_(std::move(engine)) {
  team_ = std::make_shared<detail::team const>(engine_->size());
  rank_ = engine_->rank();
}

context::context(context&&) noexcept = default;
context& context::operator=(context&&) noexcept = default;

context::~context() {
  if (!engine_ || beside_ || is_team_ || !is_root() || engine_->options().trace.file.empty()) return;
  try {
    observe::write_trace(engine_->options().trace.file, traces());
  } catch (std::exception const& e) {
    std::fprintf(stderr, "skel: %s\n", e.what());
  }
}

int context::rank() const noexcept { return rank_; }
int context::size() const noexcept { return team_->size(); }
int context::local_rank() const noexcept { return engine_->place.on_host.rank; }
int context::local_size() const noexcept { return engine_->place.on_host.size; }
int context::threads() const noexcept { return beside_ ? 1 : engine_->threads(); }
std::string const& context::host() const noexcept { return engine_->place.host; }
void context::set_progress(observe::progress_mode mode) { engine_->options().progress = mode; }
void context::set_observer(observe::progress_observer observer) { engine_->observer = std::move(observer); }
void context::set_trace(bool on) { engine_->options().trace.on = on; }
void context::set_quiet(bool quiet) { engine_->options().quiet = quiet; }
void context::request_stop() noexcept { engine_->calls().stop_requested().store(true); }
bool context::stop_requested() const noexcept { return engine_->calls().stop_requested().load(); }

void context::set_threads(int threads) {
  if (threads < 1 || threads > detail::most_threads)
    throw usage_error(
        detail::format("a rank needs 1 to {} compute threads, found {}", detail::most_threads, threads));
  if (threads > 1 && engine_->owns_time())
    throw usage_error("a simulated rank has one compute thread, found " + std::to_string(threads));
  engine_->options().threads = threads;
  engine_->options().threads_per_device = 0;
}

void context::set_threads_per_device(int threads) {
  if (threads < 0 || threads > detail::most_threads)
    throw usage_error(
        detail::format("a device needs 0 to {} compute threads, found {}", detail::most_threads, threads));
  engine_->options().threads_per_device = threads;
}

std::vector<observe::rank_trace> context::traces() {
  std::lock_guard const lock(engine_->mutex());
  return std::exchange(engine_->traces, {});
}

bool context::has_beside() const noexcept {
  return !is_team_ && !engine_->owns_time() && (size() == 1 || engine_->wires().any_thread());
}

context context::beside() {
  if (engine_->owns_time())
    throw usage_error("simulated ranks have one thread: nothing can be called beside a skeleton call");
  if (!has_beside())
    throw usage_error(
        "MPI was started with a thread level below SERIALIZED: nothing can be called beside a skeleton call");
  if (engine_->helper().owns_this_thread() || engine_->calls().gate().is_caller(id_))
    throw usage_error(
        "context::beside was called inside a task, merge, source or sink: make the context before the call");
  if (is_team_) throw usage_error("context::beside: not available on a team; make another team");
  context other(engine_);
  other.id_ = engine_->calls().next_context();
  other.beside_ = true;
  return other;
}

context context::team(std::span<int const> ranks) const { return make_team(ranks, 0); }

context context::make_team(std::span<int const> ranks, std::uint64_t number) const {
  auto const text = [&] { return "[" + detail::join(std::vector(ranks.begin(), ranks.end()), " ") + "]"; };
  if (ranks.empty()) throw usage_error("context::team: a team needs at least one rank");
  auto sorted = std::vector(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() < 0 || sorted.back() >= size())
    throw usage_error(detail::format("context::team: ranks must be 0 to {}, found {}", size() - 1, text()));
  if (auto const twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw usage_error(detail::format("context::team: rank {} is repeated in {}", *twice, text()));
  auto const mine = std::find(ranks.begin(), ranks.end(), rank());
  if (mine == ranks.end())
    throw usage_error(detail::format("context::team: the calling rank {} is missing in {}", rank(), text()));
  std::vector<int> wire;
  for (int const r : ranks) wire.push_back(team_->to_wire(r));
  // All ranks of the team compute the same number without a message: a hash of its maker and its
  // ranks. The highest bit distinguishes it from counted contexts.
  xxh3_hasher hasher;
  hasher.update(std::as_bytes(std::span(&id_, 1)));
  hasher.update(std::as_bytes(std::span(&number, 1)));
  hasher.update(std::as_bytes(std::span(wire)));
  context other(engine_);
  other.id_ = hasher.value() | (std::uint64_t{1} << 63);
  other.rank_ = static_cast<int>(mine - ranks.begin());
  other.is_team_ = true;
  {
    std::lock_guard const lock(engine_->mutex());
    engine_->calls().add_team(other.id_, id_, wire);
  }
  other.team_ = std::make_shared<detail::team const>(std::move(wire));
  return other;
}

void context::leave(int code) { detail::end_process(engine_->rank(), code); }

}  // namespace skel
