#include "skel/storage/code.hpp"

#include <stdexcept>
#include <utility>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "storage/linear_map.hpp"

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

matrix parity_of(code const& c) {
  if (c.family_ == code::family::dispersal) return parity_matrix(c.how_, c.data_, c.parity_);
  matrix ones(c.parity_, c.data_);
  for (std::size_t i = 0; i < c.parity_; ++i)
    for (std::size_t j = 0; j < c.data_; ++j) ones.at(i, j) = 1;
  return ones;
}

linear_map encoder(code const& c) { return linear_map(parity_of(c)); }

linear_map recovery(code const& c, std::span<std::size_t const> available,
                    std::span<std::size_t const> wanted) {
  auto const data = c.data_shards();
  auto const below = parity_of(c);
  auto const rows_of = [&](std::span<std::size_t const> numbers) {
    matrix rows(numbers.size(), data);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] >= c.shards()) throw std::invalid_argument("code: shard number out of range");
      for (std::size_t j = 0; j < data; ++j)
        rows.at(i, j) = numbers[i] < data ? element{numbers[i] == j} : below.at(numbers[i] - data, j);
    }
    return rows;
  };
  if (available.size() != data)
    throw std::invalid_argument("code: recovery needs as many shards as there are data shards");
  auto const back = inverse(rows_of(available));
  if (!back) throw std::invalid_argument("code: recovery needs different shards");
  return linear_map(rows_of(wanted) * *back);
}

}  // namespace skel::storage
