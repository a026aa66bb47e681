#include "skel/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <type_traits>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "skel/on_error.hpp"

namespace skel {

// The presets, as combinations of choices.
namespace schedule {

farm_policy adaptive::policy() const {
  return {.name = "auto", .more = more_from::root_then_ranks, .size = grant_size::adaptive, .copies = true};
}
farm_policy blocks::policy() const {
  return {.name = "blocks", .start = start_with::contiguous, .more = more_from::nowhere};
}
farm_policy interleaved::policy() const {
  return {.name = "interleaved", .start = start_with::interleaved, .more = more_from::nowhere};
}
farm_policy first_come::policy() const {
  return {.name = "first-come", .chunk = chunk, .threshold = threshold, .early = early};
}
farm_policy guided::policy() const { return {.name = "guided", .size = grant_size::shrinking, .chunk = min}; }
farm_policy hybrid::policy() const {
  return {
      .name = "hybrid", .start = start_with::weighted, .threshold = threshold, .cut = cut, .power = power};
}
farm_policy ring::policy() const {
  return {.name = "ring",
          .start = start_with::interleaved,
          .more = more_from::ring,
          .take = take,
          .give = give,
          .order = order,
          .after_loss = after_loss,
          .copies = copies};
}

}  // namespace schedule

void farm_policy::check() const {
  auto const where = "schedule " + name;
  detail::require_count(where, "the number of tasks of a grant", chunk, 1);
  if (threshold) detail::require_count(where, "threshold", *threshold);
  if (cut.tasks) detail::require_count(where, "cut", *cut.tasks);
  if (!cut.tasks && !(cut.share >= 0 && cut.share <= 1))
    throw usage_error("schedule " + name + ": cut must lie between 0% and 100%");
  for (double w : power)
    if (!(std::isfinite(w) && w > 0))
      throw usage_error("schedule " + name + ": relative power must be positive");
  if (start == schedule::start_with::nothing && more == schedule::more_from::nowhere)
    throw usage_error("schedule " + name + ": no worker would get a task: choose a start or a refill");
}

namespace {

// One "key=value" of a choice, and the text that contains it.
struct option_text {
  std::string_view spec, key, value;
};

template <std::unsigned_integral N = std::uint64_t>
N count_of(option_text const& o, std::type_identity_t<N> least) {
  auto const n = detail::from_digits<N>(o.value);
  if (!n || *n < least)
    throw usage_error(detail::format("\"{}\": {} must be a whole number of at least {}, found \"{}\"", o.spec,
                                     o.key, least, o.value));
  return *n;
}

double number_of(option_text const& o, std::string_view text) {
  auto const x = detail::to_number<double>(text);
  if (!x || !std::isfinite(*x))
    throw usage_error(detail::format("\"{}\": {} must be a number, found \"{}\"", o.spec, o.key, text));
  return *x;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    auto const at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return parts;
}

// Calls `set(key, value)` for each "key=value" after the colon; `set` returns false for an unknown
// key.
void for_each_option(std::string_view spec, std::string_view known,
                     std::function<bool(std::string_view, std::string_view)> const& set) {
  auto const colon = spec.find(':');
  if (colon == std::string_view::npos) return;
  if (colon + 1 == spec.size())
    throw usage_error(detail::format("\"{}\": expected an option after the colon", spec));
  std::set<std::string_view> seen;
  for (auto const part : split(spec.substr(colon + 1), ',')) {
    auto const equals = part.find('=');
    if (!seen.insert(part.substr(0, equals)).second)
      throw usage_error(detail::format("\"{}\": {} stands twice", spec, part.substr(0, equals)));
    if (equals == std::string_view::npos || !set(part.substr(0, equals), part.substr(equals + 1)))
      throw usage_error(detail::format("\"{}\": unknown option \"{}\"; known: {}", spec, part, known));
  }
}

// Parses one of a few words. Throws usage_error, which lists them, for another word.
template <class E>
E word_of(option_text const& o, std::span<std::string_view const> words) {
  auto const at = std::find(words.begin(), words.end(), o.value);
  if (at == words.end())
    throw usage_error(detail::format("\"{}\": {} must be {}, found \"{}\"", o.spec, o.key,
                                     detail::join(words, " or "), o.value));
  return static_cast<E>(at - words.begin());
}
enum class yes_or_no : std::uint8_t { no, yes };
constexpr std::array<std::string_view, 2> yes_words{"no", "yes"};
constexpr std::array<std::string_view, 2> take_words{"one", "half"};
constexpr std::array<std::string_view, 2> give_words{"last", "next"};
constexpr std::array<std::string_view, 3> order_words{"successors", "predecessors", "doubling"};
constexpr std::array<std::string_view, 2> takeover_words{"everybody", "predecessor"};

bool is_yes(option_text const& o) { return word_of<yes_or_no>(o, yes_words) == yes_or_no::yes; }

schedule::cut_at cut_of(option_text const& o) {
  if (!o.value.ends_with('%')) return schedule::cut_at(count_of(o, 0));
  auto const c = schedule::cut_at::percent(number_of(o, o.value.substr(0, o.value.size() - 1)));
  if (!(c.share >= 0 && c.share <= 1))
    throw usage_error(detail::format("\"{}\": cut must lie between 0% and 100%", o.spec));
  return c;
}

std::vector<double> powers_of(option_text const& o) {
  std::vector<double> all;
  for (auto const p : split(o.value, '/')) all.push_back(number_of(o, p));
  return all;
}

// The options of a preset S.
template <class S>
struct option {
  std::string_view key;
  std::string_view values;
  void (*set)(S& preset, option_text const& o);
};

// "key=values,key=values"
template <class S>
std::string described(std::span<option<S> const> options, std::string_view between) {
  std::string all;
  for (auto const& o : options)
    all += detail::format("{}{}={}", all.empty() ? std::string_view() : between, o.key, o.values);
  return all;
}

template <class S>
farm_policy read(std::string_view spec, std::span<option<S> const> options) {
  S preset;
  for_each_option(spec, options.empty() ? "none" : described(options, ", "), [&](auto key, auto value) {
    auto const at = std::find_if(options.begin(), options.end(), [&](auto const& o) { return o.key == key; });
    if (at == options.end()) return false;
    at->set(preset, {spec, key, value});
    return true;
  });
  auto p = preset.policy();
  p.check();
  return p;
}

constexpr option<schedule::first_come> first_come_options[] = {
    {"chunk", "N", [](auto& s, auto& o) { s.chunk = count_of(o, 1); }},
    {"threshold", "N", [](auto& s, auto& o) { s.threshold = count_of(o, 0); }},
    {"early", "yes|no", [](auto& s, auto& o) { s.early = is_yes(o); }},
};
constexpr option<schedule::guided> guided_options[] = {
    {"min", "N", [](auto& s, auto& o) { s.min = count_of(o, 1); }},
};
constexpr option<schedule::hybrid> hybrid_options[] = {
    {"cut", "P%|N", [](auto& s, auto& o) { s.cut = cut_of(o); }},
    {"threshold", "N", [](auto& s, auto& o) { s.threshold = count_of(o, 0); }},
    {"power", "P/P/...", [](auto& s, auto& o) { s.power = powers_of(o); }},
};
constexpr option<schedule::ring> ring_options[] = {
    {"take", "one|half", [](auto& s, auto& o) { s.take = word_of<schedule::steal_size>(o, take_words); }},
    {"give", "last|next", [](auto& s, auto& o) { s.give = word_of<schedule::steal_end>(o, give_words); }},
    {"order", "successors|predecessors|doubling",
     [](auto& s, auto& o) { s.order = word_of<schedule::ring_order>(o, order_words); }},
    {"takeover", "everybody|predecessor",
     [](auto& s, auto& o) { s.after_loss = word_of<schedule::takeover>(o, takeover_words); }},
    {"copies", "no|yes", [](auto& s, auto& o) { s.copies = is_yes(o); }},
};

struct named_preset {
  std::string_view name;
  farm_policy (*read)(std::string_view spec);
  std::string (*options)();
};

template <class S>
constexpr named_preset plain(std::string_view name) {
  return {name, [](std::string_view spec) { return read<S>(spec, {}); }, [] { return std::string(); }};
}
template <class S, auto& Options>
constexpr named_preset with_options(std::string_view name) {
  return {name, [](std::string_view spec) { return read<S>(spec, Options); },
          [] { return described<S>(Options, ","); }};
}

constexpr named_preset presets[] = {
    plain<schedule::adaptive>("auto"),
    plain<schedule::blocks>("blocks"),
    plain<schedule::interleaved>("interleaved"),
    with_options<schedule::first_come, first_come_options>("first-come"),
    with_options<schedule::guided, guided_options>("guided"),
    with_options<schedule::hybrid, hybrid_options>("hybrid"),
    with_options<schedule::ring, ring_options>("ring"),
};

farm_policy parse_schedule(std::string_view spec) {
  auto const name = spec.substr(0, spec.find(':'));
  for (auto const& p : presets)
    if (p.name == name) return p.read(spec);
  throw usage_error(detail::format("unknown schedule \"{}\"; known: {}", spec, known_schedules()));
}

}  // namespace

std::string known_schedules() {
  std::string all;
  for (auto const& p : presets) {
    auto const options = p.options();
    all += detail::format("{}{}", all.empty() ? "" : ", ", p.name);
    if (!options.empty()) all += detail::format("[:{}]", options);
  }
  return all;
}

any_schedule::any_schedule(std::string_view spec) : policy_(parse_schedule(spec)) {}

std::string any_schedule::to_string() const { return skel::to_string(policy_); }

namespace schedule {
std::string_view to_string(steal_size take) { return take_words[static_cast<std::size_t>(take)]; }
std::string_view to_string(ring_order order) { return order_words[static_cast<std::size_t>(order)]; }
}  // namespace schedule

std::string to_string(farm_policy const& p) {
  std::string text = p.name;
  char separator = ':';
  auto add = [&](std::string const& option) { text += separator + option, separator = ','; };
  if (p.name == "first-come" && p.chunk != 1) add(detail::format("chunk={}", p.chunk));
  if (p.name == "guided" && p.chunk != 1) add(detail::format("min={}", p.chunk));
  if (p.name == "hybrid")
    add(p.cut.tasks ? detail::format("cut={}", *p.cut.tasks)
                    : detail::format("cut={:g}%", p.cut.share * 100));
  if ((p.name == "hybrid" || p.name == "first-come") && p.threshold)
    add(detail::format("threshold={}", *p.threshold));
  if (!p.early) add("early=no");
  if (p.more == schedule::more_from::ring) {
    if (p.take != schedule::steal_size::half) add(detail::format("take={}", to_string(p.take)));
    if (p.give != schedule::steal_end::last) add("give=next");
    if (p.order != schedule::ring_order::successors) add(detail::format("order={}", to_string(p.order)));
    if (p.after_loss != schedule::takeover::everybody) add("takeover=predecessor");
    if (p.copies) add("copies=yes");
  }
  if (!p.power.empty()) add(detail::format("power={}", detail::join(p.power, "/")));
  return text;
}

results_policy parse_results(std::string_view spec) {
  results_policy r;
  auto const name = spec.substr(0, spec.find(':'));
  if (name == "concentrated" && name == spec) return results::concentrated();
  if (name != "streamed")
    throw usage_error(
        detail::format("unknown results policy \"{}\"; known: streamed[:batch=N], concentrated", spec));
  for_each_option(spec, "batch=N", [&](auto key, auto value) {
    return key == "batch" ? (r.batch = count_of({spec, key, value}, 1), true) : false;
  });
  return r;
}

error_policy parse_on_error(std::string_view spec) {
  constexpr std::string_view known =
      "stop, retry[:times=N,elsewhere=yes|no], collect[:times=N,elsewhere=yes|no]";
  auto const name = spec.substr(0, spec.find(':'));
  error_policy p;
  if (name == "retry")
    p = on_error::retry{};
  else if (name == "collect")
    p = on_error::collect{};
  else if (spec != "stop")
    throw usage_error(detail::format("unknown choice \"{}\"; known: {}", spec, known));
  for_each_option(spec, "times=N, elsewhere=yes|no", [&](auto key, auto value) {
    option_text const o{spec, key, value};
    if (key == "times")
      p.times = count_of<unsigned>(o, 1);
    else if (key == "elsewhere")
      p.elsewhere = is_yes(o);
    else
      return false;
    return true;
  });
  return p;
}

std::string to_string(error_policy const& p) {
  if (!p.goes_on()) return "stop";
  return (p.collects ? "collect:times=" : "retry:times=") + std::to_string(p.times) +
         (p.elsewhere ? "" : ",elsewhere=no");
}

std::string to_string(results_policy const& r) {
  if (r.concentrated) return "concentrated";
  return r.batch == 0 ? "streamed" : detail::format("streamed:batch={}", r.batch);
}

}  // namespace skel
