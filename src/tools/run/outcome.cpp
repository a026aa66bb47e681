#include "tools/run/outcome.hpp"

#include <fmt/format.h>

#include "program/text.hpp"

namespace skel::commands {

namespace {

// Takes texts and numbers off the front.
class fields {
 public:
  explicit fields(std::string_view text) : rest_(text) {}
  // Whether the text was there.
  bool text(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  template <class Number>
  bool number(Number& into) {
    auto const found = program::take_number<Number>(rest_);
    if (found) into = *found;
    return found.has_value();
  }
  bool until(char end, std::string& into) {
    auto const at = rest_.find(end);
    if (at == std::string_view::npos) return false;
    into = rest_.substr(0, at);
    rest_.remove_prefix(at);
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace

hash128 identity(std::string_view line) {
  xxh3_128_hasher hasher;
  hasher.update(std::as_bytes(std::span(line.data(), line.size())));
  return hasher.value();
}

std::string failure_text(outcome const& how, std::string_view line) {
  auto const end =
      how.signal != 0 ? fmt::format("signal {}", how.signal) : fmt::format("exit code {}", how.exit_code);
  return fmt::format(
      "{}{} after {:.6f} s ({:.6f} s user, {:.6f} s system, {} bytes, began {:.6f}, rank {} on {}): {}",
      how.late ? "time limit, " : "", end, how.seconds, how.user, how.system, how.peak, how.began, how.rank,
      how.host, line);
}

std::optional<outcome> outcome_of(std::string_view failure) {
  outcome o;
  fields from(failure);
  o.late = from.text("time limit, ");
  bool const ended =
      from.text("signal ") ? from.number(o.signal) : from.text("exit code ") && from.number(o.exit_code);
  bool const good = ended && from.text(" after ") && from.number(o.seconds) && from.text(" s (") &&
                    from.number(o.user) && from.text(" s user, ") && from.number(o.system) &&
                    from.text(" s system, ") && from.number(o.peak) && from.text(" bytes, began ") &&
                    from.number(o.began) && from.text(", rank ") && from.number(o.rank) &&
                    from.text(" on ") && from.until(')', o.host);
  if (!good) return std::nullopt;
  return o;
}

}  // namespace skel::commands
