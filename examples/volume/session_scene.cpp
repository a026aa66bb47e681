#include "session_scene.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "formats.hpp"
#include "picture_size.hpp"
#include "program/command_line.hpp"
#include "program/json.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"

namespace volume {

namespace {

using nlohmann::json;
using skel::program::json_reader;
using volume_data::trimmed;

constexpr std::size_t longest_line = std::size_t{1} << 16;
/// Options that are commands too.
constexpr std::array option_words = {"size", "background", "frames", "field", "variable", "time"};
constexpr std::array other_words = {"spec", "file", "render", "quit"};

[[noreturn]] void refuse(std::string const& word) {
  std::vector<std::string_view> known(specification_keys.begin(), specification_keys.end());
  for (std::string_view const w : option_words)
    if (std::ranges::find(known, w) == known.end()) known.push_back(w);
  known.insert(known.end(), other_words.begin(), other_words.end());
  throw skel::usage_error(
      fmt::format("unknown command \"{}\"; known: {}", word.substr(0, 60), fmt::join(known, ", ")));
}

/// A word such as `trapezoid` or `#3a4a5a` needs no quotes.
json value_of(std::string const& word, std::string const& text) {
  try {
    return json_reader::parse(text, word);
  } catch (skel::usage_error const&) {
    if (text.find_first_of("{[\"") == std::string::npos) return text;
    throw;
  }
}

/// Paths need not be UTF-8, but JSON is.
std::string text_of(json const& document) {
  try {
    return document.dump();
  } catch (json::exception const& bad) {
    throw skel::usage_error(std::string("expected UTF-8: ") + bad.what());
  }
}

}  // namespace

session_scene::session_scene(options const& o) : options_(o), specification_(o.default_specification()) {
  if (!o.spec.empty()) read(o.spec);
  use_size_and_background();
}

session_scene::effect session_scene::apply(std::string_view line) {
  if (line.size() > longest_line)
    throw skel::usage_error(fmt::format("expected a line of at most {} bytes", longest_line));
  line = trimmed(skel::program::without_mark(line));
  if (line.empty() || line[0] == '#') return effect::none;
  auto const end = line.find_first_of(" \t");
  std::string const word(line.substr(0, end));
  std::string const value(end == std::string_view::npos ? std::string_view() : trimmed(line.substr(end)));
  auto const is_one_of = [&](auto const& words) {
    return std::ranges::any_of(words, [&](std::string_view w) { return w == word; });
  };
  bool const is_option = is_one_of(option_words);
  if (!is_option && !is_one_of(other_words) && !is_one_of(specification_keys)) refuse(word);
  if (word == "quit") return effect::quit;
  if (value.empty()) throw skel::usage_error(word + ": missing value");
  if (word == "render") {
    output_ = value;
    return effect::render;
  }
  if (word == "spec") {
    read(value);
  } else if (word == "file") {
    options_.field.clear();
    options_.file = value;
    options_.choice = {};
    return effect::volume;
  } else if (is_option) {
    set_option(word, value);
    if (word == "field" || word == "variable" || word == "time") return effect::volume;
  } else {
    merge(word, value);
  }
  return effect::scene;
}

void session_scene::read(std::string const& path) {
  static_cast<void>(read_specification(path));  // its errors name the file
  auto document = json_reader::parse(volume_data::read_text(path, std::size_t{1} << 20), path);
  if (auto const b = document.find("background"); b != document.end() && b->is_object()) {
    auto& image = (*b)["image"];  // relative to the specification
    image = (std::filesystem::path(path).parent_path() / image.get<std::string>()).string();
  }
  specification_ = text_of(document);
}

void session_scene::merge(std::string const& key, std::string const& value) {
  auto document = json::parse(specification_);
  document.merge_patch({{key, value_of(key, value)}});
  specification_ = text_of(document);
  static_cast<void>(parse_specification(specification_, "specification"));
}

void session_scene::set_option(std::string const& word, std::string const& value) {
  if (word == "field") {
    options_.file.clear();
    options_.choice = {};
  }
  CLI::App app;
  add_options(app, options_);
  std::string name = "session", option = "--" + word + "=" + value;
  std::array<char*, 2> words = {name.data(), option.data()};
  skel::program::parse(app, 2, words.data());
  use_size_and_background();
}

/// Moves these options into the specification, since the last command counts.
void session_scene::use_size_and_background() {
  auto document = json::parse(specification_);
  if (!options_.size.empty()) {
    auto const [width, height] = picture::parse_size(options_.size, "size");
    document["size"] = {width, height};
  }
  if (auto const& text = options_.background; !text.empty()) {
    auto const behind = background_named(text, "background");
    document["background"] = behind.image.empty() ? json(text) : json{{"image", text}};
  }
  specification_ = text_of(document);
  options_.size.clear();
  options_.background.clear();
}

std::string preparation_of(std::string const& specification) {
  auto document = json::parse(specification);
  for (auto const* const key : {"view", "background", "frame", "size"}) document.erase(key);
  return document.dump();
}

}  // namespace volume
