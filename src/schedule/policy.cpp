#include "skel/schedule/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <span>

#include "skel/error.hpp"

namespace skel {

farm_policy blocks::policy() const {
  farm_policy p;
  p.name = "blocks";
  p.start = start_with::contiguous;
  p.more = more_from::nowhere;
  return p;
}

farm_policy interleaved::policy() const {
  farm_policy p;
  p.name = "interleaved";
  p.start = start_with::interleaved;
  p.more = more_from::nowhere;
  return p;
}

farm_policy first_come::policy() const {
  farm_policy p;
  p.name = "first-come";
  p.chunk = chunk;
  p.threshold = threshold;
  p.early = early;
  return p;
}

farm_policy guided::policy() const {
  farm_policy p;
  p.name = "guided";
  p.size = grant_size::shrinking;
  p.chunk = min;
  return p;
}

farm_policy hybrid::policy() const {
  farm_policy p;
  p.name = "hybrid";
  p.start = start_with::weighted;
  p.cut = cut;
  p.threshold = threshold;
  p.power = power;
  return p;
}

farm_policy ring::policy() const {
  farm_policy p;
  p.name = "ring";
  p.start = start_with::interleaved;
  p.more = more_from::ring;
  p.take = take;
  p.order = order;
  p.after_loss = after_loss;
  p.copies = copies;
  return p;
}

farm_policy for_stream(farm_policy policy) {
  if (policy.more == more_from::ring) {
    policy.start = start_with::nothing;
    policy.size = grant_size::shrinking;
  }
  return policy;
}

void farm_policy::check() const {
  if (chunk == 0) throw usage_error("schedule " + name + ": a grant needs at least 1 task, got 0");
  if (!cut.tasks && !(cut.share >= 0 && cut.share <= 1))
    throw usage_error("schedule " + name + ": cut must lie between 0% and 100%");
  for (double w : power)
    if (!(std::isfinite(w) && w > 0))
      throw usage_error("schedule " + name + ": relative power must be positive");
  if (start == start_with::nothing && more == more_from::nowhere)
    throw usage_error("schedule " + name + ": workers start with nothing and get nothing");
}

namespace {

std::uint64_t parse_count(std::string_view spec, std::string_view key, std::string_view text,
                          std::uint64_t least) {
  std::uint64_t n = 0;
  auto const [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size() || n < least)
    throw usage_error(fmt::format("schedule \"{}\": {} must be a whole number of at least {}, got \"{}\"",
                                  spec, key, least, text));
  return n;
}

double parse_number(std::string_view spec, std::string_view key, std::string_view text) {
  double x = 0;
  auto const [end, bad] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (bad != std::errc{} || end != text.data() + text.size() || !std::isfinite(x))
    throw usage_error(fmt::format("schedule \"{}\": {} must be a number, got \"{}\"", spec, key, text));
  return x;
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

// Calls `set(key, value)` for each "key=value" behind the colon; `set` returns false for a key it does not
// know.
void for_each_option(std::string_view spec, std::string_view known,
                     std::function<bool(std::string_view, std::string_view)> const& set) {
  auto const colon = spec.find(':');
  if (colon == std::string_view::npos) return;
  if (colon + 1 == spec.size()) throw usage_error(fmt::format("\"{}\": nothing behind the colon", spec));
  for (auto const part : split(spec.substr(colon + 1), ',')) {
    auto const equals = part.find('=');
    if (equals == std::string_view::npos || !set(part.substr(0, equals), part.substr(equals + 1)))
      throw usage_error(fmt::format("\"{}\": unknown option \"{}\"; known: {}", spec, part, known));
  }
}

// One of a few words, which are listed when it is another.
template <class E>
E parse_word(std::string_view spec, std::string_view key, std::string_view text,
             std::span<std::string_view const> words) {
  auto const at = std::find(words.begin(), words.end(), text);
  if (at == words.end())
    throw usage_error(
        fmt::format("schedule \"{}\": {} must be {}, got \"{}\"", spec, key, fmt::join(words, " or "), text));
  return static_cast<E>(at - words.begin());
}
enum class yes_or_no : std::uint8_t { no, yes };
constexpr std::array<std::string_view, 2> yes_words{"no", "yes"};
constexpr std::array<std::string_view, 2> take_words{"one", "half"};
constexpr std::array<std::string_view, 3> order_words{"successors", "predecessors", "doubling"};
constexpr std::array<std::string_view, 2> takeover_words{"everybody", "predecessor"};

cut_at parse_cut(std::string_view spec, std::string_view value) {
  if (!value.empty() && value.back() == '%') {
    auto const c = cut_at::percent(parse_number(spec, "cut", value.substr(0, value.size() - 1)));
    if (!(c.share >= 0 && c.share <= 1))
      throw usage_error(fmt::format("schedule \"{}\": cut must lie between 0% and 100%", spec));
    return c;
  }
  return cut_at(parse_count(spec, "cut", value, 0));
}

farm_policy parse_schedule(std::string_view spec) {
  auto const name = spec.substr(0, spec.find(':'));
  if (name == "blocks") {
    for_each_option(spec, "none", [](auto, auto) { return false; });
    return blocks{}.policy();
  }
  if (name == "interleaved") {
    for_each_option(spec, "none", [](auto, auto) { return false; });
    return interleaved{}.policy();
  }
  if (name == "first-come") {
    first_come s;
    for_each_option(spec, "chunk=N, threshold=N, early=yes|no", [&](auto key, auto value) {
      if (key == "chunk") return s.chunk = parse_count(spec, key, value, 1), true;
      if (key == "threshold") return s.threshold = parse_count(spec, key, value, 0), true;
      if (key == "early")
        return s.early = parse_word<yes_or_no>(spec, key, value, yes_words) == yes_or_no::yes, true;
      return false;
    });
    return s.policy();
  }
  if (name == "guided") {
    guided s;
    for_each_option(spec, "min=N", [&](auto key, auto value) {
      return key == "min" ? (s.min = parse_count(spec, key, value, 1), true) : false;
    });
    return s.policy();
  }
  if (name == "hybrid") {
    hybrid s;
    for_each_option(spec, "cut=P%|N, threshold=N, power=P/P/...", [&](auto key, auto value) {
      if (key == "cut") return s.cut = parse_cut(spec, value), true;
      if (key == "threshold") return s.threshold = parse_count(spec, key, value, 0), true;
      if (key != "power") return false;
      for (auto const p : split(value, '/')) s.power.push_back(parse_number(spec, key, p));
      return true;
    });
    auto p = s.policy();
    p.check();
    return p;
  }
  if (name == "ring") {
    ring s;
    for_each_option(
        spec,
        "take=one|half, order=successors|predecessors|doubling, takeover=everybody|predecessor, "
        "copies=no|yes",
        [&](auto key, auto value) {
          if (key == "take") return s.take = parse_word<steal_size>(spec, key, value, take_words), true;
          if (key == "order") return s.order = parse_word<ring_order>(spec, key, value, order_words), true;
          if (key == "takeover")
            return s.after_loss = parse_word<takeover>(spec, key, value, takeover_words), true;
          if (key == "copies")
            return s.copies = parse_word<yes_or_no>(spec, key, value, yes_words) == yes_or_no::yes, true;
          return false;
        });
    return s.policy();
  }
  throw usage_error(fmt::format(
      "unknown schedule \"{}\"; known: blocks, interleaved, first-come[:chunk=N,threshold=N,early=no], "
      "guided[:min=N], hybrid[:cut=P%|N,threshold=N,power=P/P/...], ring[:take=one|half,order=...]",
      spec));
}

}  // namespace

any_schedule::any_schedule(std::string_view spec) : policy_(parse_schedule(spec)) {}

std::string any_schedule::to_string() const { return skel::to_string(policy_); }

std::string to_string(farm_policy const& p) {
  std::string text = p.name;
  char separator = ':';
  auto add = [&](std::string const& option) { text += separator + option, separator = ','; };
  if (p.name == "first-come" && p.chunk != 1) add(fmt::format("chunk={}", p.chunk));
  if (p.name == "guided" && p.chunk != 1) add(fmt::format("min={}", p.chunk));
  if (p.name == "hybrid")
    add(p.cut.tasks ? fmt::format("cut={}", *p.cut.tasks) : fmt::format("cut={:g}%", p.cut.share * 100));
  if ((p.name == "hybrid" || p.name == "first-come") && p.threshold)
    add(fmt::format("threshold={}", *p.threshold));
  if (!p.early) add("early=no");
  if (p.more == more_from::ring) {
    if (p.take != steal_size::half) add("take=one");
    if (p.order != ring_order::successors)
      add(fmt::format("order={}", order_words[static_cast<std::size_t>(p.order)]));
    if (p.after_loss != takeover::everybody) add("takeover=predecessor");
    if (p.copies) add("copies=yes");
  }
  if (!p.power.empty()) add(fmt::format("power={}", fmt::join(p.power, "/")));
  return text;
}

results_policy parse_results(std::string_view spec) {
  results_policy r;
  auto const name = spec.substr(0, spec.find(':'));
  if (name == "concentrated" && name == spec) return concentrated();
  if (name != "streamed")
    throw usage_error(
        fmt::format("unknown results policy \"{}\"; known: streamed[:batch=N], concentrated", spec));
  for_each_option(spec, "batch=N", [&](auto key, auto value) {
    return key == "batch" ? (r.batch = parse_count(spec, key, value, 1), true) : false;
  });
  return r;
}

std::string to_string(results_policy const& r) {
  if (r.concentrated) return "concentrated";
  return r.batch == 0 ? "streamed" : fmt::format("streamed:batch={}", r.batch);
}

}  // namespace skel
