#include "environment.hpp"

#include <unistd.h>

#include <cfloat>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/format.hpp"
#include "base/text.hpp"
#include "cores.hpp"
#include "disks/disk_host.hpp"
#include "skel/error.hpp"

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

// 4096, 500k, 20M or 2G.
std::uint64_t parse_bytes(char const* name, std::string_view text) {
  constexpr std::string_view units = "kMG";
  auto const unit = text.empty() ? std::string_view::npos : units.find(text.back());
  auto const digits = text.substr(0, text.size() - (unit == std::string_view::npos ? 0 : 1));
  auto const n = detail::to_number<std::uint32_t>(digits);
  if (!n)
    throw usage_error(
        detail::format("{} must be a number of bytes such as 500k, 20M or 2G, found \"{}\"", name, text));
  return std::uint64_t{*n} << (unit == std::string_view::npos ? 0 : 10 * (unit + 1));
}

// Leaves `to` as it is without such a variable.
template <class Number, class Value>
void read_number(char const* name, Value& to, Number least, Number most, std::string_view expected) {
  auto const* const text = environment(name);
  if (text == nullptr) return;
  auto const n = detail::to_number<Number>(text);
  if (!n || !(*n >= least && *n <= most))
    throw usage_error(detail::format("{} must be {}, found \"{}\"", name, expected, text));
  to = *n;
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
  auto const threads = detail::format("a number from 1 to {}", detail::most_threads);
  read_number("SKEL_THREADS", o.threads, 1, detail::most_threads, threads);
  read_number("SKEL_THREADS_PER_DEVICE", o.threads_per_device, 1, detail::most_threads, threads);
  if (auto const* p = environment("SKEL_PROGRESS")) o.progress = observe::parse_progress_mode(p);
  if (auto const* f = environment("SKEL_TRACE")) o.trace = {true, f};
  if (auto const* w = environment("SKEL_WATCHDOG")) o.watchdog_seconds = parse_seconds("SKEL_WATCHDOG", w);
  if (auto const* s = environment("SKEL_SUSPECT_AFTER"))
    o.suspect_after_seconds = parse_seconds("SKEL_SUSPECT_AFTER", s);
  if (auto const* r = environment("SKEL_REMEMBER")) o.again.remember_bytes = parse_bytes("SKEL_REMEMBER", r);
  read_number("SKEL_SPARES", o.again.spares, 0, INT_MAX, "a number of ranks");
  if (auto const* h = environment("SKEL_HOST")) {
    o.host.name = h;
    try {
      std::ignore = detail::expand_disk(o.host.name, "", 0);
    } catch (usage_error const& bad) {
      throw usage_error(std::string("SKEL_HOST: ") + bad.what());
    }
  }
  if (auto const* c = environment("SKEL_CLUSTER")) o.host.cluster = c;
  read_number("SKEL_HOST_LOAD", o.host.load, 0.0, DBL_MAX, "a number of at least 0");
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

}  // namespace skel
