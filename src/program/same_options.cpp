#include "program/same_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "program/option_rows.hpp"
#include "skel/error.hpp"
#include "skel/hash.hpp"

namespace skel::program {

namespace {

struct closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Returns an empty digest for files that can be read only once, such as pipes.
std::string digest_of_file(std::string const& path) {
  auto const refuse = [&](int code) {
    throw usage_error(fmt::format("{}: {}", path, std::strerror(code)));  // NOLINT(concurrency-mt-unsafe)
  };
  std::error_code code;
  auto const status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) refuse(code ? code.value() : ENOENT);
  if (!std::filesystem::is_regular_file(status)) return {};
  std::unique_ptr<std::FILE, closer> const file(std::fopen(path.c_str(), "rb"));
  if (!file) refuse(errno);
  skel::xxh3_hasher hasher;
  std::vector<std::byte> block(std::size_t{1} << 20);
  while (auto const n = std::fread(block.data(), 1, block.size(), file.get()))
    hasher.update(std::span(block).first(n));
  if (std::ferror(file.get()) != 0) refuse(EIO);
  return hasher.hex();
}

using option_set_of = std::set<CLI::Option const*>;

option_set_of options_named(CLI::App const& app, std::vector<std::string> const& names) {
  option_set_of all;
  for (auto const& name : names) all.insert(app.get_option(name));  // throws if the option does not exist
  return all;
}

// Compares text: "1" and "1.0" differ.
std::string value_of(CLI::Option const& option) {
  if (option.empty()) return option.get_default_str();
  return fmt::format("{}", fmt::join(option.results(), ","));
}

std::vector<named_value> values_of(CLI::App const& app, special_options const& special) {
  auto const inputs = options_named(app, special.inputs);
  auto skipped = options_named(app, special.may_differ);
  skipped.insert(app.get_help_ptr());
  skipped.insert(app.get_help_all_ptr());
  skipped.insert(app.get_version_ptr());
  std::vector<named_value> all;
  for (auto const* const option : app.get_options()) {
    if (skipped.contains(option)) continue;
    if (!inputs.contains(option)) {
      all.push_back({option->get_name(), value_of(*option)});
      continue;
    }
    std::vector<std::string> digests;
    for (auto const& path : option->results()) digests.push_back(digest_of_file(path));
    all.push_back({"the content of " + option->get_name(), fmt::format("{}", fmt::join(digests, ","))});
  }
  return all;
}

}  // namespace

void require_same_options(context& ctx, CLI::App const& app, special_options const& special) {
  if (ctx.size() > 1) require_same_values(ctx, values_of(app, special));
}

}  // namespace skel::program
