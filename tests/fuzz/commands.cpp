// libFuzzer: a line is split into words that are quoted and split again to the same; any sweep has values or
// is refused; any list and template give command lines.
#include <cstdlib>
#include <string>

#include "fuzz.hpp"
#include "tools/run/command_list.hpp"
#include "tools/run/outcome.hpp"
#include "tools/run/words.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace skel::commands;
  std::string const text(fuzz::input{data, size}.text());
  if (auto const words = plain_words(text)) {
    if (plain_words(line_of(*words)) != words) std::abort();
  }
  if (auto const how = outcome_of(text)) {
    if (!outcome_of(failure_text(*how, text))) std::abort();
  }
  fuzz::expect_error_or_result([&] {
    sweep const values(text);
    for (auto const i : {std::uint64_t{0}, values.size() / 2, values.size() - 1})
      for (std::size_t p = 0; p < values.parameters(); ++p) static_cast<void>(values.value(p, i));
  });
  fuzz::expect_error_or_result([&] {
    auto const end = text.find('\n');
    command_template const how({text.substr(0, end), "{}"});
    command_list const list(end == std::string::npos ? "" : text.substr(end + 1), '\n', how);
    for (std::uint64_t i = 0; i < list.size(); ++i)
      if (list[i].empty()) std::abort();
  });
  return 0;
}
