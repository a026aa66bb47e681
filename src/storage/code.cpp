#include "skel/storage/code.hpp"

#include <utility>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "storage/cauchy.hpp"

namespace skel::storage {

namespace {

constexpr std::size_t most_shards = 256;
constexpr std::string_view known_codes =
    "replicate:COPIES, parity:SLICES, ida:DATA,PARITY[,matrix=vandermonde|cauchy|zfec], central";

constexpr std::pair<std::string_view, construction> matrices[] = {
    {"vandermonde", construction::vandermonde},
    {"cauchy", construction::cauchy},
    {"zfec", construction::zfec},
    {"backblaze", construction::vandermonde},
    {"isa-l", construction::cauchy},
    {"klauspost", construction::vandermonde},
    {"redset", construction::vandermonde},
};

[[noreturn]] void refuse(std::string_view spec) {
  throw usage_error(detail::format("unknown code \"{}\"; known: {}", spec, known_codes));
}

// Splits the text at commas.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::size_t count_of(std::string_view spec, std::string_view what, std::string_view text, std::size_t least) {
  auto const n = detail::from_digits<std::size_t>(text);
  if (!n || *n < least || *n > most_shards)
    throw usage_error(detail::format("code \"{}\": {} must be a whole number from {} to {}, found \"{}\"",
                                     spec, what, least, most_shards, text));
  return *n;
}

construction matrix_of(std::string_view spec, std::string_view option) {
  constexpr std::string_view key = "matrix=";
  if (option.starts_with(key))
    for (auto const& [name, how] : matrices)
      if (name == option.substr(key.size())) return how;
  std::string known;
  for (auto const& m : matrices) known += detail::format("{}{}", known.empty() ? "" : "|", m.first);
  throw usage_error(
      detail::format("code \"{}\": unknown option \"{}\"; known: matrix={}", spec, option, known));
}

}  // namespace

code::code(std::string_view spec) {
  if (spec == "central") spec = "replicate:1";
  auto const colon = spec.find(':');
  if (colon == std::string_view::npos) refuse(spec);
  auto const name = spec.substr(0, colon);
  auto const rest = spec.substr(colon + 1);
  if (name == "replicate") {
    family_ = family::replicate;
    parity_ = count_of(spec, "copies", rest, 1) - 1;
  } else if (name == "parity") {
    family_ = family::parity;
    data_ = count_of(spec, "slices", rest, 1);
    parity_ = 1;
  } else if (name == "ida") {
    auto const parts = parts_of(rest);
    if (parts.size() < 2 || parts.size() > 3) refuse(spec);
    data_ = count_of(spec, "data shards", parts[0], 1);
    parity_ = count_of(spec, "parity shards", parts[1], 1);
    if (parts.size() == 3) how_ = matrix_of(spec, parts[2]);
  } else {
    refuse(spec);
  }
  if (shards() > most_shards)
    throw usage_error(
        detail::format("code \"{}\": {} shards, expected at most {}", spec, shards(), most_shards));
}

std::string code::to_string() const {
  switch (family_) {
    case family::replicate:
      return detail::format("replicate:{}", shards());
    case family::parity:
      return detail::format("parity:{}", data_);
    case family::dispersal:
      break;
  }
  auto text = detail::format("ida:{},{}", data_, parity_);
  if (how_ != construction::vandermonde)
    text += how_ == construction::cauchy ? ",matrix=cauchy" : ",matrix=zfec";
  return text;
}

point_rule rule_of(code const& c) {
  switch (c.family_) {
    case code::family::replicate:
      return {construction::vandermonde, 0};
    case code::family::parity:  // with these multipliers the sum of all shards is 0
      return {construction::vandermonde, c.shards()};
    case code::family::dispersal:
      break;
  }
  return {c.how_, c.how_ == construction::cauchy ? c.data_ : 0};
}

}  // namespace skel::storage
