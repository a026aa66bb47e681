// The texts of --help and --help-all.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace skel::program {

/// Formats --help, which leaves out the options that are rarely used, and --help-all. Lines have at most
/// 100 columns.
class help_formatter final : public CLI::FormatterBase {
 public:
  [[nodiscard]] std::string make_help(CLI::App const* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
  void leave_out(CLI::Option const* option) { rare_.insert(option); }

 private:
  std::set<CLI::Option const*> rare_;
};

/// Adds --help, --help-all and --version, which prints the program's name and the library's version. Call
/// it before subcommands are added: they take over the formatter.
void add_help(CLI::App& app);

enum class trait : std::uint8_t {
  shown_default,  ///< --help names the value that the variable has
  comma_list,     ///< several values in one word
  required
};
using enum trait;
struct in_group {
  std::string name;
};
void give_trait(CLI::Option& option, trait what);
void give_trait(CLI::Option& option, in_group const& group);
void give_trait(CLI::Option& option, CLI::Validator const& check);

/// Adds an option: `option(app, "--rows N", rows, "rows per layer", shown_default, CLI::Range(1, 1000))`. The
/// word behind its names is the type of the value in --help.
template <class Value, class... Trait>
CLI::Option* option(CLI::App& app, std::string_view name_and_type, Value& value, std::string text,
                    Trait const&... traits) {
  auto* const added =
      app.add_option(std::string(name_and_type.substr(0, name_and_type.find(' '))), value, std::move(text));
  if (auto const blank = name_and_type.find(' '); blank != std::string_view::npos)
    added->type_name(std::string(name_and_type.substr(blank + 1)));
  (give_trait(*added, traits), ...);
  return added;
}

/// Leaves these options of `app` out of --help. Does nothing for an app without help_formatter.
void rarely_used(CLI::App& app, std::initializer_list<char const*> names);

}  // namespace skel::program
