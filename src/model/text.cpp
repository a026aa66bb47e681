#include "text.hpp"

#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/format.hpp"
#include "base/read_file.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::model {

std::string read_text(std::string const& path) {
  constexpr std::size_t most = std::size_t{1} << 30;
  auto text = detail::read_file(path, most);
  if (!text) throw usage_error(detail::one_line(path + ": " + std::generic_category().message(errno)));
  if (text->size() > most) throw usage_error(detail::one_line(path + ": larger than 1 GiB, the maximum"));
  text->erase(0, text->size() - detail::without_mark(*text).size());
  return std::move(*text);
}

std::optional<double> to_number(std::string_view text) {
  auto const x = detail::to_number<double>(text);
  return x && std::isfinite(*x) ? x : std::nullopt;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 60;
  return '"' + std::string(text.substr(0, most)) + (text.size() > most ? "…\"" : "\"");
}

void fail_at(std::string const& file, std::size_t line, std::string const& what) {
  throw usage_error(detail::one_line(detail::format("{}:{}: {}", file, line, what)));
}

std::vector<std::string> extrapolations(fitted const& f, std::string const& what, point const& at) {
  constexpr double far = 1.0 + 1e-9;
  std::vector<std::string> all;
  for (auto const& [name, r] : f.range) {
    auto const v = at.find(name);
    if (v == at.end()) continue;
    if (v->second > r.second * far)
      all.push_back(
          detail::format("{}: {} = {} is {:.3g} times the largest value in the samples ({}): extrapolated",
                         what, name, v->second, v->second / r.second, r.second));
    else if (v->second * far < r.first)
      all.push_back(
          detail::format("{}: {} = {} is below the smallest value in the samples ({}): extrapolated", what,
                         name, v->second, r.first));
  }
  return all;
}

}  // namespace skel::model
