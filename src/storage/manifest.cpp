#include "storage/manifest.hpp"

#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::storage {

namespace {

using nlohmann::json;

// Writes 64 bits and more as hexadecimal text, because most JSON readers hold numbers as doubles.
std::string hex(std::uint64_t value) { return detail::format("{:016x}", value); }
std::string hex(hash128 const& hash) {
  std::string text;
  for (auto const b : hash) detail::append_format(text, "{:02x}", std::to_integer<unsigned>(b));
  return text;
}

std::uint64_t from_hex(std::string_view digits) {
  if (auto const value = detail::from_digits<std::uint64_t>(digits, 16)) return *value;
  throw error(detail::format("\"{}\" is not a hexadecimal number", detail::one_line(digits)));
}

hash128 hash_of(std::string_view digits) {
  hash128 hash{};
  if (digits.size() != 2 * hash.size()) throw error("expected a hash of 32 hexadecimal digits");
  for (std::size_t i = 0; i < hash.size(); ++i)
    hash[i] = static_cast<std::byte>(from_hex(digits.substr(2 * i, 2)));
  return hash;
}

manifest::part part_of(json const& from) {
  return {from.at("name").get<std::string>(), from.at("bytes").get<std::uint64_t>(),
          hash_of(from.at("xxh3").get<std::string>()), from.at("shards").get<std::vector<std::string>>()};
}

manifest manifest_of(json const& from) {
  auto const schema = from.at("skel_manifest").get<std::uint32_t>();
  if (schema != manifest_schema)
    throw error(detail::format("found format {}, expected format {}", schema, manifest_schema));
  manifest m;
  m.identity = {from.at("program").get<std::string>(), from.at("version").get<std::string>(),
                from_hex(from.at("problem").get<std::string>())};
  m.plan.generation = from.at("generation").get<std::uint64_t>();
  m.plan.stamp = from_hex(from.at("stamp").get<std::string>());
  if (auto const base = from.find("base"); base != from.end()) {
    m.plan.base = base->at("generation").get<std::uint64_t>();
    m.plan.base_stamp = from_hex(base->at("stamp").get<std::string>());
  }
  if (auto const past = from.find("history"); past != from.end())
    m.history = {past->at("seconds").get<double>(), past->at("failures").get<std::uint64_t>(),
                 past->at("ended").get<bool>()};
  if (m.history && !(m.history->seconds >= 0)) throw error("negative running time");
  for (auto const& p : from.at("parts")) m.parts.push_back(part_of(p));
  m.plan.parts = static_cast<std::uint32_t>(m.parts.size());
  return m;
}

}  // namespace

std::string manifest::encode() const {
  json all = {{"skel_manifest", manifest_schema},
              {"program", identity.program},
              {"version", identity.version},
              {"problem", hex(identity.problem)},
              {"generation", plan.generation},
              {"stamp", hex(plan.stamp)},
              {"parts", json::array()}};
  if (plan.base != 0) all["base"] = {{"generation", plan.base}, {"stamp", hex(plan.base_stamp)}};
  if (history)
    all["history"] = {
        {"seconds", history->seconds}, {"failures", history->failures}, {"ended", history->ended}};
  for (auto const& p : parts)
    all["parts"].push_back(
        {{"name", p.name}, {"bytes", p.bytes}, {"xxh3", hex(p.hash)}, {"shards", p.shards}});
  // Paths and names are not necessarily UTF-8.
  return all.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

manifest manifest::decode(std::string_view text) {
  try {
    return manifest_of(json::parse(text));
  } catch (json::exception const& bad) {
    throw error(detail::one_line(detail::format("not a manifest: {}", bad.what())));
  } catch (error const& bad) {
    throw error(detail::format("not a manifest: {}", bad.what()));
  }
}

}  // namespace skel::storage
