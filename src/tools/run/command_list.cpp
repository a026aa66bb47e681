#include "tools/run/command_list.hpp"

#include <algorithm>
#include <utility>

#include "skel/error.hpp"
#include "tools/run/words.hpp"

namespace skel::commands {

namespace {

std::string place(std::string_view name) { return "{" + std::string(name) + "}"; }

std::string filled(std::string_view word, std::vector<command_template::named_value> const& values,
                   bool quotes) {
  std::string text;
  while (!word.empty()) {
    auto const value =
        std::ranges::find_if(values, [&](auto const& v) { return word.starts_with(place(v.name)); });
    if (value == values.end()) {
      text += word.front();
      word.remove_prefix(1);
    } else {
      text += quotes ? shell_quoted(value->value) : value->value;
      word.remove_prefix(value->name.size() + 2);
    }
  }
  return text;
}

// Whether it is blank or a comment.
bool runs_nothing(std::string_view line) {
  auto const begin = line.find_first_not_of(" \t\r");
  return begin == std::string_view::npos || line[begin] == '#';
}

}  // namespace

bool command_template::has(std::string_view name) const {
  return std::ranges::any_of(words_,
                             [&](auto const& word) { return word.find(place(name)) != std::string::npos; });
}

std::string command_template::line(std::vector<named_value> const& values) const {
  if (words_.empty()) return values.front().value;
  if (words_.size() == 1) return filled(words_[0], values, true);
  std::vector<std::string> words;
  words.reserve(words_.size());
  for (auto const& word : words_) words.push_back(filled(word, values, false));
  return line_of(words);
}

void command_template::append(std::string const& word) {
  if (words_.size() == 1)
    words_[0] += " " + word;  // a command line
  else
    words_.push_back(word);
}

command_list::command_list(std::string text, char separator, command_template how)
    : text_(std::move(text)), separator_(separator), how_(std::move(how)) {
  if (!how_.empty() && !how_.has("")) how_.append("{}");
  if (separator_ != '\0' && text_.find('\0') != std::string::npos)
    throw usage_error("the list has a zero byte: expected text, or --null");
  if (!text_.empty() && text_.back() != separator_) text_ += separator_;
  bool const lines = how_.empty() && separator_ == '\n';
  for (std::size_t begin = 0; begin < text_.size();) {
    auto const end = text_.find(separator_, begin);
    auto const entry = std::string_view(text_).substr(begin, end - begin);
    if (!entry.empty() && !(lines && runs_nothing(entry))) entries_.push_back(begin);
    begin = end + 1;
  }
}

command_list::command_list(sweep values, command_template how)
    : sweep_(std::move(values)), how_(std::move(how)) {
  if (how_.empty()) throw usage_error("--sweep: expected a command behind --, such as: -- ./model {alpha}");
  for (std::size_t i = 0; i < sweep_->parameters(); ++i)
    if (!how_.has(sweep_->name(i)))
      throw usage_error("--sweep: the command behind -- has no place {" + sweep_->name(i) + "}");
}

std::string command_list::operator[](std::uint64_t number) const {
  std::vector<command_template::named_value> values;
  if (sweep_) {
    for (std::size_t i = 0; i < sweep_->parameters(); ++i)
      values.push_back({sweep_->name(i), sweep_->value(i, number)});
  } else {
    auto const begin = entries_[number];
    values.push_back({"", text_.substr(begin, text_.find(separator_, begin) - begin)});
  }
  return how_.line(values);
}

}  // namespace skel::commands
