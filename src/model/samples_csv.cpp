// Reads samples files of schema 1 and 2 (docs/reference/report.md).

#include <algorithm>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"
#include "skel/model/sample.hpp"
#include "skel/observe/samples.hpp"
#include "text.hpp"

namespace skel::model {

namespace {

// The header of schema 1, in which runs have no phases.
constexpr std::string_view header_of_schema_1 =
    "schema,program,skeleton,schedule,results,ranks,threads_per_rank,tasks,seconds,busy_seconds,idle_seconds,"
    "communication_seconds,messages,bytes,problem";

std::vector<std::string> split(std::string_view line, std::string const& file, std::size_t number) {
  if (line.find('\0') != std::string_view::npos) fail_at(file, number, "found a zero byte, expected text");
  auto fields = detail::csv_fields(line);
  if (!fields) fail_at(file, number, "unterminated quote");
  return std::move(*fields);
}

std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const code = text[i] == '%' && i + 2 < text.size()
                          ? detail::from_digits<std::uint8_t>(text.substr(i + 1, 2), 16)
                          : std::nullopt;
    result += code ? static_cast<char>(*code) : text[i];
    if (code) i += 2;
  }
  return result;
}

// The fields of a line, by the names of their columns.
class row {
 public:
  row(std::vector<std::string> const& names, std::vector<std::string> fields, std::string const& file,
      std::size_t line)
      : names_(names), fields_(std::move(fields)), file_(file), line_(line) {
    if (fields_.size() != names_.size())
      fail_at(file_, line_, detail::format("{} fields, expected {}", fields_.size(), names_.size()));
  }
  [[nodiscard]] std::string const* find(std::string_view name) const {
    auto const at = std::find(names_.begin(), names_.end(), name);
    return at == names_.end() ? nullptr : &fields_[static_cast<std::size_t>(at - names_.begin())];
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    auto const* const field = find(name);
    return field == nullptr ? std::string() : *field;
  }
  // Returns nothing for an empty field, which was not measured.
  [[nodiscard]] std::optional<double> number(std::string_view name) const {
    auto const* const field = find(name);
    if (field == nullptr || field->empty()) return std::nullopt;
    auto const x = to_number(*field);
    if (!x || *x < 0 || *x > 1e30)
      fail_at(file_, line_,
              detail::format("{} is {}, expected a number from 0 to 1e30", name, in_quotes(*field)));
    return x;
  }

 private:
  std::vector<std::string> const& names_;
  std::vector<std::string> fields_;
  std::string const& file_;
  std::size_t line_;
};

void read_problem(std::string_view text, sample& s) {
  while (!text.empty()) {
    auto const pair = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    auto const equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0)
      fail_at(s.file, s.line, detail::format("problem has {}, expected key=value", in_quotes(pair)));
    auto const key = unescaped(pair.substr(0, equals));
    auto const value = unescaped(pair.substr(equals + 1));
    if (s.variables.contains(key) || s.labels.contains(key))
      fail_at(s.file, s.line, detail::format("problem has {} twice, or it is a column", in_quotes(key)));
    auto const x = to_number(value);
    if (value == "nan" || value == "-nan" || value == "inf" || value == "-inf")
      fail_at(s.file, s.line, detail::format("{} is {}, expected a number", key, value));
    if (x && *x >= 0 && *x <= 1e30)
      s.variables[key] = *x;
    else
      s.labels[key] = value;
  }
}

sample read_sample(row const& r, std::string_view schema, std::string const& file, std::size_t line) {
  sample s;
  s.file = file;
  s.line = line;
  if (r.text("schema") != schema)
    fail_at(file, line, detail::format("schema is {}, expected {}", in_quotes(r.text("schema")), schema));
  s.program = r.text("program");
  s.skeleton = r.text("skeleton");
  s.schedule = r.text("schedule");
  s.results = r.text("results");
  if (r.find("phase") != nullptr) s.phase = r.text("phase");
  if (s.phase.empty()) fail_at(file, line, "phase is empty, expected run, divide, …");
  s.level = static_cast<int>(std::min(r.number("level").value_or(0), 1e6));
  auto const variable = [&](char const* name, char const* column) {
    if (auto const x = r.number(column)) s.variables[name] = *x;
  };
  variable("P", "ranks");
  variable("threads", "threads_per_rank");
  variable("tasks", "tasks");
  read_problem(r.text("problem"), s);
  for (auto const* name :
       {"seconds", "busy_seconds", "idle_seconds", "communication_seconds", "messages", "bytes"})
    if (auto const x = r.number(name)) s.measured[name] = *x;
  if (!s.measured.contains("seconds")) fail_at(file, line, "seconds is empty, expected a number");
  return s;
}

}  // namespace

std::vector<sample> parse_samples(std::string_view csv, std::string const& file) {
  std::vector<sample> all;
  std::vector<std::string> names;
  std::string_view schema;
  for (std::size_t number = 1; !csv.empty(); ++number) {
    auto line = csv.substr(0, csv.find('\n'));
    csv.remove_prefix(std::min(csv.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1) {
      if (line != observe::samples_header && line != header_of_schema_1)
        fail_at(file, 1,
                detail::format("found the first line {}, expected that of a samples file: {}…",
                               in_quotes(line), observe::samples_header.substr(0, 40)));
      schema = line == observe::samples_header ? "2" : "1";
      names = split(line, file, 1);
      continue;
    }
    if (line.empty()) continue;
    all.push_back(read_sample(row(names, split(line, file, number), file, number), schema, file, number));
  }
  if (names.empty()) fail_at(file, 1, "file is empty, expected samples");
  return all;
}

std::vector<sample> read_samples(std::string const& path) {
  auto const text = read_text(path);
  return path.ends_with(".jsonl") ? parse_extra_p(text, path) : parse_samples(text, path);
}

}  // namespace skel::model
