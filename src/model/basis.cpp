#include "skel/model/basis.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "text.hpp"

namespace skel::model {

namespace {

std::string names_of(point const& at) {
  std::string names;
  for (auto const& [name, value] : at) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

// expression := term {"+" term};  term := atom {("*" | "/") atom};
// atom := number | name ["^" number] | "log" "(" name ")" ["^" integer] | "sqrt" "(" name ")"
class parser {
 public:
  explicit parser(std::string_view text) : text_(text) {}

  expression parse() {
    expression e;
    do {
      double coefficient = 1;
      basis_function f;
      term(coefficient, f);
      e.functions.push_back(std::move(f));
      e.coefficients.push_back(coefficient);
      if (e.functions.size() > most) fail("fewer terms");
    } while (accept('+'));
    if (!rest().empty()) fail("+, *, / or the end");
    return e;
  }

 private:
  static constexpr std::size_t most = 32;

  std::string_view rest() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return text_.substr(at_);
  }
  bool accept(char c) {
    if (rest().empty() || rest().front() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(detail::format("\"{}\"", c));
  }
  [[noreturn]] void fail(std::string const& expected) {
    auto const here = rest();
    throw usage_error(detail::format("basis {}: expected {}{}", in_quotes(text_), expected,
                                     here.empty() ? " at the end" : " at " + in_quotes(here)));
  }
  double number() {
    auto here = rest();
    auto const x = detail::take_number<double>(here);
    if (!x || !std::isfinite(*x)) fail("a number");
    at_ = text_.size() - here.size();
    return *x;
  }
  static bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  std::string name() {
    auto const here = rest();
    if (here.empty() || !begins_name(here.front())) fail("a variable");
    std::size_t n = 1;
    while (n < here.size() &&
           (begins_name(here[n]) || std::isdigit(static_cast<unsigned char>(here[n])) != 0 || here[n] == '.'))
      ++n;
    at_ += n;
    return std::string(here.substr(0, n));
  }
  void term(double& coefficient, basis_function& f) {
    double sign = 1;
    do {
      atom(sign, coefficient, f);
      sign = accept('/') ? -1 : accept('*') ? 1 : 0;
    } while (sign != 0);
  }
  void atom(double sign, double& coefficient, basis_function& f) {
    auto const here = rest();
    if (here.empty()) fail("a number or a variable");
    if (!begins_name(here.front())) {
      double const x = number();
      if (sign < 0 && x == 0) fail("a divisor that is not 0");
      coefficient *= sign < 0 ? 1 / x : x;
      return;
    }
    auto word = name();
    factor next;
    if ((word == "log" || word == "log2" || word == "sqrt") && accept('(')) {
      bool const root = word == "sqrt";
      next.variable = name();
      next.exponent = root ? 0.5 * sign : 0;
      expect(')');
      if (!root) next.logs = accept('^') ? power_of_log() : 1;
      if (!root && sign < 0) fail("no division by logarithms");
    } else {
      next.variable = std::move(word);
      next.exponent = sign * (accept('^') ? exponent() : 1);
    }
    auto const same = std::ranges::find(f.factors, next.variable, &factor::variable);
    if (same == f.factors.end()) {
      f.factors.push_back(std::move(next));
    } else {
      same->exponent += next.exponent;
      same->logs += next.logs;
    }
  }
  double exponent() {
    double const x = number();
    if (std::abs(x) > 10) fail("an exponent from -10 to 10");
    return x;
  }
  int power_of_log() {
    double const x = number();
    if (x != 1 && x != 2 && x != 3) fail("1, 2 or 3 as the power of a logarithm");
    return static_cast<int>(x);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool basis_function::depends_on(std::string_view variable) const {
  return std::ranges::find(factors, variable, &factor::variable) != factors.end();
}

double basis_function::operator()(point const& at) const {
  double product = 1;
  for (auto const& f : factors) {
    auto const v = at.find(f.variable);
    if (v == at.end())
      throw usage_error(
          detail::format("unknown variable {}; known: {}", in_quotes(f.variable), names_of(at)));
    double const x =
        std::pow(v->second, f.exponent) * (f.logs == 0 ? 1 : std::pow(std::log2(v->second), f.logs));
    if (!std::isfinite(x))
      throw usage_error(
          detail::format("{} is not finite at {} = {}", to_string(*this), f.variable, v->second));
    product *= x;
  }
  if (!std::isfinite(product))
    throw usage_error(to_string(*this) + " is not finite: the problem is too large");
  return product;
}

std::string to_string(basis_function const& f) {
  if (f.factors.empty()) return "1";
  std::string above;
  std::string below;
  auto const put = [](std::string& side, std::string const& text) {
    side += (side.empty() ? "" : "*") + text;
  };
  for (auto const& part : f.factors) {
    auto const power = std::abs(part.exponent);
    if (power != 0)
      put(part.exponent > 0 ? above : below,
          power == 1 ? part.variable : detail::format("{}^{}", part.variable, power));
    if (part.logs == 1) put(above, detail::format("log({})", part.variable));
    if (part.logs > 1) put(above, detail::format("log({})^{}", part.variable, part.logs));
  }
  if (above.empty()) above = "1";
  for (auto at = below.find('*'); at != std::string::npos; at = below.find('*')) below[at] = '/';
  return below.empty() ? above : above + "/" + below;
}

std::string to_string(std::span<basis_function const> basis) {
  std::string text;
  for (auto const& f : basis) text += (text.empty() ? "" : " + ") + to_string(f);
  return text;
}

expression parse_expression(std::string_view text) { return parser(text).parse(); }

std::vector<basis_function> parse_basis(std::string_view text) {
  auto const e = parse_expression(text);
  for (std::size_t i = 0; i < e.functions.size(); ++i) {
    if (e.coefficients[i] != 1)
      throw usage_error(detail::format(
          "basis {}: found a coefficient, expected none (coefficients are fitted)", in_quotes(text)));
    if (std::find(e.functions.begin(), e.functions.begin() + static_cast<std::ptrdiff_t>(i),
                  e.functions[i]) != e.functions.begin() + static_cast<std::ptrdiff_t>(i))
      throw usage_error(detail::format("basis {}: found {} twice, expected once", in_quotes(text),
                                       to_string(e.functions[i])));
  }
  return e.functions;
}

double expression::operator()(point const& at) const {
  double sum = 0;
  for (std::size_t i = 0; i < functions.size(); ++i) sum += coefficients[i] * functions[i](at);
  return sum;
}

}  // namespace skel::model
