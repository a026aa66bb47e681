#include "tools/run/words.hpp"

#include <random>

#include "catch.hpp"
#include "running.hpp"

using namespace skel::commands;

namespace {

// The words of each line, as /bin/sh reads them. Every word ends with a zero byte, every line with a byte 1.
std::string words_by_shell(std::vector<std::string> const& lines) {
  test::temporary_directory const directory;
  std::string script;
  for (auto const& line : lines) script += "printf '%s\\0' " + line + "\nprintf '\\1'\n";
  test::write_file(directory.file("script"), script);
  auto const out = test::run_command("/bin/sh '" + directory.file("script") + "'");
  CHECK(out.errors.empty());
  return out.text;
}

std::string as_printed(std::vector<std::string> const& words) {
  std::string text;
  for (auto const& word : words) text += word + '\0';
  return words.empty() ? std::string(1, '\0') : text;  // printf prints its format once
}

}  // namespace

TEST_CASE("lines that need no shell are split into the words that the shell makes of them") {
  std::mt19937 random(7);
  constexpr std::string_view letters = "ab 'a\"\\ b\t-=./{}%$*#~;!\n,";
  std::vector<std::string> lines;
  std::string expected;
  std::size_t tried = 0;
  while (lines.size() < 4000) {
    std::string line = "x";
    for (auto n = random() % 14; n > 0; --n) line += letters[random() % letters.size()];
    ++tried;
    auto const words = plain_words(line);
    if (!words) continue;
    lines.push_back(line);
    expected += as_printed(*words) + '\1';
  }
  CHECK(tried > 2 * lines.size());
  CHECK(words_by_shell(lines) == expected);
}

TEST_CASE("quoted words are read back, by the shell too") {
  std::mt19937 random(8);
  std::vector<std::string> lines;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    std::vector<std::string> words{"x"};
    for (auto n = random() % 4; n > 0; --n) {
      std::string word;
      for (auto m = random() % 6; m > 0; --m)
        word += static_cast<char>(random() % 5 == 0 ? '\'' : 2 + random() % 125);
      words.push_back(word);
    }
    lines.push_back(line_of(words));
    CHECK(plain_words(lines.back()) == words);
    expected += as_printed(words) + '\1';
  }
  CHECK(words_by_shell(lines) == expected);
}

TEST_CASE("what needs a shell is left to it") {
  for (auto const* const line :
       {"a | b", "a > b", "a; b",     "a && b", "a $HOME", "a `b`",   "a *",       "a ?",      "a [b]",
        "A=1 b", "~/a",   "a ~",      "#a",     "a #b",    "(a)",     "{ a",       "! a",      "echo a",
        "a 'b",  "a \"b", "a \"$b\"", "a \\",   "a\nb",    "a {b,c}", "a x{1..3}", "a {}{b,c}"})
    CHECK_FALSE(plain_words(line).has_value());
  using words = std::vector<std::string>;
  CHECK(plain_words("./a --b=c {} x{}.y a#b") == words{"./a", "--b=c", "{}", "x{}.y", "a#b"});
  CHECK(plain_words(" \t") == words{});
  CHECK(plain_words("a '{b,c}' \\{b,c}") == words{"a", "{b,c}", "{b,c}"});
  CHECK(plain_words("'echo' a") == words{"echo", "a"});
  CHECK(plain_words(line_of(words{"echo", "a b"})) == words{"echo", "a b"});
  CHECK(plain_words("a '' \"\"") == words{"a", "", ""});
}
