#include "header_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"

namespace volume_data {

header_lines::header_lines(std::string path, char separator, until what) : path_(std::move(path)) {
  auto const file = file_bytes(path_);
  std::string text(std::min<std::uint64_t>(longest, file->most()), '\0');
  text.resize(file->read(std::as_writable_bytes(std::span(text))));
  auto rest = skel::program::without_mark(text);
  for (int number = 1; !rest.empty() && !ended_; ++number) {
    auto const length = rest.find('\n');
    if (length == std::string_view::npos && file->most() > 0)
      throw skel::usage_error(
          fmt::format("{}:{}: expected a header of at most {} bytes", path_, number, longest));
    auto const line = trimmed(rest.substr(0, length));
    rest.remove_prefix(length == std::string_view::npos ? rest.size() : length + 1);
    end_ = text.size() - rest.size();
    if (number == 1) first_ = line;
    if (number == 1 && what == until::empty_line) continue;
    if (line.empty() && what == until::empty_line) ended_ = true;
    if (line.empty() || line.front() == '#') continue;
    if (lists_) {
      listed_.push_back(beside(path_, std::string(line)));
      continue;
    }
    auto const at = line.find(separator);
    if (at == std::string_view::npos)
      throw skel::usage_error(fmt::format("{}:{}: expected \"key{} value\", found \"{}\"", path_, number,
                                          separator, line.substr(0, 60)));
    if (what == until::empty_line && line.substr(at).starts_with(":=")) continue;
    auto const key = lower(trimmed(line.substr(0, at)));
    if (!values_.emplace(key, trimmed(line.substr(at + 1))).second)
      throw skel::usage_error(fmt::format("{}:{}: {} is there twice", path_, number, key));
    lists_ = (key == "data file" || key == "datafile" || key == "elementdatafile") &&
             values_[key].starts_with("LIST");
    if (what == until::element_data_file && key == "elementdatafile") ended_ = !lists_;
  }
  if (lists_) ended_ = true;
}

std::string header_lines::need(std::string_view key) const {
  auto const found = values_.find(key);
  if (found == values_.end()) throw skel::usage_error(fmt::format("{}: expected a line \"{}\"", path_, key));
  return found->second;
}

std::string header_lines::value(std::string_view key, std::string_view otherwise) const {
  auto const found = values_.find(key);
  return found == values_.end() ? std::string(otherwise) : found->second;
}

std::uint64_t after_lines(std::string const& file, std::uint64_t at, std::uint64_t lines) {
  if (lines == 0) return at;
  auto const from = file_bytes(file, at);
  std::vector<std::byte> buffer(byte_source::buffer_size);
  for (std::size_t got = from->read(buffer); got > 0; got = from->read(buffer))
    for (std::size_t i = 0; i < got; ++i) {
      ++at;
      if (buffer[i] == std::byte{'\n'} && --lines == 0) return at;
    }
  from->fail("expected more lines to skip");
}

}  // namespace volume_data
