// How a program that was started as users do has ended.
#pragma once

#include <algorithm>
#include <string>

#include "catch.hpp"
#include "running.hpp"

namespace test {

/// The refusal of a command line by a program, without its name: one line, with exit code 2.
inline std::string refusal(output const& r) {
  INFO(r.text);
  CHECK(r.code == 2);
  CHECK(std::ranges::count(r.text, '\n') == 1);
  REQUIRE(r.text.starts_with("skel-"));
  auto const name = r.text.find(": ") + 2;
  return r.text.substr(name, r.text.size() - name - 1);
}

/// The text of a program that must succeed.
inline std::string success(output const& r) {
  INFO(r.text);
  REQUIRE(r.code == 0);
  return r.text;
}

}  // namespace test
