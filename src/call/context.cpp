#include "skel/context.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.hpp"
#include "census.hpp"
#include "engine/cores.hpp"
#include "engine/engine.hpp"
#include "engine/environment.hpp"
#include "engine/exit_status.hpp"
#include "engine/team.hpp"
#include "engine/warnings.hpp"
#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace skel {

namespace {

transport::packet numbers(std::initializer_list<std::uint64_t> all) {
  transport::packet said;
  for (auto const n : all) bytes::put_raw(said.body(), n);
  return said;
}

}  // namespace

context::context(context_options options) {
  detail::check_trace_file(options);
  if (options.threads == 0)
    options.threads = detail::default_threads(detail::usable_cores(), detail::usable_cores(), 1);
  engine_ = std::make_shared<detail::engine>(std::make_unique<transport::alone>(), std::move(options),
                                             detail::system_host_name());
  engine_->warnings = detail::unknown_variables(environ);
  engine_->job.is_process = true;
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
  if (std::unique_lock const lock(engine_->mutex()); engine_->farewell().view_ended()) return;
  try {
    observe::write_trace(engine_->options().trace.file, traces());
  } catch (std::exception const& e) {
    std::fprintf(stderr, "skel: %s\n", e.what());
  }
}

int context::rank() const noexcept { return rank_; }
int context::size() const noexcept { return team_->size(); }
int context::attempt() const noexcept { return engine_->job.attempt; }
int context::local_rank() const noexcept { return engine_->place.on_host.rank; }
int context::local_size() const noexcept { return engine_->place.on_host.size; }
int context::threads() const noexcept { return beside_ ? 1 : engine_->threads(); }
std::string const& context::host() const noexcept { return engine_->place.host; }
void context::set_progress(observe::progress_mode mode) { engine_->options().progress = mode; }
void context::set_observer(observe::progress_observer observer) {
  engine_->observed.observer = std::move(observer);
}
void context::set_trace(bool on) { engine_->options().trace.on = on; }
void context::set_quiet(bool quiet) { engine_->options().quiet = quiet; }
void context::request_stop() noexcept { engine_->calls().stop_requested().store(true); }
bool context::stop_requested() const noexcept { return engine_->calls().stop_requested().load(); }

void context::retire() noexcept { engine_->retirement().want(); }

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
  return std::exchange(engine_->observed.traces, {});
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
    auto const lock = engine_->driver().lock_for_call();
    engine_->calls().add_team(other.id_, id_, wire);
  }
  other.team_ = std::make_shared<detail::team const>(std::move(wire));
  return other;
}

void context::require_same(std::string_view name, std::span<std::byte const> bytes) {
  xxh3_hasher hasher;
  hasher.update(bytes);
  auto const mine = numbers({hasher.value()});
  auto const differs =
      [&](std::vector<detail::statement_of_rank> const& all) -> std::optional<role::outcome> {
    for (auto const& s : all)
      if (!std::ranges::equal(s.said.bytes(), mine.bytes()))
        return role::outcome{
            .how = role::outcome::status::refused,
            .rank = s.rank,
            .text = detail::format("{} of rank {} differs from rank {}'s: it must be the same "
                                   "on all ranks",
                                   name, s.rank, rank())};
    return std::nullopt;
  };
  detail::take_census(*this, {"require_same", std::string(name), {}, differs, false}, mine);
}

void context::require_same(std::string_view name, std::string_view text) {
  require_same(name, std::as_bytes(std::span(text.data(), text.size())));
}

context context::split(int color, int key) {
  auto const number = [](int n) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(n)); };
  auto const all =
      detail::take_census(*this, {"split", {}, {}, {}, true}, numbers({number(color), number(key)}));
  if (std::ranges::none_of(all, [&](auto const& s) { return s.rank == rank(); }))
    throw lost_rank_error(
        rank(),
        detail::format("split: rank {} was thought lost, and the others have gone on without it", rank()));
  struct member {
    int key, rank;
    auto operator<=>(member const&) const = default;
  };
  std::vector<member> team_of_color;
  for (auto const& s : all) {
    auto in = s.said.bytes();
    if (bytes::get_raw<std::uint64_t>(in) != number(color)) continue;
    team_of_color.push_back({static_cast<int>(bytes::get_raw<std::int64_t>(in)), s.rank});
  }
  std::sort(team_of_color.begin(), team_of_color.end());
  std::vector<int> ranks;
  ranks.reserve(team_of_color.size());
  for (auto const& m : team_of_color) ranks.push_back(m.rank);
  return team(ranks);
}

void context::leave(int code) { detail::end_process(engine_->rank(), code); }

}  // namespace skel
