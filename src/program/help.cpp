#include "program/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.hpp"

namespace skel::program {

namespace {

constexpr std::size_t line_width = 100;
constexpr std::size_t text_column = 26;

using detail::columns;

// Continues a line that has `used` columns. A word that is longer than a line is broken behind a comma or a
// bar.
std::string wrapped(std::string_view text, std::size_t used, std::size_t indent) {
  std::string out;
  auto const new_line = [&] {
    out += '\n' + std::string(indent, ' ');
    used = indent;
  };
  while (!text.empty()) {
    auto word = text.substr(0, text.find(' '));
    bool const is_first = used == indent;
    if (columns(word) > line_width - indent) {
      auto const room = word.substr(0, line_width - used - (is_first ? 0 : 1));
      if (auto const end = room.find_last_of(",|"); end != std::string_view::npos)
        word = room.substr(0, end + 1);
    }
    if (!is_first && used + 1 + columns(word) > line_width) {
      new_line();
      continue;
    }
    if (!is_first) out += ' ';
    used += columns(word) + (is_first ? 0 : 1);
    out += word;
    text.remove_prefix(word.size());
    if (text.starts_with(' '))
      text.remove_prefix(1);
    else if (!text.empty())
      new_line();
  }
  return out + '\n';
}

std::string row(std::string const& left, std::string const& text) {
  auto out = "  " + left;
  auto used = columns(out);
  if (used + 2 > text_column) {
    out += '\n';
    used = 0;
  }
  out.append(text_column - used, ' ');
  return out + wrapped(text, text_column, text_column);
}

std::string names_of(CLI::Option const& o) {
  if (o.get_positional()) return o.get_name(true);
  std::string all;
  for (auto const& name : o.get_snames()) all += (all.empty() ? "-" : ",-") + name;
  for (auto const& name : o.get_lnames()) all += (all.empty() ? "--" : ",--") + name;
  return all;
}

bool takes_many(CLI::Option const& o) {
  return o.get_expected_max() == CLI::detail::expected_max_vector_size;
}

// CLI11 appends what its checks accept: "TEXT:{rows,tiles}", "INT:INT in [1 - 64]", "FILE.csv:FILE".
struct type_text {
  std::string name;
  std::string range;  // "1 to 64"
};

type_text type_of(CLI::Option const& o) {
  if (o.get_type_size() == 0) return {};
  type_text t{o.get_type_name(), {}};
  auto const cut = [&](std::string_view from) {
    auto const at = t.name.find(from);
    if (at == std::string::npos) return std::string();
    auto rest = t.name.substr(at + 1);
    t.name.resize(at);
    return rest;
  };
  auto members = cut(":{");
  auto const range = cut(":INT in [") + cut(":UINT in [") + cut(":FLOAT in [");
  cut(":POSITIVE");
  cut(":FILE");
  if (!range.empty()) {
    auto const first = range.find('[') + 1, bar = range.find(" - ");
    t.range = range.substr(first, bar - first) + " to " + range.substr(bar + 3, range.rfind(']') - bar - 3);
  }
  if (t.name == "INT" || t.name == "UINT") t.name = "N";
  if (t.name == "FLOAT") t.name = "X";
  if (!members.empty() && (t.name == "TEXT" || t.name == "N")) {
    t.name = members.substr(1, members.size() - 2);
    std::ranges::replace(t.name, ',', '|');
  }
  bool const is_list = t.name.ends_with("...") || t.name.ends_with("…");
  if (takes_many(o) && !is_list) t.name += " ...";
  return t;
}

std::string names_in(std::set<CLI::Option*> const& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (auto const* const o : options) names.push_back(o->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string row_of(CLI::Option const& o, bool all) {
  auto const type = type_of(o);
  auto text = o.get_description();
  if (all && !type.range.empty()) text += fmt::format(", {}", type.range);
  if (all && !o.get_needs().empty()) text += fmt::format("; needs {}", names_in(o.get_needs()));
  if (all && !o.get_excludes().empty()) text += fmt::format("; not with {}", names_in(o.get_excludes()));
  auto value = o.get_type_size() == 0 ? std::string() : o.get_default_str();
  if (value.starts_with('[')) value = value.substr(1, value.size() - 2);  // of a list
  if (!o.get_envname().empty()) value += (value.empty() ? "$" : ", or $") + o.get_envname();
  if (!value.empty()) text += fmt::format(" [{}]", value);
  return row(names_of(o) + (type.name.empty() || o.get_positional() ? "" : " " + type.name), text);
}

std::string usage(CLI::App const& app, std::string const& name) {
  auto text = fmt::format("Usage: {} [OPTIONS]", name);
  for (auto const* const o : app.get_options([](auto const* option) { return option->get_positional(); })) {
    auto const argument = o->get_name(true) + (takes_many(*o) ? "..." : "");
    text += o->get_required() ? " " + argument : " [" + argument + "]";
  }
  if (app.get_require_subcommand_min() > 0) text += " SUBCOMMAND";
  return text + '\n';
}

std::string section(std::string const& title, std::vector<CLI::Option const*> const& options, bool all) {
  if (options.empty()) return {};
  auto out = '\n' + title + ":\n";
  for (auto const* const o : options) out += row_of(*o, all);
  return out;
}

}  // namespace

std::string help_formatter::make_help(CLI::App const* app, std::string name, CLI::AppFormatMode mode) const {
  bool const all = mode != CLI::AppFormatMode::Normal;
  auto const is_help = [&](CLI::Option const* o) {
    return o == app->get_help_ptr() || o == app->get_help_all_ptr() || o == app->get_version_ptr();
  };
  auto const add = [&](std::string const& title, auto const& belongs) {
    auto const options =
        app->get_options([&](CLI::Option const* o) { return belongs(o) && (all || !rare_.contains(o)); });
    return section(title, options, all);
  };
  auto out = wrapped(app->get_description(), 0, 0) + usage(*app, name);
  out += add("Arguments", [](CLI::Option const* o) { return o->get_positional(); });
  for (auto const& group : app->get_groups())
    out += add(group, [&](CLI::Option const* o) {
      return o->nonpositional() && o->get_group() == group && !is_help(o);
    });
  auto const verbs = app->get_subcommands([](CLI::App const*) { return true; });
  if (!verbs.empty() && !all) out += "\nSubcommands:\n";
  for (auto const* const verb : verbs)
    out += all ? '\n' + make_help(verb, name + ' ' + verb->get_name(), mode)
               : row(verb->get_name(), verb->get_description());
  if (app->get_parent() == nullptr || !all) out += add("Help", is_help);
  auto const hidden = app->get_options([&](CLI::Option const* o) { return rare_.contains(o); }).size();
  if (!all && hidden > 0)
    out += fmt::format("\n{} --help-all shows {} more option{}.\n", name, hidden, hidden == 1 ? "" : "s");
  return out;
}

void add_help(CLI::App& app) {
  app.formatter(std::make_shared<help_formatter>());
  app.set_help_flag("-h,--help", "print the most used options");
  app.set_help_all_flag("--help-all", "print all options");
  app.set_version_flag("--version", app.get_name() + " " + SKEL_VERSION, "print the version");
}

void give_trait(CLI::Option& option, trait what) {
  if (what == shown_default) option.capture_default_str();
  if (what == comma_list) option.delimiter(',');
  if (what == required) option.required();
}
void give_trait(CLI::Option& option, in_group const& group) { option.group(group.name); }
void give_trait(CLI::Option& option, CLI::Validator const& check) { option.check(check); }

void rarely_used(CLI::App& app, std::initializer_list<char const*> names) {
  if (auto* const help = dynamic_cast<help_formatter*>(app.get_formatter().get()))
    for (auto const* const name : names) help->leave_out(app.get_option(name));
}

}  // namespace skel::program
