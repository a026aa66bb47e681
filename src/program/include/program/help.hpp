// The texts of --help and --help-all.
#pragma once

#include <CLI/App.hpp>
#include <initializer_list>
#include <set>
#include <string>

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

/// Leaves these options of `app` out of --help. Does nothing for an app without help_formatter.
void rarely_used(CLI::App& app, std::initializer_list<char const*> names);

}  // namespace skel::program
