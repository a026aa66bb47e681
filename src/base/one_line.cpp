#include "one_line.hpp"

#include "format.hpp"

namespace skel::detail {

namespace {

constexpr std::size_t longest_line = 1000;

}  // namespace

std::string one_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::string line;
  for (char const c : text.substr(0, longest_line)) {
    auto const code = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t') {
      line += ' ';
    } else if (code < 0x20 || code == 0x7f) {
      line += detail::format("\\x{:02x}", code);
    } else {
      line += c;
    }
  }
  return text.size() > longest_line ? line + "..." : line;
}

}  // namespace skel::detail
