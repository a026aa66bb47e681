#include "call_description.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "skel/hash.hpp"

namespace skel::detail {

std::string demangled(std::string const& name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : name;
}

namespace {

using aspects = std::vector<std::pair<std::string_view, std::string_view>>;

aspects aspects_of(std::string_view text) {
  aspects all;
  while (!text.empty()) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    auto const tab = std::min(line.find('\t'), line.size());
    all.emplace_back(line.substr(0, tab), line.substr(std::min(tab + 1, line.size())));
  }
  return all;
}

std::string_view value_of(aspects const& all, std::string_view name) {
  for (auto const& [n, value] : all)
    if (n == name) return value;
  return {};
}

// Template names grow long, and the difference may be at the end.
constexpr std::size_t longest_value = 200;

std::string demangled_words(std::string_view mangled) {
  std::string words;
  while (!mangled.empty()) {
    auto const word = mangled.substr(0, mangled.find(' '));
    mangled.remove_prefix(std::min(mangled.size(), word.size() + 1));
    if (!words.empty()) words += ' ';
    words += word == "->" ? "->" : demangled(std::string(word));
  }
  return words;
}

std::string shown(std::string_view value) {
  if (value.empty()) return "none";
  std::string text = value.starts_with('@') ? demangled_words(value.substr(1)) : std::string(value);
  if (text.size() > longest_value) text.replace(longest_value / 2, text.size() - longest_value, "...");
  return text;
}

}  // namespace

std::uint64_t call_description::hash() const { return hash_text(text_); }

bool agree(std::string_view theirs, std::string_view ours) {
  auto const a = aspects_of(theirs);
  for (auto const& [name, value] : aspects_of(ours))
    for (auto const& [other_name, other] : a)
      if (name == other_name && value != other) return false;
  return true;
}

std::string difference(std::string_view theirs, std::string_view ours) {
  auto const a = aspects_of(theirs), b = aspects_of(ours);
  auto const skeleton = value_of(a, "skeleton"), our_skeleton = value_of(b, "skeleton");
  if (skeleton != our_skeleton) return shown(skeleton) + " instead of " + shown(our_skeleton);
  // A hash only shows that something differs. It is omitted if there is a readable difference,
  // which often is the cause.
  std::string read, hashed;
  auto const add = [](std::string& all, std::string const& one) { all += (all.empty() ? "" : ", ") + one; };
  for (auto const& [name, value] : b) {
    auto const other = value_of(a, name);
    if (other == value) continue;
    if (value.starts_with('#') || other.starts_with('#'))
      add(hashed, "other " + std::string(name));
    else
      add(read, std::string(name) + " " + shown(other) + " instead of " + shown(value));
  }
  return read.empty() ? hashed : read;
}

}  // namespace skel::detail
